#include <mastic/comm/together.hpp>

#include <charconv>
#include <new>
#include <optional>

#include <mastic/core/agreed_error.hpp>

namespace mastic::comm {
namespace {

std::optional<Error> error_of(const std::function<void()>& action) {
    try {
        action();
        return std::nullopt;
    } catch (const Error& error) {
        return error;
    } catch (const std::bad_alloc&) {
        return Error(ExitCode::memory, "out of memory", "a smaller batch, model or prefetch needs less");
    } catch (const std::exception& error) {
        return Error(ExitCode::environment, error.what());
    }
}

// "CODE\nLENGTH OF MESSAGE\nMESSAGE HINT"; empty for no error.
std::string pack(const std::optional<Error>& error) {
    if (!error) {
        return {};
    }
    const std::string message = error->what();
    return std::to_string(static_cast<int>(error->code())) + "\n" + std::to_string(message.size()) + "\n" +
           message + error->hint();
}

Error unpack(const std::string& text) {
    const std::size_t first = text.find('\n');
    const std::size_t second = text.find('\n', first + 1);
    int code = 0;
    std::size_t length = 0;
    std::from_chars(text.data(), text.data() + first, code);
    std::from_chars(text.data() + first + 1, text.data() + second, length);
    return Error(static_cast<ExitCode>(code), text.substr(second + 1, length),
                 text.substr(second + 1 + length));
}

}  // namespace

void run_together(Group& group, const std::function<void()>& action) {
    const std::vector<std::string> results = group.allgather_strings(pack(error_of(action)));
    int failed = 0;
    for (const std::string& result : results) {
        failed += result.empty() ? 0 : 1;
    }
    for (std::size_t rank = 0; rank < results.size() && failed > 0; ++rank) {
        if (results[rank].empty()) {
            continue;
        }
        const Error error = unpack(results[rank]);
        const bool everybody = failed == group.size();
        throw AgreedError(error.code(),
                          everybody ? error.what() : "rank " + std::to_string(rank) + ": " + error.what(),
                          error.hint());
    }
}

std::string run_on_first(Group& group, const std::function<std::string()>& action) {
    std::string answer;
    std::string failure;
    if (group.rank() == 0) {
        failure = pack(error_of([&] { answer = action(); }));
    }
    failure = group.broadcast_string(failure, 0);
    if (!failure.empty()) {
        throw AgreedError(unpack(failure));
    }
    return group.broadcast_string(answer, 0);
}

}  // namespace mastic::comm
