#include <mastic/schedule/manager/progress_watch.hpp>

#include <algorithm>
#include <fstream>
#include <string_view>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/job/run_directory.hpp>
#include <mastic/report/run_record.hpp>

namespace mastic::schedule {
namespace {

constexpr std::uintmax_t most_at_once = 16 << 20;   // bytes
constexpr std::uintmax_t enough_history = 1 << 16;  // of a run that was there before this manager

}  // namespace

std::optional<SteadyRun> SteadyRuns::add(const report::MetricsRecord& record) {
    if (const auto* event = std::get_if<report::EventRecord>(&record)) {
        if (event->kind == "resize" || event->kind == "start" || event->kind == "resume") {
            open_.reset();
        }
        return std::nullopt;
    }
    const auto* step = std::get_if<report::StepRecord>(&record);
    if (step == nullptr) {
        return std::nullopt;
    }
    if (!open_ || open_->nodes != step->world_size || step->time_s < open_->end_s) {
        open_ = Stretch{step->world_size, step->time_s, step->time_s, step->samples};
        return std::nullopt;
    }
    open_->end_s = step->time_s;
    const double seconds = open_->end_s - open_->begin_s;
    if (seconds < shortest_steady_run_s) {
        return std::nullopt;
    }
    const SteadyRun run{static_cast<int>(open_->nodes),
                        static_cast<double>(step->samples - open_->begin_samples) / seconds, seconds};
    open_ = Stretch{step->world_size, step->time_s, step->time_s, step->samples};
    return run;
}

std::vector<SteadyRun> ProgressWatch::look(double now_s) {
    std::vector<SteadyRun> found;
    has_news_ = false;
    read_steps(now_s, found);
    read_record();
    return found;
}

void ProgressWatch::read_steps(double now_s, std::vector<SteadyRun>& found) {
    const std::string text = read_more();
    const std::uintmax_t begin = read_ - text.size();
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        const auto record = report::parse_json_line(std::string_view(text).substr(at, end - at));
        const bool is_new = begin + at >= known_;
        at = end + 1;
        if (!record) {
            continue;
        }
        has_news_ |= is_new && !std::holds_alternative<report::EventRecord>(*record);
        if (const auto* step = std::get_if<report::StepRecord>(&*record)) {
            progress_.samples = step->samples;
            progress_.world_size = static_cast<int>(step->world_size);
            progress_.seen_s = now_s;
        }
        if (const auto run = runs_.add(*record); run && run->rate > 0) {
            progress_.samples_per_s = run->rate;
            found.push_back(*run);
        }
    }
    known_ = std::max(known_, read_);
}

// Whole lines only.
std::string ProgressWatch::read_more() {
    const auto path = job::RunDirectory(directory_).metrics_file();
    std::error_code not_there;
    const std::uintmax_t size = std::filesystem::file_size(path, not_there);
    if (not_there) {
        const bool never_was = not_there == std::errc::no_such_file_or_directory && !begun_ && known_ == 0;
        if (never_was) {
            return "";
        }
        throw_file_error("read", path, not_there.value());
    }
    if (size < std::max(read_, known_)) {  // another file
        read_ = known_ = 0;
    }
    const bool in_the_middle = !begun_ && size > enough_history;
    read_ = in_the_middle ? size - enough_history : read_;
    begun_ = true;
    std::string text(static_cast<std::size_t>(std::min(size - read_, most_at_once)), '\0');
    std::ifstream file(path, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(read_));
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file) {
        throw Error(ExitCode::io, "cannot read " + path.string());
    }
    text.resize(text.rfind('\n') + 1);  // npos + 1: nothing
    read_ += text.size();
    return in_the_middle ? text.substr(std::min(text.find('\n') + 1, text.size())) : text;
}

void ProgressWatch::read_record() {
    const auto path = job::RunDirectory(directory_).summary_file();
    std::error_code not_there;
    const auto written = std::filesystem::last_write_time(path, not_there);
    if (not_there || written == record_time_) {
        return;
    }
    const report::RunRecord record = report::read_run_record(path);
    const bool is_first = record_time_ == std::filesystem::file_time_type();
    has_news_ |= !is_first && record.samples > progress_.samples;  // who leaves says how far it came
    record_time_ = written;
    progress_.planned_samples = record.planned_samples;
    progress_.samples = std::max(progress_.samples, record.samples);
    progress_.exit_code = record.attempt.exit_code;
    progress_.exit_reason = record.attempt.reason;
    progress_.ended_s =
        record.attempt.ended ? static_cast<double>(record.attempt.ended->time_since_epoch().count()) : 0;
}

}  // namespace mastic::schedule
