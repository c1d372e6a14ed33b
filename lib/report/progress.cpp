#include <mastic/report/progress.hpp>

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

namespace mastic::report {
namespace {

constexpr Seconds rate_window{30};
constexpr std::string_view wipe_line = "\r\x1b[K";

}  // namespace

std::size_t terminal_width() {
    winsize size{};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return 80;
    }
    return size.ws_col;
}

bool writes_utf8(std::string_view lc_all, std::string_view lc_ctype, std::string_view lang) {
    std::string name(!lc_all.empty() ? lc_all : !lc_ctype.empty() ? lc_ctype : lang);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name.ends_with("utf-8") || name.ends_with("utf8");
}

Progress::Progress(Options options) : options_(std::move(options)) {}

Progress::~Progress() {
    if (visible_) {
        options_.write("\n");
    }
}

void Progress::update(const ProgressState& state) {
    state_ = state;
    unshown_ = true;
    const auto now = options_.now();
    remember(now);
    if (!last_shown_ && !options_.terminal) {
        last_shown_ = now;  // the log starts with a rate to tell
    }
    const Seconds every = options_.terminal ? options_.redraw_every : options_.log_every;
    if (!last_shown_ || Seconds(now - *last_shown_) >= every) {
        last_shown_ = now;
        draw();
    }
}

void Progress::remember(Clock::time_point now) {
    // A rollback or a new run in the same object.
    if (!window_.empty() && state_.samples < window_.back().samples) {
        window_.clear();
    }
    // Two samples are always kept, so that slow steps have a rate too.
    while (window_.size() > 2 && now - window_[1].at > rate_window) {
        window_.pop_front();
    }
    window_.push_back({now, state_.samples});
}

ProgressRate Progress::rate() const {
    ProgressRate result{std::numeric_limits<double>::quiet_NaN(), std::nullopt};
    if (window_.size() < 2) {
        return result;
    }
    const Seconds span = window_.back().at - window_.front().at;
    const auto samples = static_cast<double>(window_.back().samples - window_.front().samples);
    if (span.count() <= 0 || samples <= 0) {
        return result;
    }
    result.samples_per_s = samples / span.count();
    if (state_.planned_samples > 0) {
        const auto left =
            static_cast<double>(std::max<std::int64_t>(0, state_.planned_samples - state_.samples));
        result.remaining = Seconds(left / result.samples_per_s);
    }
    return result;
}

void Progress::draw() {
    unshown_ = false;
    if (!options_.terminal) {
        options_.log(progress_text(state_, rate()));
        return;
    }
    const std::size_t columns = options_.width();
    // The last column stays free: some terminals wrap when it is written.
    const std::size_t width = columns > 1 ? columns - 1 : 1;
    options_.write(std::string(wipe_line) + progress_line(state_, rate(), width, options_.unicode));
    visible_ = true;
}

void Progress::hide() {
    if (visible_) {
        options_.write(wipe_line);
        visible_ = false;
        last_shown_.reset();
    }
}

void Progress::finish() {
    if (unshown_) {
        draw();
    }
    if (visible_) {
        options_.write("\n");
        visible_ = false;
    }
}

}  // namespace mastic::report
