// What a training does, by the files in its run directory: no connection to it is needed, and a manager that starts anew reads
// on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <mastic/report/metrics.hpp>

namespace mastic::schedule {

inline constexpr double shortest_steady_run_s = 20;

// A stretch in which the same number of nodes trained without a change.
struct SteadyRun {
    int nodes = 0;
    double rate = 0;  // samples per second
    double seconds = 0;
};

// Cuts the records of a run into such stretches, none shorter than that; the step in which a change falls is in none.
class SteadyRuns {
  public:
    // A record of the run, in their order. Returns a stretch that it completes.
    std::optional<SteadyRun> add(const report::MetricsRecord& record);

  private:
    struct Stretch {
        std::int64_t nodes;
        double begin_s;
        double end_s;
        std::int64_t begin_samples;
    };
    std::optional<Stretch> open_;
};

struct Progress {
    std::int64_t samples = 0;
    std::int64_t planned_samples = 0;  // 0: not known
    int world_size = 0;                // at the newest step
    double seen_s = 0;                 // when that step was first seen
    double samples_per_s = 0;          // of the newest stretch
    std::optional<int> exit_code;      // of the newest start, once it has ended
    std::string exit_reason;
    double ended_s = 0;  // seconds since 1970
};

class ProgressWatch {
  public:
    // `known`: bytes of metrics.jsonl that an earlier manager has read; they are no news.
    explicit ProgressWatch(std::filesystem::path run_directory, std::uintmax_t known = 0)
        : directory_(std::move(run_directory)), known_(known) {}

    // Reads what has been added. A run that has written nothing yet has no progress. Throws Error(io) if its files cannot be
    // read, and if they were there and are not any more.
    std::vector<SteadyRun> look(double now_s);
    const Progress& progress() const { return progress_; }
    // The last look() has found a step or an evaluation that was done since. A start is none: it may be all that a training that
    // hangs ever does.
    bool has_news() const { return has_news_; }
    std::uintmax_t known() const { return known_; }

  private:
    std::string read_more();
    void read_steps(double now_s, std::vector<SteadyRun>& found);
    void read_record();

    std::filesystem::path directory_;
    std::uintmax_t read_ = 0;  // bytes of metrics.jsonl
    std::uintmax_t known_;
    bool has_news_ = false;
    bool begun_ = false;
    std::filesystem::file_time_type record_time_;
    SteadyRuns runs_;
    Progress progress_;
};

}  // namespace mastic::schedule
