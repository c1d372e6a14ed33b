#include <mastic/job/context.hpp>

#include <charconv>
#include <optional>

#include <mastic/core/error.hpp>

namespace mastic::job {
namespace {

std::optional<int> parse_count(std::string_view text) {
    int value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || value < 0) {
        return std::nullopt;
    }
    return value;
}

class Reader {
  public:
    explicit Reader(const Environment& environment) : environment_(environment) {}

    bool has(const char* name) const { return environment_(name).has_value(); }
    std::string text(const char* name) const { return environment_(name).value_or(""); }

    int number(const char* name, int fallback) const {
        const auto value = environment_(name);
        if (!value || value->empty()) {
            return fallback;
        }
        const auto parsed = parse_count(*value);
        if (!parsed) {
            throw Error(ExitCode::environment,
                        "the launcher's variable " + std::string(name) + " is not a count: '" + *value + "'",
                        "start the program with srun or mpiexec, without setting this variable");
        }
        return *parsed;
    }
    // The step's own value; the allocation's where Slurm does not give one.
    int number(const char* of_step, const char* of_job, int fallback) const {
        return number(of_step, number(of_job, fallback));
    }

  private:
    const Environment& environment_;
};

int tasks_on_node(const Reader& reader, int node) {
    const auto text = reader.text(reader.has("SLURM_STEP_TASKS_PER_NODE") ? "SLURM_STEP_TASKS_PER_NODE"
                                                                          : "SLURM_TASKS_PER_NODE");
    if (text.empty()) {
        return 1;
    }
    const auto tasks = expand_tasks_per_node(text);
    return static_cast<std::size_t>(node) < tasks.size() ? tasks[static_cast<std::size_t>(node)] : 1;
}

void read_slurm_step(const Reader& reader, JobContext& context) {
    context.launcher = Launcher::slurm;
    context.rank = reader.number("SLURM_PROCID", 0);
    context.world_size = reader.number("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", 1);
    context.local_rank = reader.number("SLURM_LOCALID", 0);
    context.node_index = reader.number("SLURM_NODEID", 0);
    context.node_count = reader.number("SLURM_STEP_NUM_NODES", "SLURM_JOB_NUM_NODES", 1);
    context.local_size = tasks_on_node(reader, context.node_index);
}

// Hydra tells no node count; where all ranks are local there is one node, else the count of equally full
// nodes.
void read_hydra(const Reader& reader, JobContext& context) {
    context.launcher = Launcher::hydra;
    context.rank = reader.number("PMI_RANK", 0);
    context.world_size = reader.number("PMI_SIZE", 1);
    context.local_rank = reader.number("MPI_LOCALRANKID", 0);
    context.local_size = std::max(1, reader.number("MPI_LOCALNRANKS", context.world_size));
    context.node_count = (context.world_size + context.local_size - 1) / context.local_size;
    context.node_index = std::min(context.rank / context.local_size, std::max(0, context.node_count - 1));
}

void read_slurm_job(const Reader& reader, JobContext& context) {
    context.slurm_job_id = reader.text("SLURM_JOB_ID");
    context.slurm_job_name = reader.text("SLURM_JOB_NAME");
    context.restart_count = reader.number("SLURM_RESTART_COUNT", 0);
    context.slurm_tasks = reader.number("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", 0);
}

}  // namespace

const char* to_string(Launcher launcher) {
    switch (launcher) {
        case Launcher::none:
            return "none";
        case Launcher::slurm:
            return "slurm";
        case Launcher::hydra:
            return "hydra";
        case Launcher::pmix:
            return "pmix";
    }
    return "unknown";
}

