#include <mastic/schedule/rescale_cost.hpp>

#include <algorithm>

namespace mastic::schedule {
namespace {

// Walks through the time ahead, as a replay would.
class Forecast {
  public:
    Forecast(const ThroughputCurve& rate, int least, double now_s, double paused_until_s)
        : rate_(rate), least_(least), time_(now_s), paused_until_(std::max(now_s, paused_until_s)) {}

    void pause(double seconds) { paused_until_ = std::max(paused_until_, time_ + seconds); }
    void run_until(double time, int nodes) {
        if (time > time_) {
            const double computing = std::max(0.0, time - std::max(time_, paused_until_));
            progress_ += nodes >= least_ ? computing * rate_.at(nodes) : 0;
            time_ = time;
        }
    }
    double progress() const { return progress_; }

  private:
    const ThroughputCurve& rate_;
    int least_;
    double time_;
    double paused_until_;
    double progress_ = 0;
};

}  // namespace

int JobNodes::held() const {
    int sum = running;
    for (const StartingNodes& batch : starting) {
        sum += batch.nodes;
    }
    return sum;
}

double expected_progress(const ThroughputCurve& rate, const JobNodes& job, int nodes, int least, double now_s,
                         double horizon_s, const RescaleCosts& costs) {
    if (nodes == 0) {
        return 0;
    }
    Forecast forecast(rate, least, now_s, job.paused_until_s);
    const double end = now_s + horizon_s;
    const int held = job.held();
    int running = job.running;
    if (nodes < job.running) {
        forecast.pause(costs.shrink_s);
        running = nodes;
    }
    int left = nodes - running;
    for (const StartingNodes& batch : job.starting) {
        const int kept = std::min(left, batch.nodes);
        if (kept > 0 && batch.ready_s < end) {
            forecast.run_until(batch.ready_s, running);
            if (running > 0) {
                forecast.pause(costs.join_s);
            }
            running += kept;
        }
        left -= kept;
    }
    if (nodes > held && costs.live) {
        forecast.run_until(std::min(end, now_s + costs.start_s), running);
        if (running > 0) {
            forecast.pause(costs.join_s);
        }
        running = nodes;
    } else if (nodes > held) {
        forecast.pause(costs.start_s);
        running = nodes;
    }
    forecast.run_until(end, running);
    return forecast.progress();
}

}  // namespace mastic::schedule
