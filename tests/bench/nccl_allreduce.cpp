// Benchmark nccl-allreduce, under mpiexec with a GPU for each rank: an allreduce of GPU memory by mastic's group over NCCL against
// ncclAllReduce itself, both from the call to the result. The aim is 2 %.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <mastic/comm/cuda/device.hpp>
#include <mastic/comm/mpi/session.hpp>
#include <mastic/comm/nccl/nccl_group.hpp>
#include <mastic/comm/nccl/watched_operation.hpp>
#include <mastic/core/error.hpp>

#include "bench/bench_report.hpp"

namespace {

using namespace mastic;
using comm::BufferView;
using comm::ReduceOp;
using comm::view_of;
using BenchClock = std::chrono::steady_clock;

constexpr int operations = 8;  // in a row, as the buckets of a training

class Rank {
  public:
    explicit Rank(comm::MpiSession& session)
        : device_(comm::open_cuda_device(session.local_rank() % std::max(comm::cuda_devices(), 1))),
          nccl_(comm::open_nccl(session.local_rank() % comm::cuda_devices())),
          host_(session.make_group({})),
          ours_(comm::make_nccl_group(session.make_group({.device = device_}), device_, nccl_)),
          stream_(device_->make_stream()) {
        const std::string id = host_->broadcast_string(host_->rank() == 0 ? nccl_->make_id() : "", 0);
        plain_ = nccl_->start(id, host_->size(), host_->rank());
        comm::wait_until_ready(*plain_, "the ranks of the peer did not find one another", Seconds(120));
    }

    int rank() const { return host_->rank(); }
    comm::Device& device() { return *device_; }

    double run_ours(const BufferView& buffer) {
        return slowest([&] {
            std::vector<comm::Request> requests;
            for (int i = 0; i < operations; ++i) {
                requests.push_back(ours_->start_allreduce(buffer, ReduceOp::sum, {}));
            }
            for (const comm::Request& request : requests) {
                request.wait();
            }
        });
    }
    double run_plain(const BufferView& buffer) {
        return slowest([&] {
            for (int i = 0; i < operations; ++i) {
                plain_->allreduce(buffer, ReduceOp::sum, *stream_);
                comm::wait_until_ready(*plain_, "an operation of the peer did not start", Seconds(120));
            }
            stream_->drain();
        });
    }

  private:
    // Microseconds of one operation, on the slowest rank.
    template <class Action>
    double slowest(const Action& action) {
        host_->barrier();
        const auto begin = BenchClock::now();
        action();
        double took =
            std::chrono::duration<double, std::micro>(BenchClock::now() - begin).count() / operations;
        host_->allreduce(view_of(std::span(&took, 1)), ReduceOp::max);
        return took;
    }

    std::shared_ptr<comm::Device> device_;
    std::shared_ptr<comm::NcclLibrary> nccl_;
    std::unique_ptr<comm::Group> host_;
    std::unique_ptr<comm::Group> ours_;
    std::unique_ptr<comm::CopyStream> stream_;
    std::unique_ptr<comm::NcclCommunicator> plain_;
};

bench::BenchResult compare(Rank& rank, std::size_t bytes, int repetitions) {
    const auto memory = rank.device().allocate(bytes);
    const BufferView buffer{memory.get(), bytes / sizeof(float), DataType::float32, comm::MemoryKind::device};
    std::vector<double> ours;
    std::vector<double> peer;
    for (int i = -2; i < repetitions; ++i) {  // the first ones warm up
        const double of_ours = rank.run_ours(buffer);
        const double of_peer = rank.run_plain(buffer);
        if (i >= 0) {
            ours.push_back(of_ours);
            peer.push_back(of_peer);
        }
    }
    return bench::compare("nccl/" + to_string(Bytes{bytes}), ours, peer, "ncclAllReduce", "us");
}

void measure(comm::MpiSession& session, const bench::BenchOptions& options) {
    Rank rank(session);
    std::vector<bench::BenchResult> results;
    for (const std::size_t bytes : {1u << 20, 16u << 20, 64u << 20, 256u << 20}) {
        results.push_back(compare(rank, bytes, options.quick ? 10 : 100));
    }
    if (rank.rank() == 0) {
        bench::report(results, options);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const bench::BenchOptions options = bench::parse_bench_options(argc, argv);
    comm::MpiSession session;
    try {
        measure(session, options);
    } catch (const Error& error) {
        std::fprintf(stderr, "nccl-allreduce: rank %d: %s\n", session.rank(), error.full_message().c_str());
        session.finish(static_cast<int>(error.code()));
    }
    session.finish(0);
}
