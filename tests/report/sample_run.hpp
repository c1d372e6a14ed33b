// Runs to report on.
#pragma once

#include <mastic/report/run_status.hpp>

namespace mastic::test {

// A step with all its times: 10 ms, of which forward 3, backward 4, communication 1, optimizer 1, no checkpoint; batch 128,
// 2 ranks, loss 1/step.
report::StepRecord sample_step(std::int64_t step);

// `steps` of them, an evaluation of "validation" after each `evaluate_every` (0: never), with accuracy 0.5 + 0.4 step/steps.
report::Metrics sample_metrics(std::int64_t steps, std::int64_t evaluate_every);

// A record of a finished run of mastic-train that started at 2026-03-01T12:00:00Z and took 250 s.
report::RunRecord sample_record();

// All of it, as seen ten minutes after the start.
report::RunView sample_run(std::int64_t steps, std::int64_t evaluate_every);

}  // namespace mastic::test
