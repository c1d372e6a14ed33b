// A member of an elastic run whose steps are small sums. Each step has 60 units of work, shared out over the members, so the
// sum of a step is the same whoever takes part: a state in which a step is missing, or counted twice, shows.
//
// usage: elastic_worker DIRECTORY RECORD [STEPS [STEP_MS [SNAPSHOT_KB [RATE_KB [VERSION]]]]]
// SIGTERM: leaves. RECORD gets a line per event: "step STEP HASH GENERATION MEMBERS UNIX_MICROSECONDS", "joined STEP", "left STEP", ...
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/elastic/membership.hpp>

#include "steps.hpp"

namespace mastic::test {
namespace {

volatile std::sig_atomic_t asked_to_go = 0;

class SumState : public elastic::ReplicatedState {
  public:
    SumState(std::size_t snapshot_bytes) : padding_(snapshot_bytes) {}

    elastic::Blob snapshot() override {
        std::vector<std::byte> bytes(sizeof sums + padding_);
        std::memcpy(bytes.data(), &sums, sizeof sums);
        return elastic::Blob::of(std::move(bytes));
    }
    void load(elastic::Step, std::span<const std::byte> bytes) override {
        std::memcpy(static_cast<void*>(&sums), bytes.data(), sizeof sums);
    }
    void apply(elastic::Step, std::span<const std::byte> bytes) override {
        std::int64_t total = 0;
        std::memcpy(&total, bytes.data(), sizeof total);
        sums.add(total);
    }

    Sums sums;

  private:
    std::size_t padding_;
};

struct WorkerOptions {
    std::string directory;
    std::string record;
    std::int64_t steps = 1'000'000'000;
    int step_ms = 5;
    std::size_t snapshot_kb = 1;
    std::uint64_t rate_kb = 0;
    std::string version = "1";
};

int work(const WorkerOptions& options) {
    SumState state(options.snapshot_kb << 10);
    LineWriter record(options.record);
    elastic::MembershipOptions membership{.directory = options.directory,
                                          .version = options.version,
                                          .fingerprint = "sums",
                                          .join = Seconds(30),
                                          .rate = Bytes{options.rate_kb << 10}};
    membership.enter_behind = std::getenv("WORKER_BEHIND") != nullptr;
    if (const char* timeout = std::getenv("WORKER_TIMEOUT")) {
        membership.timing.timeout = Seconds(std::atof(timeout));
        membership.timing.heartbeat = membership.timing.timeout / 3;
    }
    elastic::Membership run(membership, state);
    record.write_line("joined " + std::to_string(state.sums.step) + " " + run.id());
    auto group = run.make_group();
    bool leaving = false;
    while (state.sums.step < options.steps) {
        if (asked_to_go != 0 && !std::exchange(leaving, true)) {
            run.leave();
        }
        std::int64_t step = 0, total = 0, pending = 0;
        try {
            run.catch_up();
            step = state.sums.step + 1;
            std::this_thread::sleep_for(std::chrono::milliseconds(options.step_ms));
            total = share_of(step, group->rank(), group->size());
            pending = run.pending();
            const comm::Request sum =
                group->start_allreduce(comm::view_of(std::span(&total, 1)), comm::ReduceOp::sum);
            group->allreduce(comm::view_of(std::span(&pending, 1)), comm::ReduceOp::max);
            sum.wait();
        } catch (const Error& error) {
            if (error.code() != ExitCode::collective) {
                throw;
            }
            group.reset();
            run.regroup(state.sums.step);
            group = run.make_group();
            for (const auto& event : run.take_events()) {
                record.write_line(event.kind + " " + std::to_string(event.took.count()) + " " + event.text);
            }
            continue;
        }
        state.sums.add(total);
        std::vector<std::byte> reduced(sizeof total);
        std::memcpy(reduced.data(), &total, sizeof total);
        run.keep(step, elastic::Blob::of(std::move(reduced)), pending);
        record.write_line("step " + std::to_string(step) + " " + std::to_string(state.sums.hash) + " " +
                          std::to_string(run.generation().id) + " " + std::to_string(group->size()) + " " +
                          std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(
                                             std::chrono::system_clock::now().time_since_epoch())
                                             .count()));
        switch (run.at_boundary(step, pending)) {
            case elastic::Boundary::stays:
                break;
            case elastic::Boundary::changed:
                group.reset();
                group = run.make_group();
                break;
            case elastic::Boundary::left:
                record.write_line("left " + std::to_string(step));
                return 0;
        }
        for (const auto& event : run.take_events()) {
            record.write_line(event.kind + " " + std::to_string(event.took.count()) + " " + event.text);
        }
    }
    record.write_line("finished " + std::to_string(state.sums.step));
    return 0;
}

}  // namespace
}  // namespace mastic::test

int main(int argc, char** argv) {
    using namespace mastic;
    std::signal(SIGTERM, [](int) { test::asked_to_go = 1; });
    test::WorkerOptions options{.directory = argv[1], .record = argv[2]};
    if (argc > 3) options.steps = std::atoll(argv[3]);
    if (argc > 4) options.step_ms = std::atoi(argv[4]);
    if (argc > 5) options.snapshot_kb = static_cast<std::size_t>(std::atoll(argv[5]));
    if (argc > 6) options.rate_kb = static_cast<std::uint64_t>(std::atoll(argv[6]));
    if (argc > 7) options.version = argv[7];
    try {
        return test::work(options);
    } catch (const elastic::Left&) {
        LineWriter(options.record).write_line("left");
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "worker: %s\n", error.full_message().c_str());
        LineWriter(options.record).write_line(std::string("error ") + error.what());
        return static_cast<int>(error.code());
    }
}
