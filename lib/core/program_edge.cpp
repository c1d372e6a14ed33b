#include <mastic/core/program_edge.hpp>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <new>

namespace mastic {
namespace {

void flush_output() {
    std::cout.flush();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout) {
        throw Error(ExitCode::io, "cannot write to standard output",
                    "is the disk or pipe behind it full or closed?");
    }
}

void say(const std::string& who, const std::string& message) {
    std::fprintf(stderr, "%s: %s\n", who.c_str(), message.c_str());
}

int tell(const ProgramEdge& edge, const Error& error) {
    if (edge.tell) {
        edge.tell(error);
    } else if (edge.rank == 0) {
        say(edge.program, error.full_message());
    }
    return static_cast<int>(error.code());
}

int tell_for_this_rank(const ProgramEdge& edge, ExitCode code, const std::string& message) {
    say(edge.program + (edge.ranks > 1 ? ": rank " + std::to_string(edge.rank) : ""), message);
    return static_cast<int>(code);
}

}  // namespace

int run_to_the_edge(ProgramEdge edge, const std::function<int(ProgramEdge&)>& work) {
    try {
        const int code = work(edge);
        flush_output();
        return code;
    } catch (const Error& error) {
        return tell(edge, error);
    } catch (const std::bad_alloc&) {
        return tell_for_this_rank(edge, ExitCode::memory, "out of memory");
    } catch (const std::filesystem::filesystem_error& error) {
        const std::string path = error.path1().empty() ? "a directory" : error.path1().string();
        return tell(edge, Error(ExitCode::io, "cannot use " + path + ": " + error.code().message(),
                                "is the path right, and may you read and write it?"));
    } catch (const std::exception& error) {
        return tell_for_this_rank(edge, ExitCode::environment, error.what());
    }
}

}  // namespace mastic
