#include <mastic/report/metrics.hpp>

#include <algorithm>
#include <fstream>

#include <mastic/core/error.hpp>

namespace mastic::report {
namespace {

// Puts records in order of step while they arrive in order of writing.
class Timeline {
  public:
    void add(StepRecord record) {
        // Steps are written in order, so a clock that jumps back means a restart even if its event was lost.
        if (record.time_s < last_step_raw_s_) {
            before_s_ = newest_s_;
        }
        last_step_raw_s_ = record.time_s;
        record.time_s = total_time(record.time_s);
        if (!metrics_.steps.empty() && metrics_.steps.back().step >= record.step) {
            rewind_to(record.step - 1);
        }
        metrics_.steps.push_back(std::move(record));
    }

    void add(EvaluationRecord record) {
        record.time_s = total_time(record.time_s);
        drop_after(metrics_.evaluations, record.step);
        drop_after(metrics_.evaluations, record.step - 1,
                   [&](const EvaluationRecord& old) { return old.split == record.split; });
        metrics_.evaluations.push_back(std::move(record));
    }

    void add(EventRecord record) {
        if (record.kind == "start") {
            newest_s_ = 0;
        }
        if (record.kind == "resume" || record.kind == "start") {
            before_s_ = newest_s_;
            last_step_raw_s_ = 0;
            rewind_to(record.step);
        }
        record.time_s = total_time(record.time_s);
        metrics_.events.push_back(std::move(record));
    }

    void count_damaged() { ++metrics_.damaged_lines; }
    Metrics take() { return std::move(metrics_); }

  private:
    double total_time(double raw_s) {
        newest_s_ = std::max(newest_s_, before_s_ + raw_s);
        return before_s_ + raw_s;
    }

    void rewind_to(std::int64_t step) {
        drop_after(metrics_.steps, step);
        drop_after(metrics_.evaluations, step);
    }

    template <class Record>
    void drop_after(std::vector<Record>& records, std::int64_t step) {
        drop_after(records, step, [](const Record&) { return true; });
    }

    // Records are sorted by step, so only the tail is looked at.
    template <class Record, class Condition>
    void drop_after(std::vector<Record>& records, std::int64_t step, Condition&& outdated) {
        const auto tail = std::upper_bound(records.begin(), records.end(), step,
                                           [](std::int64_t at, const Record& old) { return at < old.step; });
        const auto keep = std::remove_if(tail, records.end(), outdated);
        metrics_.rewound_records += static_cast<std::size_t>(records.end() - keep);
        records.erase(keep, records.end());
    }

    Metrics metrics_;
    double before_s_ = 0;
    double last_step_raw_s_ = 0;
    double newest_s_ = 0;
};

}  // namespace

void MetricsWriter::write(const MetricsRecord& record) {
    writer_.write_line(to_json_line(record));
}

Metrics parse_metrics(std::string_view text) {
    Timeline timeline;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.empty()) {
            continue;
        }
        if (auto record = parse_json_line(line)) {
            std::visit([&](auto& plain) { timeline.add(std::move(plain)); }, *record);
        } else {
            timeline.count_damaged();
        }
    }
    return timeline.take();
}

Metrics read_metrics(const std::filesystem::path& path, std::uint64_t last_bytes) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file || !std::filesystem::is_regular_file(path)) {
        throw Error(ExitCode::io, "cannot read " + path.string(), "is this the directory of a run?");
    }
    const auto size = static_cast<std::uint64_t>(file.tellg());
    const std::uint64_t start = size > last_bytes ? size - last_bytes : 0;
    file.seekg(static_cast<std::streamoff>(start));
    std::string text(size - start, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (start > 0) {
        text.erase(0, std::min(text.size(), text.find('\n')));
    }
    return parse_metrics(text);
}

}  // namespace mastic::report
