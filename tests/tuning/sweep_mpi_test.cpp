// A small sweep on real ranks.
#include <gtest/gtest.h>

#include <mastic/tuning/sweep.hpp>

#include "comm/device/fake_device.hpp"
#include "comm/mpi/session_fixture.hpp"

namespace mastic::tuning {
namespace {

using comm::Choice;
using comm::Collective;
using comm::TransportKind;
using comm::Wire;
using test::session;

comm::GroupOptions all_transports() {
    return {.transport = TransportKind::automatic, .also_open = {TransportKind::mpi}};
}

const CandidateLimits limits{
    {TransportKind::native, TransportKind::mpi, TransportKind::shm}, {}, {Bytes{16u << 10}}, {2}};

SweepOptions small_sweep() {
    SweepOptions options;
    options.collectives = {std::begin(comm::collectives), std::end(comm::collectives)};
    options.sizes = {Bytes{64}, Bytes{64u << 10}};
    options.limits = limits;
    options.rules.most = 3;
    options.rules.least = 2;
    return options;
}

// Gives a wrong result for one algorithm, on its last rank only.
class LyingGroup : public comm::Group {
  public:
    LyingGroup(comm::Group& honest, std::string lies_about)
        : honest_(honest), lies_about_(std::move(lies_about)) {}

    int rank() const override { return honest_.rank(); }
    int size() const override { return honest_.size(); }
    comm::Request start_allreduce(comm::BufferView buffer, comm::ReduceOp op,
                                  const comm::OperationOptions& options) override {
        return honest_.start_allreduce(buffer, op, options);
    }
    void allreduce(comm::BufferView buffer, comm::ReduceOp op,
                   const comm::OperationOptions& options) override {
        honest_.allreduce(buffer, op, options);
        if (options.choice != nullptr && options.choice->algorithm == lies_about_ && rank() == size() - 1) {
            static_cast<float*>(buffer.data)[buffer.count / 2] += 1;
        }
    }
    comm::Request start_broadcast(comm::BufferView buffer, int root,
                                  const comm::OperationOptions& options) override {
        return honest_.start_broadcast(buffer, root, options);
    }
    comm::Request start_allgather(comm::BufferView send, comm::BufferView receive,
                                  const comm::OperationOptions& options) override {
        return honest_.start_allgather(send, receive, options);
    }
    comm::Request start_barrier(const comm::OperationOptions& options) override {
        return honest_.start_barrier(options);
    }
    std::shared_ptr<void> allocate(std::size_t bytes) override { return honest_.allocate(bytes); }
    std::string description() const override { return "lying"; }

