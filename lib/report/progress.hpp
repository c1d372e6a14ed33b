// The progress of a training for people: a line rewritten in place on a terminal, else a line in the log
// every 10 s.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <mastic/core/duration.hpp>

namespace mastic::report {

struct ProgressState {
    std::int64_t epoch = 0;   // from 0
    std::int64_t epochs = 0;  // 0: unknown
    std::int64_t step = 0;
    std::int64_t samples = 0;          // seen, over all restarts
    std::int64_t planned_samples = 0;  // 0: unknown, no bar and no remaining time
    double loss = 0;
};

struct ProgressRate {
    double samples_per_s = 0;          // not a number: not known yet
    std::optional<Seconds> remaining;  // none: not known
};

// "epoch 2/10  ━━━━━╸─────  42 %  step 1,234  loss 0.345  12.3k samples/s  1 min 05 s left", never wider than
// `width` columns: the bar shrinks, then the least important parts go. `unicode` false: the bar is "[=====>
// ]".
std::string progress_line(const ProgressState& state, const ProgressRate& rate, std::size_t width,
                          bool unicode);

// The same without a bar, for logs.
std::string progress_text(const ProgressState& state, const ProgressRate& rate);

// Columns of the terminal behind standard error; 80 if it is none.
std::size_t terminal_width();

// True if the locale of the environment values (LC_ALL, LC_CTYPE, LANG, in that order; empty: not set) writes
// UTF-8.
bool writes_utf8(std::string_view lc_all, std::string_view lc_ctype, std::string_view lang);

class Progress {
  public:
    using Clock = std::chrono::steady_clock;

    struct Options {
        bool terminal = false;
        bool unicode = true;
        std::function<Clock::time_point()> now = Clock::now;
        std::function<void(std::string_view)> write;  // raw bytes to the terminal
        std::function<void(std::string_view)> log;    // one line to the log
        std::function<std::size_t()> width = terminal_width;
        Seconds redraw_every{0.1};
        Seconds log_every{10};
    };

    explicit Progress(Options options);
    // Leaves the terminal on a fresh line.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // Cheap if called for each step: draws only when it is time.
    void update(const ProgressState& state);
    // Wipes the line, so that a message can be written; the next update draws it again.
    void hide();
    // Shows the last state and ends the line.
    void finish();

    // Speed over the last 30 s, by the injected clock.
    ProgressRate rate() const;

  private:
    struct Sample {
        Clock::time_point at;
        std::int64_t samples;
    };
    void remember(Clock::time_point now);
    void draw();

    Options options_;
    ProgressState state_;
    std::deque<Sample> window_;
    std::optional<Clock::time_point> last_shown_;
    bool visible_ = false;
    bool unshown_ = false;
};

}  // namespace mastic::report
