#include <condition_variable>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include <mastic/job/end_time_watch.hpp>

namespace mastic::job {
namespace {

using namespace std::chrono_literals;

const TimePoint some_end = std::chrono::system_clock::from_time_t(1800000000);

// Answers of Slurm, one for each time it is asked, the last one for ever; and what the watch made of them.
class Story {
  public:
    explicit Story(std::vector<EndTime> answers) : answers_(std::move(answers)) {}

    EndTime answer() {
        const std::lock_guard lock(mutex_);
        const std::size_t now = asked_ < answers_.size() ? asked_ : answers_.size() - 1;
        ++asked_;
        told_.notify_all();
        return answers_[now];
    }
    void note(const EndTime& end) { changes.push_back(end); }
    bool wait_until_all_is_asked() {
        std::unique_lock lock(mutex_);
        return told_.wait_for(lock, 20s, [this] { return asked_ > answers_.size(); });
    }

    std::vector<EndTime> changes;  // read it when the watch is gone

  private:
    std::mutex mutex_;
    std::condition_variable told_;
    std::vector<EndTime> answers_;
    std::size_t asked_ = 0;
};

TEST(EndTimeWatch, TellsEachChangeOnceAndNoSilence) {
    const EndTime first{some_end, "squeue", true};
    const EndTime later{some_end + 1h, "scontrol", true};
    const EndTime silence{std::nullopt, "squeue failed: no answer in time", false};
    const EndTime no_limit{std::nullopt, "no time limit, says squeue", true};
    Story story({first, later, later, silence, later, no_limit, first});
    {
        const EndTimeWatch watch(
            first, [&] { return story.answer(); }, [&](const EndTime& end) { story.note(end); }, Seconds(0.001));
        ASSERT_TRUE(story.wait_until_all_is_asked());
    }
    ASSERT_EQ(story.changes.size(), 3u);
    EXPECT_EQ(story.changes[0].at, some_end + 1h);
    EXPECT_EQ(story.changes[1].at, std::nullopt);
    EXPECT_EQ(story.changes[2].at, some_end);
}

TEST(EndTimeWatch, EndsAtOnceAlthoughTheNextQuestionIsFar) {
    int asked = 0;
    {
        const EndTimeWatch watch(
            {}, [&] { return ++asked, EndTime{}; }, [](const EndTime&) {}, Seconds(1e6));
    }
    EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace mastic::job