  private:
    comm::Group& honest_;
    std::string lies_about_;
};

class OnRanks : public testing::Test {
  protected:
    std::unique_ptr<comm::Group> group_ = session().make_group(all_transports());
    std::unique_ptr<comm::Group> agreement_ = session().make_group({.transport = TransportKind::native});
    GroupShape shape_{session().nodes(), session().size() / session().nodes()};
};

TEST_F(OnRanks, EveryCandidateOfEveryCollectiveIsRight) {
    Measurement measurement(*group_, *agreement_, comm::Clock::now());
    for (const Collective collective : comm::collectives) {
        for (const std::uint64_t size : {4u, 20'000u}) {
            Workload workload(*group_, collective, Bytes{size});
            for (const Choice& choice : candidates(collective, Wire::exact, shape_, Bytes{size}, limits)) {
                const Measurement::Trial trial = measurement.try_out(workload, choice);
                EXPECT_TRUE(trial.possible && trial.right)
                    << comm::to_string(collective) << ": " << comm::to_string(choice);
            }
        }
    }
}

TEST_F(OnRanks, CandidatesForDeviceMemoryAreRightAndHaveTheirRows) {
    const auto device = std::make_shared<test::FakeDevice>();
    comm::GroupOptions group_options = all_transports();
    group_options.device = device;
    group_options.staging.chunk = Bytes{16u << 10};
    const auto group = session().make_group(group_options);
    Measurement measurement(*group, *agreement_, comm::Clock::now());
    SweepOptions options = small_sweep();
    options.memories = {comm::MemoryKind::device};
    options.device = device;
    const std::vector<GroupShape> shapes = {shape_};
    const std::vector<Cell> cells = cells_of(shapes, options);
    const TimePlan time(std::vector<double>(cells.size(), 1.0), Seconds{15});
    const ShapeSweep sweep = sweep_shape(measurement, *group, cells, 0, time, options);
    EXPECT_EQ(sweep.wrong, 0);
    EXPECT_GT(device->copies(), 0);
    for (const Collective collective : comm::collectives) {
        EXPECT_NE(sweep.result.find(collective, Wire::exact, comm::MemoryKind::device), nullptr)
            << comm::to_string(collective);
        EXPECT_EQ(sweep.result.find(collective, Wire::exact), nullptr);
    }
}

TEST_F(OnRanks, RoundedCandidatesAreRightToo) {
    Measurement measurement(*group_, *agreement_, comm::Clock::now());
    for (const Wire wire : {Wire::bfloat16, Wire::float16}) {
        Workload workload(*group_, Collective::allreduce, Bytes{40'000});
        for (const Choice& choice : candidates(Collective::allreduce, wire, shape_, Bytes{40'000}, limits)) {
            EXPECT_TRUE(measurement.try_out(workload, choice).right) << comm::to_string(choice);
        }
    }
}

TEST_F(OnRanks, ASweepChoosesForEverySizeAndAllRanksAgree) {
    Measurement measurement(*group_, *agreement_, comm::Clock::now());
    const SweepOptions options = small_sweep();
    const std::vector<GroupShape> shapes = {shape_};
    const std::vector<Cell> cells = cells_of(shapes, options);
    const TimePlan time(std::vector<double>(cells.size(), 1.0), Seconds{15});
    const ShapeSweep sweep = sweep_shape(measurement, *group_, cells, 0, time, options);
    EXPECT_EQ(sweep.wrong, 0);
    ASSERT_EQ(sweep.result.collectives.size(), 4u);
    TuningTable table;
    table.machine.cores = 1;
    table.shapes = {sweep.result};
    EXPECT_EQ(TuningTable::parse(table.to_json(), "table"), table);
    EXPECT_EQ(sweep.result.find(Collective::allreduce, Wire::exact)->sizes.size(), 2u);
    for (const std::string& text : agreement_->allgather_strings(table.to_json())) {
        EXPECT_EQ(text, table.to_json());
    }
}

TEST_F(OnRanks, AWrongCandidateIsReportedAndNeverChosen) {
    LyingGroup lying(*group_, "ring");
    Measurement measurement(lying, *agreement_, comm::Clock::now());
    SweepOptions options = small_sweep();
    options.limits.algorithms = {"ring", "rabenseifner"};
    options.limits.transports = {TransportKind::mpi};
    const CellResult result =
        measure_cell(measurement, lying, {shape_, Collective::allreduce, Wire::exact, Bytes{1024}}, options,
                     nullptr, Seconds{10});
    ASSERT_EQ(result.wrong.size(), 1u);
    EXPECT_EQ(result.wrong[0].algorithm, "ring");
    ASSERT_TRUE(result.measured.has_value());
    EXPECT_EQ(result.measured->chosen().choice.algorithm, "rabenseifner");
    EXPECT_EQ(result.measured->find(result.wrong[0]), nullptr);
}

TEST_F(OnRanks, ATransportThatIsNotThereIsLeftOut) {
    Measurement measurement(*group_, *agreement_, comm::Clock::now());
    SweepOptions options = small_sweep();
    options.limits.transports = {TransportKind::tcp};
    const CellResult result =
        measure_cell(measurement, *group_, {shape_, Collective::allreduce, Wire::exact, Bytes{1024}}, options,
                     nullptr, Seconds{10});
    EXPECT_FALSE(result.measured.has_value());
    EXPECT_TRUE(result.wrong.empty());
}

TEST_F(OnRanks, WithoutTimeCellsAreSkippedAndNamed) {
    Measurement measurement(*group_, *agreement_, comm::Clock::now());
    const SweepOptions options = small_sweep();
    const std::vector<GroupShape> shapes = {shape_};
    const std::vector<Cell> cells = cells_of(shapes, options);
    const TimePlan time(std::vector<double>(cells.size(), 1.0), Seconds{1e-9});
    const ShapeSweep sweep = sweep_shape(measurement, *group_, cells, 0, time, options);
    EXPECT_TRUE(sweep.result.collectives.empty());
    EXPECT_EQ(sweep.notes.size(), cells.size());
}

TEST_F(OnRanks, ALittleTimeTriesAFewCandidatesAndSaysHowManyItDidNot) {
    Measurement measurement(*group_, *agreement_, comm::Clock::now());
    const CellResult result =
        measure_cell(measurement, *group_, {shape_, Collective::allreduce, Wire::exact, Bytes{1024}},
                     small_sweep(), nullptr, Seconds{1e-9});
    ASSERT_TRUE(result.measured.has_value());
    EXPECT_EQ(result.measured->candidates.size(), 3u);
    EXPECT_GT(result.untried, 0);
}

}  // namespace
}  // namespace mastic::tuning
