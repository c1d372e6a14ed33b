#include <mastic/tuning/measurement.hpp>

#include <algorithm>
#include <cmath>

#include <mastic/core/error.hpp>

namespace mastic::tuning {
namespace {

using comm::Clock;

double us_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

}  // namespace

Measurement::Measurement(comm::Group& group, comm::Group& agreement, Clock::time_point start)
    : group_(group), agreement_(agreement), start_(start) {
    std::vector<double> only_the_time;
    agree(only_the_time);
}

Measurement::Trial Measurement::try_out(Workload& workload, const comm::Choice& choice) {
    workload.fill();
    group_.barrier();
    const Clock::time_point begin = Clock::now();
    try {
        workload.run(choice);
    } catch (const Error& error) {
        if (error.code() != ExitCode::usage) {
            throw;
        }
        return {.possible = false};
    }
    std::vector<double> values = {us_since(begin), workload.is_right() ? 0.0 : 1.0};
    workload.clear();
    agree(values);
    constexpr double long_us = 50'000;
    if (values[0] < long_us) {  // else what the first run takes longer is a small part
        const int once = 1;
        values[0] = repeat(workload, std::span(&choice, 1), std::span(&once, 1)).front();
    }
    return {.right = values[1] == 0, .us = values[0]};
}

std::vector<double> Measurement::repeat(Workload& workload, std::span<const comm::Choice> choices,
                                        std::span<const int> operations) {
    std::vector<double> values(choices.size());
    for (std::size_t i = 0; i < choices.size(); ++i) {
        if (operations[i] == 0) {
            continue;
        }
        group_.barrier();
        const Clock::time_point begin = Clock::now();
        for (int operation = 0; operation < operations[i]; ++operation) {
            workload.run(choices[i], operation);
        }
        values[i] = us_since(begin) / operations[i];
    }
    agree(values);
    return values;
}

void Measurement::agree(std::vector<double>& values) {
    values.push_back(Seconds(Clock::now() - start_).count());
    agreement_.allreduce(comm::view_of(std::span(values)), comm::ReduceOp::max, {.name = "measured times"});
    elapsed_ = Seconds{values.back()};
    values.pop_back();
}

int operations_for(double us) {
    constexpr double enough_us = 1000, most = 256;
    return static_cast<int>(std::clamp(std::ceil(enough_us / std::max(us, 1e-3)), 1.0, most));
}

}  // namespace mastic::tuning