JobContext read_job_context(const Environment& environment, const std::string& host) {
    const Reader reader(environment);
    JobContext context;
    context.host = host;
    if (reader.has("SLURM_JOB_ID")) {
        read_slurm_job(reader, context);
    }
    // Slurm's pmi2 sets PMI_RANK as well: only hydra says MPI_LOCALRANKID. A batch script is a task without a
    // step.
    const bool step = reader.has("SLURM_STEP_ID") || reader.has("SLURM_STEPID");
    if (reader.has("MPI_LOCALRANKID") || (reader.has("PMI_RANK") && !step)) {
        read_hydra(reader, context);
    } else if (step && reader.has("SLURM_PROCID")) {
        read_slurm_step(reader, context);
    }
    return context;
}

void take_place(JobContext& context, const PmixPlace& place) {
    context.launcher = Launcher::pmix;
    context.rank = place.rank;
    context.world_size = place.world_size;
    context.local_rank = place.local_rank;
    context.local_size = static_cast<int>(place.local_peers.size());
    context.node_index = place.node_index;
    context.node_count = static_cast<int>(place.nodes.size());
}

JobContext find_job_context(const Environment& environment, const std::string& host) {
    JobContext context = read_job_context(environment, host);
    // Another launcher inside of a Slurm step has a name space of its own.
    const bool slurms_own = environment("PMIX_NAMESPACE").value_or("").starts_with("slurm.pmix.");
    if (context.launcher == Launcher::none || (context.launcher == Launcher::slurm && !slurms_own)) {
        if (const auto client = PmixClient::connect(environment)) {
            take_place(context, client->place());
        }
    }
    return context;
}

std::vector<int> expand_tasks_per_node(std::string_view text) {
    const auto fail = [&] {
        throw Error(ExitCode::environment, "not Slurm's form of tasks per node: '" + std::string(text) + "'",
                    "expected something like 2(x3),1");
    };
    constexpr std::size_t most_nodes = 1u << 20;
    std::vector<int> tasks;
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find(',', begin), text.size());
        const auto item = text.substr(begin, end - begin);
        const auto open = item.find("(x");
        const auto count = parse_count(item.substr(0, open));
        std::optional<int> repeat = 1;
        if (open != item.npos) {
            repeat = item.back() == ')' ? parse_count(item.substr(open + 2, item.size() - open - 3))
                                        : std::nullopt;
        }
        if (!count || !repeat || tasks.size() + static_cast<std::size_t>(*repeat) > most_nodes) {
            fail();
        }
        tasks.insert(tasks.end(), static_cast<std::size_t>(*repeat), *count);
        begin = end + 1;
    }
    return tasks;
}

void check_singleton(int mpi_size, const JobContext& context, const std::string& srun_mpi) {
    if (mpi_size == 1 && context.launcher == Launcher::pmix && context.world_size > 1) {
        throw Error(ExitCode::environment,
                    "a launcher started " + std::to_string(context.world_size) +
                        " processes through PMIx, but each is an MPI world of size 1 (this is process " +
                        std::to_string(context.rank) + " on " + context.host + "): MPICH here does not speak PMIx",
                    "start with MPICH's launcher: mpiexec.mpich -n " + std::to_string(context.world_size) +
                        " ..., or srun --mpi=" + srun_mpi + " ... (mpirun may be Open MPI's)");
    }
    if (mpi_size != 1 || context.slurm_tasks <= 1 || context.launcher == Launcher::hydra) {
        return;
    }
    const auto tasks = std::to_string(context.slurm_tasks);
    if (context.launcher == Launcher::slurm) {
        throw Error(ExitCode::environment,
                    "Slurm started " + tasks + " tasks, but each is an MPI world of size 1 (this is task " +
                        std::to_string(context.rank) + " on " + context.host +
                        "): srun and the MPI library speak different PMI",
                    "start the step with: srun --mpi=" + srun_mpi + " ...");
    }
    throw Error(ExitCode::environment,
                "the Slurm job has " + tasks + " tasks, but this process runs alone, outside of a step",
                "start it with: srun --mpi=" + srun_mpi + " ... (one task: srun -n1, or mpiexec -n 1)");
}

}  // namespace mastic::job
