// Where the time of a step went, in one place for metrics and trace.
#pragma once

#include <string_view>

#include <mastic/core/duration.hpp>
#include <mastic/core/trace.hpp>
#include <mastic/job/flight_recorder.hpp>

namespace mastic::engine {

struct StepTimes {
    Seconds data{0};
    Seconds forward{0};
    Seconds backward{0};
    Seconds exposed_communication{0};
    Seconds optimizer{0};
    Seconds checkpoint_stall{0};
    Seconds total{0};
};

// Adds the time of a scope to one of the members, notes that the rank has entered it and, if tracing, writes it as a span.
class PhaseTimer {
  public:
    PhaseTimer(Seconds& target, Trace& trace, job::FlightRecorder& recorder, std::string_view name)
        : target_(target), trace_(trace), name_(name), begin_(Trace::Clock::now()) {
        recorder.enter(name);
    }
    ~PhaseTimer() {
        const auto end = Trace::Clock::now();
        target_ += end - begin_;
        if (trace_.enabled()) {
            trace_.complete("train", name_, begin_, end);
        }
    }
    PhaseTimer(const PhaseTimer&) = delete;
    PhaseTimer& operator=(const PhaseTimer&) = delete;

  private:
    Seconds& target_;
    Trace& trace_;
    std::string_view name_;
    Trace::Clock::time_point begin_;
};

}  // namespace mastic::engine
