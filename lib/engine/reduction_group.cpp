#include <mastic/engine/reduction_group.hpp>

#include <spdlog/spdlog.h>

#include <mastic/comm/nccl/nccl_group.hpp>
#include <mastic/tuning/agreed_table.hpp>

namespace mastic::engine {

gradient::BucketOptions bucket_options(const AllreduceSection& allreduce) {
    gradient::BucketOptions options;
    options.capacity = allreduce.bucket;
    options.first = allreduce.first_bucket;
    return options;
}

comm::GroupOptions reduction_options(const AllreduceSection& allreduce, int threads, const Accelerator& accelerator) {
    comm::GroupOptions options;
    options.transport = comm::parse_transport(allreduce.transport);
    options.algorithm = allreduce.algorithm;
    options.wire = comm::parse_wire(allreduce.wire);
    options.network = allreduce.network;
    options.segment = allreduce.segment;
    options.depth = static_cast<int>(allreduce.depth);
    options.poll = comm::parse_poll_policy(allreduce.poll);
    options.compute_threads = threads;
    options.limits.stall_report = allreduce.stall_report;
    options.limits.timeout = allreduce.timeout;
    options.device = accelerator.comm_device;
    return options;
}

std::unique_ptr<comm::Group> make_reduction_group(comm::MpiSession& session, comm::Group& exchange,
                                                  const AllreduceSection& allreduce, int threads,
                                                  const Accelerator& accelerator) {
    comm::GroupOptions options = reduction_options(allreduce, threads, accelerator);
    if (!allreduce.tuning.empty()) {
        tuning::TunedSelection tuned = tuning::agreed_selection(
            exchange, allreduce.tuning, tuning::shape_of(session.size(), session.nodes()), options.wire);
        options.selection = std::move(tuned.selection);
        if (session.rank() == 0) {
            spdlog::info("{}: {}", allreduce.tuning, tuned.note);
        }
    }
    auto group = session.make_group(options);
    if (accelerator.nccl == nullptr || group->size() == 1) {
        return group;
    }
    return comm::make_nccl_group(std::move(group), accelerator.comm_device, accelerator.nccl, {.limits = options.limits});
}

}  // namespace mastic::engine
