#include <mastic/schedule/manager/pilot_fleet.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/job/batch/batch_script.hpp>
#include <mastic/job/batch/resubmission.hpp>

namespace mastic::schedule {
namespace {

constexpr Seconds for_an_answer{60};

double seconds_since_1970(job::TimePoint time) { return Seconds(time.time_since_epoch()).count(); }

std::vector<Pilot> pilots_in(const ClusterView& view, const std::string& user, const std::string& state_id,
                             double now_s) {
    std::vector<Pilot> pilots;
    for (const RunningJob& job : view.running) {
        if (const auto training = training_of_pilot(job.name, state_id); training && job.user == user) {
            pilots.push_back({job.id, *training, job.nodes.empty() ? "" : job.nodes.front(),
                              Pilot::State::running, now_s, now_s, true, job.end ? seconds_since_1970(*job.end) : 0, ""});
        }
    }
    for (const QueuedJob& job : view.pending) {
        if (const auto training = training_of_pilot(job.name, state_id); training && job.user == user) {
            pilots.push_back({job.id, *training, job.required.empty() ? "" : job.required.front(),
                              Pilot::State::pending, now_s, now_s, false, 0, job.reason});
        }
    }
    return pilots;
}

// Slurm counts in minutes.
std::string minutes(Seconds time) {
    return std::to_string(std::max(1L, std::lround(std::floor(time.count() / 60))));
}

bool is_done(int code) {
    return code == 0 || code == static_cast<int>(ExitCode::requeue);
}

}  // namespace

PilotFleet::PilotFleet(PilotOptions options, Owner owner, CommandRunner run)
    : options_(std::move(options)), owner_(std::move(owner)), run_(std::move(run)) {}

void PilotFleet::remember(std::vector<Pilot> pilots) {
    pilots_.insert(pilots_.end(), pilots.begin(), pilots.end());
    std::ranges::stable_sort(pilots_, {}, &Pilot::submitted_s);
}

std::vector<Pilot> PilotFleet::pilots_of(const std::string& training) const {
    std::vector<Pilot> pilots;
    std::ranges::copy_if(pilots_, std::back_inserter(pilots),
                         [&](const Pilot& pilot) { return pilot.training == training; });
    return pilots;
}

std::set<std::string> PilotFleet::jobs() const {
    std::set<std::string> jobs;
    for (const Pilot& pilot : pilots_) {
        jobs.insert(pilot.job);
    }
    return jobs;
}

Pilot* PilotFleet::find(const std::string& job) {
    const auto found = std::ranges::find(pilots_, job, &Pilot::job);
    return found == pilots_.end() ? nullptr : &*found;
}

FleetChange PilotFleet::update(const ClusterView& view, double now_s) {
    FleetChange change;
    std::vector<Pilot> present = pilots_in(view, owner_.user, owner_.state_id, now_s);
    for (Pilot& pilot : present) {
        const Pilot* known = find(pilot.job);
        const bool started =
            pilot.state == Pilot::State::running && (!known || known->state == Pilot::State::pending);
        if (known) {
            pilot.submitted_s = known->submitted_s;
            pilot.started |= known->started;
            const bool told = known->state == Pilot::State::leaving;
            if (told || known->state == pilot.state) {
                pilot.state = known->state;
                pilot.since_s = known->since_s;
            }
        }
        if (started) {
            change.started.push_back(pilot);
        }
    }
    for (const Pilot& pilot : pilots_) {
        if (std::ranges::find(present, pilot.job, &Pilot::job) == present.end()) {
            change.ended.push_back({pilot, take_code(pilot)});
        }
    }
    std::ranges::stable_sort(present, {}, &Pilot::submitted_s);
    pilots_ = std::move(present);
    return change;
}

std::filesystem::path PilotFleet::log_file(const Pilot& pilot) const {
    return file_prefix(pilot.training).string() + pilot.job + ".log";
}

// The log of one that ended badly stays.
std::optional<int> PilotFleet::take_code(const Pilot& pilot) const {
    const std::filesystem::path file = file_prefix(pilot.training).string() + pilot.job + ".code";
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
        return std::nullopt;
    }
    const std::string text = read_text_file(file);
    int code = 0;
    const bool read = std::from_chars(text.data(), text.data() + text.size(), code).ec == std::errc();
    std::filesystem::remove(file, ignored);
    if (read && is_done(code)) {
        std::filesystem::remove(log_file(pilot), ignored);
    }
    return read ? std::optional(code) : std::nullopt;
}

