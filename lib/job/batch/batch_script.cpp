#include <mastic/job/batch/batch_script.hpp>

#include <cmath>

#include <mastic/job/batch/shell_words.hpp>

namespace mastic::job {
namespace {

struct Work {
    const char* program;
    const char* job_name;
    const char* log;
    const char* about;
    const char* usage;
    const char* arguments;  // sets `run`
};

// Between @ signs: what batch_script fills in.
constexpr const char* find_program = R"(
# @PROGRAM@ of PATH, else of the repository that this script belongs to, or in which sbatch was called.
if ! command -v @PROGRAM@ >/dev/null; then
  repository=$(scontrol show job "$SLURM_JOB_ID" | sed -n 's,^ *Command=\(.*\)/slurm/[^/]*[.]sbatch.*,\1,p') || true
  PATH=$PATH:${repository%%$'\n'*}/build/release/bin:$SLURM_SUBMIT_DIR/build/release/bin
fi
)";

// From the first line on: a signal that comes before the ranks do is kept for them.
constexpr const char* pass_signals_on = R"(
# srun works beside this shell, so that a signal to the script reaches the ranks at once.
signal=none
forward() {
  signal=$1 interrupted=yes
  [ -z "${ranks:-}" ] || kill -s "$1" "$ranks" 2>/dev/null || true
}
trap 'forward TERM' TERM
trap 'forward USR1' USR1
trap 'forward USR2' USR2
)";

constexpr const char* train_about =
    R"(# Trains on all nodes of the job. When the time is over or the job is preempted it saves, and goes on in a next job.
)";

constexpr const char* sweep_about =
    R"(# One training for each line of a file, as a job array. A line holds options, such as: --optimizer.learning_rate 0.1
# Line N of rates.txt runs in runs/rates/N; `mastic-train compare runs/rates/*` shows all side by side.
)";

constexpr const char* tune_about =
    R"(# Finds the fastest collectives for the nodes of the job, and for fewer of them.
# It writes tuning.json (or --tune.output) where sbatch was called; trainings use it with --allreduce.tuning tuning.json.
)";

constexpr const char* pilot_about =
    R"(# Founds an elastic training in RUN_DIR, or joins the one that is there: on one node, without MPI. Submit as many as you like,
# where you like. When its time is over or it is preempted it leaves, the others go on, and it comes again in a next job.
)";

constexpr const char* mps_about =
    R"(# Trains with several ranks on each GPU: as many as short trials find best. The next jobs of the run find that in a cache.
)";

constexpr const char* share_about = R"(# Runs a program with several ranks on each GPU.
)";

constexpr const char* manage_about =
    R"(# Fills idle nodes with the trainings of STATE_DIR (mastic-rescale submit). One core of one node is enough for it. When its
# time is over, the same job comes again by itself two minutes later; the trainings go on meanwhile.
)";

constexpr const char* train_arguments = R"(run=(@ARGUMENTS@"$@"))";

constexpr const char* sweep_arguments = R"(sweep=$1
task=${SLURM_ARRAY_TASK_ID:?is not set: start this with sbatch --array=1-N}
line=$(sed -n "${task}p" "$sweep")
line=${line%$'\r'} # written on Windows
if [ -z "${line//[[:space:]]/}" ]; then
  echo "$sweep has no line $task, or an empty one: sbatch --array=1-$(grep -c '' "$sweep") ..." >&2
  exit 2
fi
read -ra flags <<<"$line"
name=$(basename "${sweep%.*}")
run=(@ARGUMENTS@"${@:2}" "${flags[@]}" --run.dir "runs/$name/$task"))";

constexpr const char* pilot_arguments = R"(run=(@ARGUMENTS@"${@:2}" --elastic.join "${1:?give the run directory first}"))";

// Ranks end together; a task whose end Slurm has lost is waited for no longer than that.
constexpr const char* train_start =
    R"(srun --mpi="$mpi" --export=ALL --kill-on-bad-exit=1 --wait=120 mastic-train "${run[@]}")";

constexpr const char* sharing_that_starts_srun =
    R"(mastic-mps @SHARING@--srun-mpi "$mpi" -- @SHARED@ "${run[@]}")";
constexpr const char* sharing_under_srun =
    R"(srun --mpi="$mpi" --export=ALL --kill-on-bad-exit=1 --wait=120 mastic-mps @SHARING@-- @SHARED@ "${run[@]}")";

// `wait` ends early, with the number of the signal, whenever a trap runs; asked again it gives the code of srun.
constexpr const char* run_ranks = R"(
started=$(date +%s)
@MPI@
@START@ &
ranks=$!
[ "$signal" = none ] || forward "$signal" # it came before them
code=0
interrupted=yes
while [ -n "$interrupted" ]; do # a signal ends `wait`, but not the ranks
  interrupted=
  wait "$ranks" && code=0 || code=$?
