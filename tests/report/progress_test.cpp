#include <mastic/report/progress.hpp>

#include <gmock/gmock.h>
#include <cmath>

#include <mastic/report/utf8.hpp>

namespace mastic::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const ProgressState half{1, 10, 1234, 5000, 10000, 0.34567};
const ProgressRate fast{12345, Seconds(65)};

TEST(ProgressLine, ShowsEverythingIfThereIsRoom) {
    EXPECT_EQ(progress_text(half, fast),
              "epoch 2/10  50 %  step 1,234  loss 0.3457  12.3k samples/s  1 min 05 s left");
    EXPECT_EQ(progress_line(half, fast, 90, true),
              "epoch 2/10  ━━━━━━╸──────  50 %  step 1,234  loss 0.3457  12.3k samples/s  1 min 05 s left");
    EXPECT_EQ(progress_line(half, fast, 90, false),
              "epoch 2/10  [=====>     ]  50 %  step 1,234  loss 0.3457  12.3k samples/s  1 min 05 s left");
}

TEST(ProgressLine, IsNeverWiderThanTheTerminal) {
    for (std::size_t width = 1; width <= 200; ++width) {
        for (const std::int64_t samples : {0, 1, 5000, 9999, 10000, 20000}) {
            for (const bool unicode : {false, true}) {
                ProgressState state = half;
                state.samples = samples;
                EXPECT_LE(character_count(progress_line(state, fast, width, unicode)), width);
            }
        }
    }
}

TEST(ProgressLine, LosesTheLeastImportantFirst) {
    const std::string narrow = progress_line(half, fast, 40, true);
    EXPECT_THAT(narrow, HasSubstr("50 %"));
    EXPECT_THAT(narrow, HasSubstr("loss 0.3457"));
    EXPECT_THAT(narrow, HasSubstr("left"));
    EXPECT_THAT(narrow, Not(HasSubstr("epoch")));
}

TEST(ProgressLine, TheBarIsEmptyAtFirstAndFullAtTheEnd) {
    ProgressState state = half;
    state.samples = 0;
    EXPECT_THAT(progress_line(state, fast, 90, false), HasSubstr("[>           ]"));
    state.samples = 10000;
    EXPECT_THAT(progress_line(state, fast, 90, true), Not(HasSubstr("─")));
}

TEST(ProgressLine, LeavesOutWhatIsNotKnown) {
    ProgressState open = half;
    open.epochs = 0;
    open.planned_samples = 0;
    open.loss = NAN;
    EXPECT_EQ(progress_line(open, {NAN, std::nullopt}, 100, true), "epoch 2  step 1,234  loss nan");
}

TEST(ProgressLine, Utf8FollowsTheLocale) {
    EXPECT_TRUE(writes_utf8("", "", "en_US.UTF-8"));
    EXPECT_TRUE(writes_utf8("C.utf8", "", ""));
    EXPECT_FALSE(writes_utf8("", "", ""));
    EXPECT_FALSE(writes_utf8("C", "", "en_US.UTF-8"));
    EXPECT_FALSE(writes_utf8("", "POSIX", "en_US.UTF-8"));
}

// A progress with its own clock, terminal and log.
class ProgressTest : public testing::Test {
  protected:
    Progress::Options options(bool terminal) {
        Progress::Options result;
        result.terminal = terminal;
        result.unicode = false;
        result.now = [this] { return now_; };
        result.write = [this](std::string_view text) { written_ += text; };
        result.log = [this](std::string_view line) { logged_.emplace_back(line); };
        result.width = [this] { return width_; };
        return result;
    }
    void pass(double seconds) {
        now_ += std::chrono::duration_cast<Progress::Clock::duration>(Seconds(seconds));
    }
    static ProgressState at(std::int64_t samples) { return {0, 1, samples / 10, samples, 10000, 0.5}; }

    Progress::Clock::time_point now_{};
    std::string written_;
    std::vector<std::string> logged_;
    std::size_t width_ = 81;
};

