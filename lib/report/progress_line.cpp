#include <algorithm>
#include <cmath>
#include <vector>

#include <mastic/report/number_format.hpp>
#include <mastic/report/progress.hpp>
#include <mastic/report/utf8.hpp>

namespace mastic::report {
namespace {

constexpr std::size_t bar_at_most = 40;
constexpr std::size_t bar_at_least = 8;

double done_share(const ProgressState& state) {
    return std::clamp(static_cast<double>(state.samples) / static_cast<double>(state.planned_samples), 0.0,
                      1.0);
}

std::string repeated(std::string_view text, std::size_t count) {
    std::string result;
    for (std::size_t i = 0; i < count; ++i) {
        result += text;
    }
    return result;
}

// `width` columns.
std::string bar(double share, std::size_t width, bool unicode) {
    if (!unicode) {
        const std::size_t inside = width - 2;
        const auto full = static_cast<std::size_t>(share * static_cast<double>(inside));
        const std::string head = full < inside ? ">" : "";
        return "[" + repeated("=", full) + head + repeated(" ", inside - full - head.size()) + "]";
    }
    const auto halves = static_cast<std::size_t>(share * static_cast<double>(2 * width));
    const std::string half = halves % 2 == 1 ? "╸" : "";
    return repeated("━", halves / 2) + half + repeated("─", width - halves / 2 - (halves % 2));
}

std::string epoch_text(const ProgressState& state) {
    return "epoch " + std::to_string(state.epoch + 1) +
           (state.epochs > 0 ? "/" + std::to_string(state.epochs) : "");
}

// What follows the bar, the most important first.
struct Part {
    int place;  // from left to right
    std::string text;
};

std::vector<Part> parts_of(const ProgressState& state, const ProgressRate& rate) {
    std::vector<Part> parts;
    if (state.planned_samples > 0) {
        parts.push_back({1, percent(done_share(state), 0)});
    }
    parts.push_back({3, "loss " + significant(state.loss)});
    if (rate.remaining) {
        parts.push_back({5, human(*rate.remaining) + " left"});
    }
    if (std::isfinite(rate.samples_per_s)) {
        parts.push_back({4, scaled(rate.samples_per_s) + " samples/s"});
    }
    parts.push_back({2, "step " + grouped(state.step)});
    parts.push_back({0, epoch_text(state)});
    return parts;
}

std::string joined(std::vector<Part> parts) {
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.place < b.place; });
    std::string line;
    for (const Part& part : parts) {
        line += (line.empty() ? "" : "  ") + part.text;
    }
    return line;
}

std::vector<Part> fitting(const std::vector<Part>& parts, std::size_t width) {
    std::vector<Part> kept;
    for (const Part& part : parts) {
        kept.push_back(part);
        if (character_count(joined(kept)) > width) {
            kept.pop_back();
        }
    }
    return kept;
}

}  // namespace

std::string progress_text(const ProgressState& state, const ProgressRate& rate) {
    return joined(parts_of(state, rate));
}

std::string progress_line(const ProgressState& state, const ProgressRate& rate, std::size_t width,
                          bool unicode) {
    std::vector<Part> parts = fitting(parts_of(state, rate), width);
    const std::size_t used = character_count(joined(parts)) + 2;
    if (state.planned_samples > 0 && !parts.empty() && used + bar_at_least <= width) {
        const std::size_t length = std::min(bar_at_most, width - used);
        // Between the epoch and the percentage.
        for (Part& part : parts) {
            if (part.place == 1) {
                part.text = bar(done_share(state), length, unicode) + "  " + part.text;
            }
        }
    }
    return joined(std::move(parts));
}

}  // namespace mastic::report
