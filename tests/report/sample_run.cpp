#include "report/sample_run.hpp"

namespace mastic::test {

using namespace report;

StepRecord sample_step(std::int64_t step) {
    StepRecord record;
    record.step = step;
    record.epoch = step / 100;
    record.samples = step * 128;
    record.time_s = 0.01 * static_cast<double>(step);
    record.loss = 1.0 / static_cast<double>(step);
    record.learning_rate = 0.1;
    record.samples_per_s = 12800;
    record.step_ms = 10;
    record.forward_ms = 3;
    record.backward_ms = 4;
    record.exposed_communication_ms = 1;
    record.optimizer_ms = 1;
    record.checkpoint_stall_ms = 0;
    record.global_batch = 128;
    record.world_size = 2;
    return record;
}

Metrics sample_metrics(std::int64_t steps, std::int64_t evaluate_every) {
    Metrics metrics;
    for (std::int64_t step = 1; step <= steps; ++step) {
        metrics.steps.push_back(sample_step(step));
        if (evaluate_every > 0 && step % evaluate_every == 0) {
            const StepRecord& last = metrics.steps.back();
            const double accuracy = 0.5 + 0.4 * static_cast<double>(step) / static_cast<double>(steps);
            metrics.evaluations.push_back(
                {step, last.epoch, last.samples, last.time_s, "validation", 0.4, {{"accuracy", accuracy}}});
        }
    }
    return metrics;
}

RunRecord sample_record() {
    RunRecord record;
    record.program = "mastic-train";
    record.version = "0.1.0";
    record.command_line = {"mastic-train", "--train.epochs", "10"};
    record.hosts = {"node01", "node02"};
    record.attempt.started = *parse_time("2026-03-01T12:00:00Z");
    record.attempt.job_id = "4711";
    record.attempt.first_step = 500;
    record.attempt.last_step = 1000;
    record.attempt.world_size = 2;
    record.samples = 128000;
    record.planned_samples = 128000;
    record.final_metrics = {{"accuracy", 0.9}, {"loss", 0.4}};
    record.best = BestMetric{"accuracy", 0.91, 900};
    record.checkpoints = {"checkpoint-500", "checkpoint-1000"};
    record.libraries = {{"MPI", "MPICH 4.0.2"}};
    finish(record, ExitCode::done, "all epochs done", record.attempt.started + std::chrono::seconds(250));
    return record;
}

RunView sample_run(std::int64_t steps, std::int64_t evaluate_every) {
    RunView run;
    run.directory = "runs/sample";
    run.record = sample_record();
    run.metrics = sample_metrics(steps, evaluate_every);
    run.now = run.record->attempt.started + std::chrono::minutes(10);
    return run;
}

}  // namespace mastic::test