std::string PilotFleet::write_script(const Training& training) const {
    job::BatchRequest request;
    request.work = job::BatchWork::pilot;
    request.options.nodes = 1;
    request.options.mpi = "none";
    request.options.time = options_.longest;
    request.options.partition = options_.partition;
    request.options.account = options_.account;
    request.options.job_name = pilot_name(training.id, owner_.state_id);
    request.options.extra = options_.options;
    request.arguments = {training.order.config};
    request.arguments.insert(request.arguments.end(), training.order.arguments.begin(),
                             training.order.arguments.end());
    request.arguments.insert(request.arguments.end(), {"--elastic.join", training.order.run_directory});
    request.program_directory = owner_.program_directory.string();
    request.working_directory = training.order.directory;
    request.code_file_prefix = file_prefix(training.id).string();
    request.notes = {"Written by mastic-rescale serve, which submits it."};
    const std::string text = job::batch_script(request);
    const std::filesystem::path file = owner_.folder / (training.id + ".sbatch");
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored) || read_text_file(file) != text) {
        write_file_atomically(file, text, 0600);
    }
    return file.string();
}

std::vector<std::string> PilotFleet::sbatch(const Training& training, const std::string& node, Seconds limit,
                                            const std::string& script) const {
    // Where other jobs wait, Slurm 22.05 gives hardly more than the least that is asked for.
    const Seconds least = std::max(std::min(limit, options_.shortest), limit / 2);
    std::vector<std::string> command = {"sbatch",
                                        "--parsable",
                                        "--nodelist=" + node,
                                        "--time=" + minutes(limit),
                                        "--time-min=" + minutes(least),
                                        "--output=" + file_prefix(training.id).string() + "%j.log"};
    if (!options_.qos.empty()) {
        command.push_back("--qos=" + options_.qos);
    }
    if (options_.nice != 0) {
        command.push_back("--nice=" + std::to_string(options_.nice));
    }
    command.push_back(script);
    return command;
}

Pilot PilotFleet::submit(const Training& training, const std::string& node, std::optional<Seconds> node_life,
                         double now_s) {
    const Seconds limit = std::min(options_.longest, node_life.value_or(options_.longest));
    const std::string job = job::submit(sbatch(training, node, limit, write_script(training)), run_);
    pilots_.push_back({job, training.id, node, Pilot::State::pending, now_s, now_s, false, 0, ""});
    return pilots_.back();
}

// With --quiet, scancel fails without a word for jobs that have ended meanwhile.
std::string PilotFleet::cancel(std::vector<std::string> command, const std::vector<std::string>& jobs) const {
    if (jobs.empty()) {
        return "";
    }
    command.insert(command.end(), jobs.begin(), jobs.end());
    const CommandResult result = run_(command, for_an_answer);
    if (result.exit_code == 0 || (result.exit_code != 124 && result.error.empty())) {
        return "";
    }
    return "scancel: " + (result.exit_code == 124 ? "no answer within a minute"
                                                  : result.error.substr(0, result.error.find('\n')));
}

// The signal goes to the batch shell, which keeps it for ranks that have not started yet; a step that starts would miss it.
std::string PilotFleet::send_away(const std::vector<std::string>& jobs, double now_s) {
    std::vector<std::string> running, pending;
    for (const std::string& job : jobs) {
        Pilot* pilot = find(job);
        if (pilot == nullptr || pilot->state == Pilot::State::leaving) {
            continue;
        }
        (pilot->state == Pilot::State::running ? running : pending).push_back(job);
        pilot->state = Pilot::State::leaving;
        pilot->since_s = now_s;
    }
    const std::string complaint = cancel({"scancel", "--quiet", "--batch", "--signal=TERM"}, running);
    const std::string other = cancel({"scancel", "--quiet"}, pending);
    return complaint.empty() ? other : complaint;
}

std::string PilotFleet::insist(double now_s) {
    std::vector<std::string> late;
    std::vector<std::string> waiting;
    for (Pilot& pilot : pilots_) {
        if (pilot.state == Pilot::State::leaving && now_s - pilot.since_s > options_.grace.count()) {
            late.push_back(pilot.job);
            pilot.since_s = now_s;
        } else if (pilot.state == Pilot::State::pending &&
                   now_s - pilot.since_s > options_.patience.count()) {
            waiting.push_back(pilot.job);
        }
    }
    const std::string complaint = cancel({"scancel", "--quiet"}, late);
    const std::string other = send_away(waiting, now_s);
    return complaint.empty() ? other : complaint;
}

}  // namespace mastic::schedule
