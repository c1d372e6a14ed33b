#include <mastic/engine/fault_injection.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include <mastic/config/text.hpp>
#include <mastic/core/error.hpp>

namespace mastic::engine {
namespace {

const std::vector<std::string> fault_kinds = {"nan", "kill", "kill-evaluation", "kill-save", "crash", "stall", "flip"};

}  // namespace

FaultInjection::FaultInjection(std::string_view text, int rank) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        add(text.substr(0, end), rank);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

void FaultInjection::add(std::string_view text, int rank) {
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
    if (!formed || number(at + 1, colon) < 0 || number(colon + 1, text.size()) < 0 || std::ranges::find(fault_kinds, kind) == fault_kinds.end()) {
        throw Error(ExitCode::usage, "train.inject: '" + std::string(text) + "' is not a fault",
                    "write KIND@STEP:RANK with KIND one of " + config::join(fault_kinds, ", ") + ", or slow@MICROSECONDS[:RANK]; several with commas between them");
    }
    if (number(colon + 1, text.size()) == rank) {
        faults_.push_back({std::string(kind), number(at + 1, colon)});
    }
}

bool FaultInjection::matches(std::string_view kind, std::int64_t step) const {
    return std::ranges::any_of(faults_, [&](const Fault& fault) { return fault.step == step && fault.kind == kind; });
}

void FaultInjection::kill_if(bool due) {
    if (due) {
        std::raise(SIGKILL);
    }
}

void FaultInjection::compute(std::int64_t samples) const {
    std::this_thread::sleep_for(sample_time_ * samples);
}

void FaultInjection::before_backward(std::int64_t step) const {
    kill_if(matches("kill", step));
    if (matches("crash", step)) {
        std::raise(SIGSEGV);
    }
    if (matches("stall", step)) {
        std::this_thread::sleep_for(std::chrono::hours(1));
    }
}

}  // namespace mastic::engine
