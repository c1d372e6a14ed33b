// Stalls among ranks that are progress threads of this process, with post between them that needs no MPI.
#include <atomic>
#include <deque>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/comm/progress_thread.hpp>

#include "support/captured_log.hpp"
#include "support/expect_error.hpp"

namespace mastic::comm {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr std::uint64_t group = 5;

struct Mailbox {
    std::mutex mutex;
    std::deque<RollWord> words;
};

class LocalPost : public RollPost {
  public:
    LocalPost(std::deque<Mailbox>& boxes, std::size_t own, bool idle)
        : boxes_(boxes), own_(own), idle_(idle) {}
    void send(const std::vector<RollLetter>& letters) override {
        for (const RollLetter& letter : letters) {
            ++sent;
            Mailbox& box = boxes_[static_cast<std::size_t>(letter.process)];
            const std::lock_guard lock(box.mutex);
            box.words.push_back(letter.word);
        }
    }
    std::vector<RollWord> receive() override {
        ++looks;
        Mailbox& box = boxes_[own_];
        const std::lock_guard lock(box.mutex);
        std::vector<RollWord> words(box.words.begin(), box.words.end());
        box.words.clear();
        return words;
    }
    bool works_when_idle() const override { return idle_; }

    std::atomic<int> sent{0};
    std::atomic<int> looks{0};

  private:
    std::deque<Mailbox>& boxes_;
    std::size_t own_;
    bool idle_;
};

// Completes on each rank once all have come.
class Meeting : public Operation {
  public:
    Meeting(std::shared_ptr<std::atomic<int>> present, int wanted)
        : present_(std::move(present)), wanted_(wanted) {}
    void start() override { ++*present_; }
    Step step() override { return *present_ < wanted_ ? Step::waiting : Step::complete; }

  private:
    std::shared_ptr<std::atomic<int>> present_;
    int wanted_;
};

class Ranks {
  public:
    Ranks(int count, const WaitLimits& limits, bool idle = true)
        : count_(count), boxes_(static_cast<std::size_t>(count)) {
        std::vector<int> processes;
        for (int rank = 0; rank < count; ++rank) {
            processes.push_back(rank);
        }
        for (int rank = 0; rank < count; ++rank) {
            Rank& made = ranks_.emplace_back();
            made.channel = made.progress.open_channel({.limits = limits});
            made.post = std::make_shared<LocalPost>(boxes_, static_cast<std::size_t>(rank), idle);
            made.progress.join_roll_call(made.channel, {group, rank, processes}, made.post);
        }
    }
    std::shared_ptr<std::atomic<int>> meeting() { return std::make_shared<std::atomic<int>>(0); }
    Request start(int rank, const std::string& name, const std::shared_ptr<std::atomic<int>>& meeting,
                  bool exclusive = false) {
        Rank& one = ranks_[static_cast<std::size_t>(rank)];
        return one.progress.submit(
            one.channel,
            {.operation = std::make_unique<Meeting>(meeting, count_), .name = name, .exclusive = exclusive});
    }
    void stop(int rank) { ranks_[static_cast<std::size_t>(rank)].progress.shutdown(Seconds(1)); }
    LocalPost& post(int rank) { return *ranks_[static_cast<std::size_t>(rank)].post; }

  private:
    struct Rank {
        std::shared_ptr<LocalPost> post;
        ProgressThread progress;
        std::shared_ptr<ProgressThread::Channel> channel;
    };
    int count_;
    std::deque<Mailbox> boxes_;
    std::deque<Rank> ranks_;
};

constexpr WaitLimits quick{.stall_report = Seconds(0.1), .timeout = Seconds(30)};

TEST(Stall, NamesTheRankThatIsMissingUntilItComes) {
    Ranks ranks(4, quick);
    for (const int late : {2, 0, 3}) {
        const test::CapturedLog log;
        const auto meeting = ranks.meeting();
        std::vector<Request> requests;
        for (int rank = 0; rank < 4; ++rank) {
            if (rank != late) {
                requests.push_back(ranks.start(rank, "bucket 3", meeting));
            }
        }
        std::thread waiter([&requests] { requests[1].wait(); });
        const std::string missing =
            "missing in 'bucket 3': rank " + std::to_string(late) + " (not started) (";
        EXPECT_TRUE(log.comes_to_say(missing)) << log.text();
        requests.push_back(ranks.start(late, "bucket 3", meeting));
        waiter.join();
        for (const Request& request : requests) {
            request.wait();
        }
    }
}

TEST(Stall, ARankWhoseThreadHasEndedDoesNotAnswer) {
    Ranks ranks(3, quick);
    ranks.stop(1);
    const test::CapturedLog log;
    const auto meeting = ranks.meeting();
    const Request other = ranks.start(2, "a", meeting);
    const Request request = ranks.start(0, "a", meeting);
    std::thread waiter([&request] { request.wait(); });
    EXPECT_TRUE(log.comes_to_say("missing in 'a': rank 1 (no answer")) << log.text();
    ++*meeting;  // as if it had come
    waiter.join();
}

TEST(Stall, TheTimeOutNamesTheRankToo) {
    Ranks ranks(2, {.stall_report = Seconds(30), .timeout = Seconds(1)});
    const Request request = ranks.start(0, "bucket 9", ranks.meeting());
    test::expect_error(ExitCode::collective, "missing in 'bucket 9': rank 1 (not started)",
                       [&request] { request.wait(); });
}

TEST(Stall, ABlockingOperationCannotAsk) {
    Ranks ranks(2, {.stall_report = Seconds(30), .timeout = Seconds(0.2)});
    const Request request = ranks.start(0, "bucket 9", ranks.meeting(), true);
    test::expect_error(ExitCode::collective, "ranks unknown, since 'bucket 9' blocks the progress thread",
                       [&request] { request.wait(); });
}

TEST(Stall, NothingIsSentWhileNothingStalls) {
    Ranks ranks(2, {.stall_report = Seconds(30), .timeout = Seconds(300)});
    for (int i = 0; i < 200; ++i) {
        const auto meeting = ranks.meeting();
        const Request other = ranks.start(1, "a", meeting);
        ranks.start(0, "a", meeting).wait();
        other.wait();
    }
    EXPECT_EQ(ranks.post(0).sent + ranks.post(1).sent, 0);
    EXPECT_LE(ranks.post(0).looks, 10) << "an eighth of the stall report passes between two looks";
}

TEST(Stall, APostThatDoesNotWorkWhenIdleIsLeftAloneThen) {
    Ranks ranks(2, {.stall_report = Seconds(0.01), .timeout = Seconds(30)}, false);
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ(ranks.post(0).looks, 0);
    const auto meeting = ranks.meeting();
    const Request request = ranks.start(0, "a", meeting);
    const test::CapturedLog log;
    std::thread waiter([&request] { request.wait(); });
    EXPECT_TRUE(log.comes_to_say("rank 1 (no answer: busy")) << log.text();
    EXPECT_GT(ranks.post(0).looks, 0);
    const Request other = ranks.start(1, "a", meeting);
    waiter.join();
    other.wait();
}

}  // namespace
}  // namespace mastic::comm