TEST_F(ProgressTest, RewritesOneLineOnATerminal) {
    Progress progress(options(true));
    progress.update(at(10));
    pass(1);
    progress.update(at(1010));
    EXPECT_THAT(written_, Not(HasSubstr("\n")));
    EXPECT_THAT(written_, HasSubstr("\r\x1b[Kepoch 1/1"));
    EXPECT_THAT(written_, HasSubstr("1k samples/s"));
    progress.finish();
    EXPECT_THAT(written_, testing::EndsWith("left\n"));
    EXPECT_TRUE(logged_.empty());
}

TEST_F(ProgressTest, DrawsAtMostTenTimesASecond) {
    Progress progress(options(true));
    for (int i = 0; i < 1000; ++i) {
        progress.update(at(i));
        pass(0.001);
    }
    const auto draws = std::count(written_.begin(), written_.end(), '\r');
    EXPECT_GE(draws, 9);
    EXPECT_LE(draws, 11);
}

TEST_F(ProgressTest, FinishShowsTheLastState) {
    Progress progress(options(true));
    progress.update(at(10));
    pass(0.01);
    progress.update(at(10000));
    EXPECT_THAT(written_, Not(HasSubstr("100 %")));
    progress.finish();
    EXPECT_THAT(written_, HasSubstr("100 %"));
    const std::string once = written_;
    progress.finish();
    EXPECT_EQ(written_, once);
}

TEST_F(ProgressTest, LogsALineEveryTenSecondsWithoutATerminal) {
    Progress progress(options(false));
    for (int second = 0; second <= 25; ++second) {
        progress.update(at(second * 100));
        pass(1);
    }
    EXPECT_THAT(logged_, ElementsAre(HasSubstr("step 100  loss 0.5  100 samples/s"), HasSubstr("step 200")));
    EXPECT_TRUE(written_.empty());
    progress.finish();
    EXPECT_THAT(logged_.back(), HasSubstr("step 250"));
}

TEST_F(ProgressTest, HidingMakesRoomForAMessageAndTheLineComesBack) {
    Progress progress(options(true));
    progress.update(at(10));
    progress.hide();
    EXPECT_THAT(written_, testing::EndsWith("\r\x1b[K"));
    written_.clear();
    progress.update(at(20));
    EXPECT_THAT(written_, HasSubstr("epoch"));
}

TEST_F(ProgressTest, AnEndWithoutFinishLeavesAFreshLine) {
    {
        Progress progress(options(true));
        progress.update(at(10));
    }
    EXPECT_THAT(written_, testing::EndsWith("\n"));
}

TEST_F(ProgressTest, RateIsThatOfTheLastHalfMinuteAndNotOfTheSamplesBeforeAResume) {
    Progress progress(options(true));
    progress.update(at(5000));
    EXPECT_TRUE(std::isnan(progress.rate().samples_per_s));
    pass(1);
    progress.update(at(5010));
    EXPECT_DOUBLE_EQ(progress.rate().samples_per_s, 10);
    for (int i = 0; i < 100; ++i) {
        pass(1);
        progress.update(at(5010 + 2 * (i + 1)));
    }
    EXPECT_DOUBLE_EQ(progress.rate().samples_per_s, 2);
    EXPECT_NEAR(progress.rate().remaining->count(), (10000 - 5210) / 2.0, 1e-9);
}

TEST_F(ProgressTest, SamplesThatGoBackStartTheRateAnew) {
    Progress progress(options(true));
    progress.update(at(5000));
    pass(1);
    progress.update(at(100));
    EXPECT_TRUE(std::isnan(progress.rate().samples_per_s));
    pass(2);
    progress.update(at(140));
    EXPECT_DOUBLE_EQ(progress.rate().samples_per_s, 20);
}

TEST_F(ProgressTest, StepsSlowerThanTheWindowHaveARate) {
    Progress progress(options(true));
    for (int i = 0; i < 5; ++i) {
        progress.update(at(i * 10));
        pass(100);
    }
    EXPECT_DOUBLE_EQ(progress.rate().samples_per_s, 0.1);
}

TEST_F(ProgressTest, FollowsAChangedWidth) {
    Progress progress(options(true));
    width_ = 12;
    progress.update(at(10));
    EXPECT_LE(written_.size(), std::string("\r\x1b[K").size() + 11);
}

}  // namespace
}  // namespace mastic::report
