#include <mastic/comm/mpi/detail/lanes.hpp>

#include <set>

#include <mastic/comm/mpi/detail/check.hpp>

namespace mastic::comm::detail {

namespace {

class LaneCreation : public Operation {
  public:
    LaneCreation(std::shared_ptr<Lanes> lanes, MPI_Comm parent, int count, const GroupStart& mine)
        : lanes_(std::move(lanes)), parent_(parent), count_(static_cast<std::size_t>(count)), mine_(mine) {}

    void start() override {
        check(MPI_Comm_rank(parent_, &lanes_->rank), "MPI_Comm_rank");
        check(MPI_Comm_size(parent_, &lanes_->size), "MPI_Comm_size");
        all_.resize(static_cast<std::size_t>(lanes_->size));
        constexpr int bytes = sizeof(GroupStart);
        check(MPI_Iallgather(&mine_, bytes, MPI_BYTE, all_.data(), bytes, MPI_BYTE, parent_, &request_),
              "MPI_Iallgather");
    }

    Step step() override {
        int done = 0;
        check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done == 0) {
            return Step::waiting;
        }
        if (next_ != MPI_COMM_NULL) {
            check(MPI_Comm_set_errhandler(next_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
            lanes_->comms.push_back(next_);
        }
        if (lanes_->comms.size() == count_) {
            describe_group();
            return Step::complete;
        }
        check(MPI_Comm_idup(parent_, &next_, &request_), "MPI_Comm_idup");
        return Step::advanced;
    }

  private:
    void describe_group() {
        std::set<int> nodes;
        for (const GroupStart& start : all_) {
            nodes.insert(start.node);
            lanes_->node_of_rank.push_back(start.node);
            lanes_->processes.push_back(start.process);
        }
        lanes_->nodes = static_cast<int>(nodes.size());
        const GroupStart& first = all_.front();
        lanes_->group_name =
            std::uint64_t(static_cast<unsigned>(first.process)) << 32 | static_cast<unsigned>(first.count);
    }

    std::shared_ptr<Lanes> lanes_;
    MPI_Comm parent_;
    std::size_t count_;
    GroupStart mine_;
    std::vector<GroupStart> all_;  // by rank
    MPI_Comm next_ = MPI_COMM_NULL;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<Operation> make_lane_creation(std::shared_ptr<Lanes> lanes, MPI_Comm parent, int count,
                                              const GroupStart& mine) {
    return std::make_unique<LaneCreation>(std::move(lanes), parent, count, mine);
}

void free_lanes(Lanes& lanes) {
    for (MPI_Comm& comm : lanes.comms) {
        MPI_Comm_free(&comm);
    }
}

}  // namespace mastic::comm::detail
