#include <mastic/tuning/command/job_ranks.hpp>

#include <algorithm>
#include <map>
#include <new>

#include <spdlog/spdlog.h>

#include <mastic/comm/cuda/device.hpp>
#include <mastic/comm/together.hpp>
#include <mastic/core/agreed_error.hpp>
#include <mastic/job/batch/srun_mpi.hpp>

namespace mastic::tuning {
namespace {

using comm::TransportKind;

constexpr Seconds long_wait{7 * 24 * 3600};  // an idle rank waits for the whole sweep

comm::GroupOptions control_options() {
    return {.transport = TransportKind::native,
            .poll = comm::PollPolicy::sleep,
            .limits = {.stall_report = long_wait, .timeout = long_wait}};
}

}  // namespace

JobRanks::JobRanks(comm::MpiSession& session, const CommandContext& context)
    : session_(session), control_(session.make_group(control_options())) {
    place();
    machine_ = this_machine(comm::mpi_library_version());
    compare_machines();
    if (first() && session.cores_per_rank() < 1) {
        spdlog::warn(
            "there are fewer cores than ranks: the times are those of ranks that wait for each other's turn");
    }
    open_device(context);
    open_transports(context);
}

// Nodes are ordered by their ranks, the fullest first, so that the first nodes have the most parts.
void JobRanks::place() {
    std::int32_t mine = session_.node();
    std::vector<std::int32_t> nodes(static_cast<std::size_t>(session_.size()));
    control_->allgather(comm::view_of(std::span(&mine, 1)), comm::view_of(std::span(nodes)),
                        {.name = "nodes of the ranks"});
    std::map<int, int> count;
    for (const std::int32_t node : nodes) {
        ++count[node];
    }
    std::vector<std::pair<int, int>> order(count.begin(), count.end());
    std::ranges::stable_sort(order, std::greater{}, [](const auto& node) { return node.second; });
    for (std::size_t place = 0; place < order.size(); ++place) {
        ranks_of_node_.push_back(order[place].second);
        if (order[place].first == mine) {
            node_place_ = static_cast<int>(place);
        }
    }
    whole_ = {static_cast<int>(order.size()), ranks_of_node_.front()};
}

void JobRanks::compare_machines() {
    const std::vector<std::string> all =
        control_->allgather_strings(machine_.cpu + "; " + std::to_string(machine_.cores) + " cores");
    const auto other =
        std::ranges::find_if(all, [&all](const std::string& machine) { return machine != all.front(); });
    if (first() && other != all.end()) {
        spdlog::warn("the nodes differ: {} and {}; the table is that of both together", all.front(), *other);
    }
}

// Ranks of a node take its GPUs in turn.
void JobRanks::open_device(const CommandContext& context) {
    if (std::ranges::count(context.options.memory, "device") > 0) {
        comm::run_together(*control_, [this] {
            device_ = comm::open_cuda_device(session_.local_rank() % std::max(comm::cuda_devices(), 1));
        });
    }
}

// Shared memory comes by itself where a part is on one node; MPI messages cost nothing to have.
void JobRanks::open_transports(const CommandContext& context) {
    for (const std::string& name : context.options.transports) {
        transports_.push_back(comm::parse_transport(name));
    }
    comm::GroupOptions options{
        .transport = TransportKind::automatic,
        .network = context.options.network,
        .poll = comm::parse_poll_policy(context.options.poll),
        .limits = {.stall_report = context.options.timeout, .timeout = context.options.timeout},
        .also_open = {TransportKind::mpi},
        .device = device_};
    const bool tcp = std::ranges::count(transports_, TransportKind::tcp) > 0 &&
                     (whole_.nodes > 1 || transports_.size() == 1);
    if (tcp) {
        options.also_open.push_back(TransportKind::tcp);
        try {
            world_ = session_.make_group(options);
            return;
        } catch (const AgreedError& error) {
            if (first()) {
                spdlog::warn("tcp is left out: {}", error.what());
            }
            options.also_open.pop_back();
            std::erase(transports_, TransportKind::tcp);
        }
    }
    world_ = session_.make_group(options);
}

bool JobRanks::has(const GroupShape& shape) const {
    return std::ranges::count_if(
               ranks_of_node_, [&shape](int ranks) { return ranks >= shape.ranks_per_node; }) >= shape.nodes;
}

RankPart JobRanks::part(const GroupShape& shape) {
    meet();
    const bool inside = node_place_ < shape.nodes && session_.local_rank() < shape.ranks_per_node;
    const int color = inside ? 0 : -1;
    RankPart part;
    part.measured = world_->split(color, session_.rank());
    part.agreement = control_->split(color, session_.rank());
    return part;
}

void JobRanks::meet() {
    control_->start_barrier({.name = "idle ranks"}).wait();
}

double JobRanks::from_first(double value) {
    control_->start_broadcast(comm::view_of(std::span(&value, 1)), 0, {.name = "time"}).wait();
    return value;
}

CandidateLimits candidate_limits(const TuneOptions& options, const std::vector<TransportKind>& transports) {
    return {.transports = transports,
            .algorithms = options.algorithms,
            .segments = options.segments,
            .depths = options.depths};
}

void with_ranks(const CommandContext& context, int (*body)(const CommandContext&, JobRanks&)) {
    comm::MpiSession session;
    try {
        job::check_singleton(session.size(), context.job, job::required_srun_mpi(comm::mpi_library_text()));
        int code = 0;
        {
            JobRanks ranks(session, context);
            code = body(context, ranks);
        }
        session.finish(code);
    } catch (const AgreedError& error) {
        if (session.rank() == 0) {
            spdlog::error("{}", error.full_message());
        }
        session.finish(static_cast<int>(error.code()));
    } catch (const Error& error) {
        spdlog::error("{}", error.full_message());
        session.abort(static_cast<int>(error.code()));
    } catch (const std::bad_alloc&) {
        spdlog::error("out of memory: a smaller --tune.largest needs less");
        session.abort(static_cast<int>(ExitCode::memory));
    } catch (const std::exception& error) {
        spdlog::error("{}", error.what());
        session.abort(static_cast<int>(ExitCode::environment));
    }
}

}  // namespace mastic::tuning
