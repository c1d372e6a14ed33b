#include <mastic/engine/reduction_group.hpp>

#include <spdlog/spdlog.h>

#include <mastic/comm/together.hpp>
#include <mastic/core/file.hpp>
#include <mastic/tuning/table.hpp>

namespace mastic::engine {

gradient::BucketOptions bucket_options(const AllreduceSection& allreduce) {
    gradient::BucketOptions options;
    options.capacity = allreduce.bucket;
    options.first = allreduce.first_bucket;
    return options;
}

comm::GroupOptions reduction_options(const AllreduceSection& allreduce, int threads) {
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
    return options;
}

namespace {

tuning::TunedSelection read_tuning(const std::string& file, comm::MpiSession& session, comm::Group& exchange,
                                   comm::Wire wire) {
    const std::string text = comm::run_on_first(exchange, [&file] {
        const std::vector<std::byte> bytes = read_file(file);
        return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    });
    tuning::TunedSelection tuned;
    comm::run_together(exchange, [&] {
        const tuning::TuningTable table = tuning::TuningTable::parse(text, file);
        table.require_machine(tuning::this_machine(comm::mpi_library_version()));
        const int ranks_per_node = (session.size() + session.nodes() - 1) / session.nodes();
        tuned = table.selection_for({session.nodes(), ranks_per_node}, wire);
    });
    return tuned;
}

}  // namespace

std::unique_ptr<comm::Group> make_reduction_group(comm::MpiSession& session, comm::Group& exchange,
                                                  const AllreduceSection& allreduce, int threads) {
    comm::GroupOptions options = reduction_options(allreduce, threads);
    if (!allreduce.tuning.empty()) {
        tuning::TunedSelection tuned = read_tuning(allreduce.tuning, session, exchange, options.wire);
        options.selection = std::move(tuned.selection);
        if (session.rank() == 0) {
            spdlog::info("{}: {}", allreduce.tuning, tuned.note);
        }
    }
    return session.make_group(options);
}

}  // namespace mastic::engine
