#include <mastic/job/crash_report.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>

#include <execinfo.h>
#include <fcntl.h>
#include <unistd.h>

#include <mastic/core/error.hpp>

namespace mastic::job {
namespace {

struct CrashSignal {
    int number;
    const char* name;
};
constexpr CrashSignal crash_signals[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}};
constexpr int most_frames = 64;

// The handler may use nothing but this and system calls.
char file_of_report[4096];
char program_lines[2 * 4096];  // "@NAME\n@PATH\n": what backtraces call the program, and where it is
struct sigaction former[std::size(crash_signals)];
char handler_stack[64 * 1024];  // the crash may be an overflow of the thread's own

void write_text(int file, const char* text) {
    [[maybe_unused]] const ssize_t written = ::write(file, text, std::strlen(text));
}

void handle(int signal, siginfo_t* info, void*) {
    const auto* const found =
        std::find_if(std::begin(crash_signals), std::end(crash_signals), [&](auto& s) { return s.number == signal; });
    const int file = ::open(file_of_report, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file >= 0) {
        write_text(file, found->name);
        write_text(file, "\n");
        write_text(file, program_lines);
        void* frames[most_frames];
        backtrace_symbols_fd(frames, backtrace(frames, most_frames), file);
        ::close(file);
    }
    // A fault happens again when this returns, and then meets the former handler; what was sent has to be repeated.
    sigaction(signal, &former[found - crash_signals], nullptr);
    if (signal == SIGABRT || info->si_code <= 0) {
        raise(signal);
    }
}

void note_program() {
    std::error_code unknown;
    const std::string path = std::filesystem::read_symlink("/proc/self/exe", unknown).string();
    const std::string lines = "@" + std::string(program_invocation_name) + "\n@" + path + "\n";
    if (!unknown && lines.size() < sizeof program_lines) {
        std::strcpy(program_lines, lines.c_str());
    }
}

void install_handlers() {
    note_program();
    void* frame = nullptr;
    backtrace(&frame, 1);  // its first call loads a library, which a handler must not
    stack_t stack{};
    stack.ss_sp = handler_stack;
    stack.ss_size = sizeof handler_stack;
    sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_ONSTACK | SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < std::size(crash_signals); ++i) {
        sigaction(crash_signals[i].number, &action, &former[i]);
    }
}

// "program(+0x12)[0x7f..]" or "program()[0x4012]": what addr2line is to be asked.
std::string named(const std::string& frame, const std::vector<std::string>& program, const CommandRunner& run) {
    static const std::regex nameless(R"(^(.*)\((\+0x[0-9a-f]+)?\) ?\[(0x[0-9a-f]+)\]$)");
    std::smatch match;
    if (!run || !std::regex_match(frame, match, nameless)) {
        return frame;
    }
    const std::string address = match[2].matched ? match[2].str().substr(1) : match[3].str();
    const std::string file = program.size() == 2 && match[1] == program[0] ? program[1] : match[1].str();
    const CommandResult answer = run({"addr2line", "-C", "-f", "-p", "-e", file, address}, Seconds(10));
    const bool known = answer.exit_code == 0 && !answer.output.empty() && !answer.output.starts_with("??");
    return known ? answer.output.substr(0, answer.output.find('\n')) : frame;
}

}  // namespace

void report_crashes_to(const std::filesystem::path& file) {
    const std::string path = std::filesystem::absolute(file).string();
    if (path.size() >= sizeof file_of_report) {
        return;
    }
    const bool first = file_of_report[0] == '\0';
    std::strcpy(file_of_report, path.c_str());
    if (first) {
        install_handlers();
    }
}

std::vector<CrashReport> read_crash_reports(const std::filesystem::path& directory, const CommandRunner& run) {
    static const std::regex file_name(R"(^rank-([0-9]{1,9})\.crash$)");
    std::vector<CrashReport> reports;
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(directory, missing)) {
        std::smatch match;
        const std::string name = entry.path().filename();
        std::ifstream file(entry.path());
        CrashReport report;
        if (!std::regex_match(name, match, file_name) || !std::getline(file, report.signal)) {
            continue;
        }
        report.rank = std::stoi(match[1]);
        std::vector<std::string> program;
        for (std::string line; std::getline(file, line);) {
            if (line.starts_with('@')) {
                program.push_back(line.substr(1));
            } else {
                report.frames.push_back(named(line, program, run));
            }
        }
        reports.push_back(std::move(report));
    }
    std::ranges::sort(reports, {}, &CrashReport::rank);
    return reports;
}

}  // namespace mastic::job
