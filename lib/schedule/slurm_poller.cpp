#include <mastic/schedule/slurm_poller.hpp>

#include <algorithm>

#include <spdlog/spdlog.h>

#include <mastic/core/error.hpp>
#include <mastic/schedule/slurm_answers.hpp>

namespace mastic::schedule {
namespace {

// As to be typed, without the `env` that takes the user's variables away.
std::string shown(const Command& command) {
    std::string text;
    for (auto word = std::ranges::find(command, "SLURM_TIME_FORMAT=%s"); word != command.end(); ++word) {
        const bool plain = word->find('|') == word->npos;
        text += (text.empty() ? "" : " ") + (plain ? *word : "'" + *word + "'");
    }
    return text;
}

const std::string& program_of(const Command& command) {
    return *(std::ranges::find(command, "SLURM_TIME_FORMAT=%s") + 1);
}

std::string answer_to(const Command& command, const CommandRunner& run, Seconds patience) {
    CommandResult result = run(command, patience);
    if (result.exit_code == 0) {
        return std::move(result.output);
    }
    const std::string why = result.exit_code == 127 ? "is not installed here"
                            : result.exit_code == 124
                                ? "did not answer within " + human(patience)
                                : "failed: " + result.error.substr(0, result.error.find('\n'));
    throw Error(ExitCode::environment, program_of(command) + " " + why,
                "is this a machine of the cluster, and does its Slurm controller run?");
}

void warn_of_odd_rows(const ClusterView& view) {
    if (view.odd_rows > 0) {
        spdlog::warn("{} rows of Slurm's answers are left out:\n{}", view.odd_rows, view.odd_text);
    }
}

void warn_of_hidden_jobs(const ClusterView& view) {
    if (view.hidden > 0) {
        spdlog::warn("squeue does not show the jobs on {} nodes in use: what others plan is not seen either",
                     view.hidden);
    }
}

Seconds spaced(Seconds answer_time, const PollerSettings& settings) {
    return std::max(settings.interval, answer_time / settings.share);
}

}  // namespace

std::string shown_commands() {
    const ViewCommands& commands = view_commands();
    std::string text;
    for (const Command* command : {&commands.jobs, &commands.nodes, &commands.reservations}) {
        text += "  " + shown(*command) + "\n";
    }
    return text;
}

std::string describe_polling(const PollerSettings& settings) {
    return "every " + human(settings.interval) + ", or less often if Slurm answers slowly:\n" +
           shown_commands();
}

void warn_of(const ClusterView& view) {
    warn_of_odd_rows(view);
    warn_of_hidden_jobs(view);
}

ClusterView ask_slurm(const CommandRunner& run, TimePoint now, Seconds patience) {
    const ViewCommands& commands = view_commands();
    ViewAnswers answers;
    answers.jobs = answer_to(commands.jobs, run, patience);
    answers.nodes = answer_to(commands.nodes, run, patience);
    answers.reservations = answer_to(commands.reservations, run, patience);
    ClusterView view = make_view(answers, now);
    if (view.nodes.empty()) {
        throw Error(ExitCode::environment, "Slurm names no node: is that the answer of " + shown(commands.nodes) + "?");
    }
    return view;
}

std::vector<ClusterNode> ask_slurm_nodes(const CommandRunner& run, Seconds patience) {
    OddRows odd("sinfo", false);
    return parse_nodes(answer_to(view_commands().nodes, run, patience), odd);
}

SlurmPoller::SlurmPoller(CommandRunner run, const PollerSettings& settings, PollerClocks clocks)
    : run_(std::move(run)), settings_(settings), clocks_(std::move(clocks)) {}

bool SlurmPoller::poll() {
    const std::unique_lock asking(asking_, std::try_to_lock);
    if (!asking.owns_lock() || until_due() > Seconds(0)) {
        return false;
    }
    const auto begin = clocks_.steady();
    try {
        succeeded(ask_slurm(run_, clocks_.wall(), settings_.patience), begin);
        return true;
    } catch (const Error& error) {
        failed(error.what(), begin);
        return false;
    }
}

Seconds SlurmPoller::until_due() const {
    const std::lock_guard lock(state_);
    return due_ ? std::max(Seconds(0), Seconds(*due_ - clocks_.steady())) : Seconds(0);
}

std::shared_ptr<const ClusterView> SlurmPoller::view() const {
    const std::lock_guard lock(state_);
    return view_;
}

std::optional<Seconds> SlurmPoller::age() const {
    const std::lock_guard lock(state_);
    return view_ ? std::optional(Seconds(clocks_.steady() - view_at_)) : std::nullopt;
}

std::string SlurmPoller::problem() const {
    const std::lock_guard lock(state_);
    return problem_;
}

void SlurmPoller::succeeded(ClusterView view, Steady::time_point begin) {
    const std::lock_guard lock(state_);
    if (!view_) {
        spdlog::info("asking Slurm {}", describe_polling(settings_));
    } else if (failures_ > 0) {
        spdlog::info("Slurm answers again");
    }
    if (!view_ || view_->odd_rows == 0) {  // once is enough
        warn_of_odd_rows(view);
    }
    hidden_views_ = view.hidden > 0 ? hidden_views_ + 1 : 0;
    if (hidden_views_ == 2) {  // a job that starts between two commands is hidden once
        warn_of_hidden_jobs(view);
    }
    view_ = std::make_shared<const ClusterView>(std::move(view));
    view_at_ = begin;
    failures_ = 0;
    problem_.clear();
    const Seconds answer_time = clocks_.steady() - begin;
    next_after(spaced(answer_time, settings_), begin, "it took " + human(answer_time) + " to answer");
}

void SlurmPoller::failed(const std::string& problem, Steady::time_point begin) {
    const std::lock_guard lock(state_);
    constexpr int most_doublings = 20;
    failures_ = std::min(failures_ + 1, most_doublings);
    problem_ = problem;
    const Seconds backed_off = settings_.interval * static_cast<double>(1 << failures_);
    next_after(std::min(std::max(settings_.interval, settings_.longest), backed_off), begin, problem);
}

void SlurmPoller::next_after(Seconds interval, Steady::time_point begin, const std::string& why) {
    due_ = begin + std::chrono::duration_cast<Steady::duration>(interval);
    const bool longer = interval > 2 * std::max(told_interval_, settings_.interval);
    const bool shorter = told_interval_ > settings_.interval && interval <= settings_.interval;
    if (longer || shorter || (failures_ == 1)) {
        spdlog::info("asking Slurm again {} after the last time: {}", human(interval), why);
        told_interval_ = interval;
    }
}

}  // namespace mastic::schedule
