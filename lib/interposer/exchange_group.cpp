#include <mastic/interposer/exchange_group.hpp>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <mastic/interposer/pmpi.hpp>
#include <mastic/core/checked_cast.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/host_name.hpp>

namespace mastic::interposer {

using namespace comm;

namespace {

int count_of_bytes(const BufferView& buffer) {
    return checked_cast<int>(buffer.bytes(), "a message of the set-up");
}

// Containers of one host have one kernel, but each its own shared memory.
std::string name_of_node() {
    std::string kernel;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), kernel);
    struct stat status {};
    const dev_t memory = stat("/dev/shm", &status) == 0 ? status.st_dev : 0;
    return (kernel.empty() ? host_name() : kernel) + " " + std::to_string(memory);
}

class ExchangeGroup : public Group {
  public:
    ExchangeGroup(MPI_Comm comm, bool owned) : comm_(comm), owned_(owned) {
        check(pmpi().comm_rank(comm_, &rank_), "MPI_Comm_rank");
        check(pmpi().comm_size(comm_, &size_), "MPI_Comm_size");
    }
    ~ExchangeGroup() override {
        if (owned_) {
            pmpi().comm_free(&comm_);
        }
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }

    Request start_allreduce(BufferView buffer, ReduceOp op, const OperationOptions&) override {
        if (buffer.type != DataType::int32 || op == ReduceOp::average) {
            throw Error(ExitCode::usage, "a set-up reduces int32 only");
        }
        const MPI_Op mpi_op = op == ReduceOp::min ? MPI_MIN : op == ReduceOp::max ? MPI_MAX : MPI_SUM;
        check(pmpi().allreduce(MPI_IN_PLACE, buffer.data, checked_cast<int>(buffer.count, "a count"),
                               MPI_INT32_T, mpi_op, comm_),
              "MPI_Allreduce");
        return Request();
    }
    Request start_broadcast(BufferView buffer, int root, const OperationOptions&) override {
        check(pmpi().bcast(buffer.data, count_of_bytes(buffer), MPI_BYTE, root, comm_), "MPI_Bcast");
        return Request();
    }
    Request start_allgather(BufferView send, BufferView receive, const OperationOptions&) override {
        check(pmpi().allgather(send.data, count_of_bytes(send), MPI_BYTE, receive.data, count_of_bytes(send),
                               MPI_BYTE, comm_),
              "MPI_Allgather");
        return Request();
    }
    Request start_barrier(const OperationOptions&) override {
        check(pmpi().barrier(comm_), "MPI_Barrier");
        return Request();
    }
    std::unique_ptr<Group> split(int color, int key) override {
        MPI_Comm part = MPI_COMM_NULL;
        check(pmpi().comm_split(comm_, color < 0 ? MPI_UNDEFINED : color, key, &part), "MPI_Comm_split");
        return part == MPI_COMM_NULL ? nullptr : std::make_unique<ExchangeGroup>(part, true);
    }

    std::shared_ptr<void> allocate(std::size_t) override {
        throw Error(ExitCode::usage, "a set-up has no memory of its own");
    }
    std::string description() const override { return "MPI, for a set-up"; }

  private:
    MPI_Comm comm_;
    bool owned_;
    int rank_ = 0;
    int size_ = 0;
};

}  // namespace

std::unique_ptr<Group> make_exchange_group(MPI_Comm comm) {
    return std::make_unique<ExchangeGroup>(comm, false);
}

Topology find_topology(Group& exchange) {
    std::map<std::string, int> numbers;
    std::vector<int> node_of_rank;
    for (const std::string& node : exchange.allgather_strings(name_of_node())) {
        node_of_rank.push_back(numbers.try_emplace(node, static_cast<int>(numbers.size())).first->second);
    }
    return Topology(node_of_rank, exchange.rank());
}

}  // namespace mastic::interposer
