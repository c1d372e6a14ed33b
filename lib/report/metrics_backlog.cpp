#include <mastic/report/metrics_backlog.hpp>

#include <algorithm>

namespace mastic::report {
namespace {

constexpr std::size_t most_records = 4096;

std::int64_t step_of(const MetricsRecord& record) {
    return std::visit([](const auto& plain) { return plain.step; }, record);
}

template <class Record>
std::int64_t newest_step(const std::vector<Record>& records) {
    return records.empty() ? 0 : records.back().step;
}

}  // namespace

void MetricsBacklog::keep(const MetricsRecord& record) {
    if (std::holds_alternative<EventRecord>(record)) {
        return;
    }
    const std::int64_t step = step_of(record);
    auto tail = newest_.end();
    while (tail != newest_.begin() && step_of(*std::prev(tail)) >= step) {
        --tail;
    }
    const auto outdated = [&](const MetricsRecord& old) { return step_of(old) > step || old.index() == record.index(); };
    newest_.erase(std::remove_if(tail, newest_.end(), outdated), newest_.end());
    newest_.push_back(record);
    if (newest_.size() > most_records) {
        newest_.pop_front();
    }
}

void MetricsBacklog::hand_to(MetricsWriter& writer, const Metrics& written) {
    const std::int64_t steps = newest_step(written.steps);
    const std::int64_t evaluations = newest_step(written.evaluations);
    for (MetricsRecord& record : newest_) {
        const bool is_step = std::holds_alternative<StepRecord>(record);
        if (step_of(record) > (is_step ? steps : evaluations)) {
            std::visit([](auto& plain) { plain.time_s = 0; }, record);
            writer.write(record);
        }
    }
    newest_.clear();
}

}  // namespace mastic::report