done
)";

constexpr const char* settle = R"(
# Completes run.json, submits this script again if the run has stopped with a checkpoint, and ends with the run's code.
exec mastic-train settle "${run[@]}" "$code" "$started" "$signal" -- "$0" "$@"
)";

// The manager that submitted this job looks for the file when the job is gone.
constexpr const char* leave_code = R"(
echo "ended after $(($(date +%s) - started)) s with code $code"
end=@CODE_FILE_PREFIX@$SLURM_JOB_ID
echo "$code" >"$end.tmp"
mv "$end.tmp" "$end.code"
exit "$code"
)";

constexpr const char* share_work = R"(
@MPI@
exec @START@
)";

constexpr const char* tune_work = R"(
@MPI@
exec srun --mpi="$mpi" --export=ALL --kill-on-bad-exit=1 mastic-tune run @ARGUMENTS@"$@"
)";

// Under srun, because in a grace time before a preemption only steps get SIGTERM. After scancel the job is not RUNNING.
constexpr const char* manage_work = R"bash(
code=0
srun --ntasks=1 --export=ALL mastic-rescale serve @ARGUMENTS@"$@" || code=$?
if [ "$code" = 75 ] && [ "$(squeue --noheader --jobs "$SLURM_JOB_ID" --format %T)" = RUNNING ]; then
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
)bash";

const Work& description(BatchWork work) {
    static const Work train{"mastic-train",
                            "mastic-train",
                            "%x-%j.log",
                            train_about,
                            "sbatch slurm/train.sbatch CONFIG.toml [--section.key VALUE]...",
                            train_arguments};
    static const Work sweep{
        "mastic-train",
        "mastic-sweep",
        "%x-%A_%a.log",
        sweep_about,
        "sbatch --array=1-8 slurm/train-array.sbatch rates.txt CONFIG.toml [--section.key VALUE]...",
        sweep_arguments};
    static const Work tune{"mastic-tune",
                           "mastic-tune",
                           "%x-%j.log",
                           tune_about,
                           "sbatch slurm/tune.sbatch [--section.key VALUE]...",
                           ""};
    static const Work pilot{"mastic-train",
                            "mastic-pilot",
                            "%x-%j.log",
                            pilot_about,
                            "sbatch slurm/pilot.sbatch RUN_DIR CONFIG.toml [--section.key VALUE]...",
                            pilot_arguments};
    static const Work mps{"mastic-train",
                          "mastic-mps",
                          "%x-%j.log",
                          mps_about,
                          "sbatch slurm/mps.sbatch CONFIG.toml [--section.key VALUE]...",
                          train_arguments};
    static const Work share{"mastic-mps",
                            "mastic-mps",
                            "%x-%j.log",
                            share_about,
                            "sbatch SCRIPT [ARGUMENT]...",
                            train_arguments};
    static const Work manage{"mastic-rescale",
                             "mastic-rescale",
                             "%x-%j.log",
                             manage_about,
                             "sbatch slurm/rescale.sbatch STATE_DIR [--config SITE.toml] [--section.key VALUE]...",
                             ""};
    switch (work) {
        case BatchWork::manage: return manage;
        case BatchWork::train: return train;
        case BatchWork::sweep: return sweep;
        case BatchWork::tune: return tune;
        case BatchWork::mps: return mps;
        case BatchWork::share: return share;
        case BatchWork::pilot: break;
    }
    return pilot;
}

void replace_all(std::string& text, const std::string& word, const std::string& by) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + by.size())) {
        text.replace(at, word.size(), by);
    }
}

// Slurm's form, to full minutes: it knows nothing finer.
std::string slurm_time(Seconds time) {
    const auto minutes = static_cast<long long>(std::ceil(time.count() / 60));
    const std::string rest = std::to_string(minutes % 60);
    return std::to_string(minutes / 60) + ":" + (rest.size() < 2 ? "0" : "") + rest + ":00";
}

class Directives {
  public:
    void add(const std::string& option) { text_ += "#SBATCH " + option + "\n"; }
    void add(const std::string& option, const std::string& value) { add(option + "=" + value); }
    void number(const std::string& option, std::int64_t value) {
        if (value > 0) {
            add(option, std::to_string(value));
        }
    }
    // A line to be completed where there is no value.
    void word(const std::string& option, const std::string& value) {
        if (value.empty()) {
            text_ += "##SBATCH " + option + "=NAME\n";
        } else {
            add(option, value);
        }
    }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
};

