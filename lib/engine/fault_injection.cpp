#include <mastic/engine/fault_injection.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <thread>

#include <mastic/core/error.hpp>

namespace mastic::engine {

FaultInjection::FaultInjection(std::string_view text, int rank) {
    if (text.empty()) {
        return;
    }
    const auto number = [&](std::size_t begin, std::size_t end) {
        std::int64_t value = -1;
        const auto result = std::from_chars(text.data() + begin, text.data() + end, value);
        return result.ec == std::errc() && result.ptr == text.data() + end ? value : -1;
    };
    const std::size_t at = text.find('@');
    const std::size_t colon = text.find(':');
    if (text.substr(0, at) == "slow" && at != text.npos) {
        const std::int64_t time = number(at + 1, std::min(colon, text.size()));
        const std::int64_t of_rank = colon == text.npos ? rank : number(colon + 1, text.size());
        if (time > 0 && of_rank >= 0) {
            sample_time_ = std::chrono::microseconds(of_rank == rank ? time : 0);
            return;
        }
    }
    const bool formed = at != text.npos && colon != text.npos && at < colon;
    const std::string_view kind = text.substr(0, at);
    if (!formed || number(at + 1, colon) < 0 || number(colon + 1, text.size()) < 0 ||
        (kind != "nan" && kind != "kill" && kind != "crash" && kind != "stall" && kind != "flip")) {
        throw Error(ExitCode::usage, "train.inject: '" + std::string(text) + "' is not a fault",
                    "write KIND@STEP:RANK with KIND one of nan, kill, crash, stall, flip, or slow@MICROSECONDS[:RANK]");
    }
    if (number(colon + 1, text.size()) == rank) {
        kind_ = kind;
        step_ = number(at + 1, colon);
    }
}

void FaultInjection::compute(std::int64_t samples) const {
    std::this_thread::sleep_for(sample_time_ * samples);
}

void FaultInjection::before_backward(std::int64_t step) const {
    if (matches("kill", step)) {
        std::raise(SIGKILL);
    }
    if (matches("crash", step)) {
        std::raise(SIGSEGV);
    }
    if (matches("stall", step)) {
        std::this_thread::sleep_for(std::chrono::hours(1));
    }
}

}  // namespace mastic::engine