std::string directives(const BatchRequest& request, const Work& work) {
    const SlurmOptions& options = request.options;
    Directives lines;
    lines.word("--partition", options.partition);
    lines.word("--account", options.account);
    lines.number("--nodes", options.nodes);
    lines.number("--ntasks-per-node", options.ranks_per_node);
    lines.number("--cpus-per-task", options.cpus_per_rank);
    lines.number("--gpus-per-node", options.gpus_per_node);
    if (options.exclusive) {
        lines.add("--exclusive");
    }
    if (options.time.count() > 0) {
        lines.add("--time", slurm_time(options.time));
    }
    lines.add("--job-name", options.job_name.empty() ? work.job_name : options.job_name);
    if (!request.working_directory.empty()) {
        lines.add("--chdir", shell_word(request.working_directory));
    }
    lines.add("--output", work.log);
    lines.add("--open-mode=append");
    const bool once = request.work == BatchWork::tune || request.work == BatchWork::share ||
                      !request.code_file_prefix.empty();
    lines.add(once ? "--no-requeue" : "--requeue");
    if (request.work == BatchWork::manage) {
        lines.add("--signal=USR1@60");
    }
    for (const std::string& line : options.extra) {
        lines.add(line);
    }
    return lines.text();
}

std::string notes_text(const std::vector<std::string>& notes) {
    std::string text;
    for (const std::string& note : notes) {
        text += "# " + note + "\n";
    }
    return text;
}

std::string setup(const BatchRequest& request, const Work& work) {
    std::string text = request.program_directory.empty()
                           ? std::string(find_program)
                           : "\nPATH=" + shell_word(request.program_directory) + ":$PATH\n";
    if (request.options.cpus_per_rank > 0) {
        text += "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK # srun does not take it from the job\n";
    }
    replace_all(text, "@PROGRAM@", work.program);
    return text;
}

std::string work_of(const BatchRequest& request, const Work& work) {
    if (request.work == BatchWork::tune) {
        return tune_work;
    }
    if (request.work == BatchWork::manage) {
        return manage_work;
    }
    // Arguments that were found out before name the directory already.
    const bool names_run = request.work == BatchWork::pilot && !request.arguments.empty();
    const std::string arguments = std::string("\n") + (names_run ? train_arguments : work.arguments) + "\n";
    if (request.work == BatchWork::share) {
        return arguments + share_work;
    }
    return arguments + run_ranks + (request.code_file_prefix.empty() ? settle : leave_code);
}

// Words that others follow.
std::string leading_words(const std::vector<std::string>& words) {
    return words.empty() ? "" : shell_text(words) + " ";
}

std::string start_of(const BatchRequest& request) {
    if (request.work != BatchWork::mps && request.work != BatchWork::share) {
        return train_start;
    }
    std::string start = request.sharing.starts_ranks ? sharing_that_starts_srun : sharing_under_srun;
    replace_all(start, "@SHARING@", leading_words(request.sharing.options));
    replace_all(start, "@SHARED@", shell_word(request.sharing.program));
    return start;
}

// `settle` is what signals are for; the others become srun, or end with it.
bool handles_signals(BatchWork work) {
    return work != BatchWork::tune && work != BatchWork::manage && work != BatchWork::share;
}

}  // namespace

std::string batch_script(const BatchRequest& request) {
    const Work& work = description(request.work);
    const std::string& mpi = request.options.mpi;
    std::string body = work_of(request, work);
    replace_all(body, "@START@", start_of(request));
    replace_all(body, "@CODE_FILE_PREFIX@", shell_word(request.code_file_prefix));
    replace_all(body, "@MPI@",
                mpi == "auto" ? std::string("mpi=$(") + work.program + " --print-mpi)" : "mpi=" + mpi);
    replace_all(body, "@ARGUMENTS@", leading_words(request.arguments));
    return std::string("#!/usr/bin/env bash\n") + work.about +
           (request.program_directory.empty() ? std::string("#   ") + work.usage + "\n" : "") +
           notes_text(request.notes) + directives(request, work) + "set -euo pipefail\n" +
           (handles_signals(request.work) ? pass_signals_on : "") + setup(request, work) + body;
}

BatchRequest general_batch_request(BatchWork work) {
    BatchRequest request;
    request.work = work;
    const bool pilot = work == BatchWork::pilot;
    request.options.nodes = pilot || work == BatchWork::sweep ? 1 : 4;
    if (pilot) {
        request.options.mpi = "none";
    }
    if (work == BatchWork::mps) {
        request.options.nodes = 1;
        request.options.gpus_per_node = 1;
    }
    if (work == BatchWork::manage) {
        request.options.nodes = 1;
        request.options.cpus_per_rank = 1;
        request.options.exclusive = false;
        request.options.time = Seconds{86'400};
    }
    request.notes = {std::string("Edit here: partition and account (take one # away), ") + (pilot || work == BatchWork::manage ? "time." : "nodes, time.")};
    return request;
}

}  // namespace mastic::job
