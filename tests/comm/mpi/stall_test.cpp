// Stalls over MPI: the ranks that wait name the one that does not.
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/captured_log.hpp"
#include "comm/mpi/session_fixture.hpp"
#include "support/temp_dir.hpp"

namespace mastic::comm {
namespace {

using test::session;
namespace fs = std::filesystem;

// Marks that ranks leave for each other while they do not talk over MPI.
class SharedMarks {
  public:
    explicit SharedMarks(Group& group) {
        if (group.rank() == 0) {
            own_.emplace();
        }
        path_ = group.broadcast_string(own_ ? own_->path().string() : std::string(), 0);
    }
    void leave(const std::string& mark) const { test::write_file(path_ / mark, ""); }
    bool come(const std::string& mark, int count) const {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (std::chrono::steady_clock::now() < deadline) {
            int there = 0;
            for (int rank = 0; rank < session().size(); ++rank) {
                there += fs::exists(path_ / (mark + std::to_string(rank))) ? 1 : 0;
            }
            if (there >= count) {
                return true;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return false;
    }

  private:
    std::optional<test::TempDir> own_;
    fs::path path_;
};

std::string name_of_stall(int late) {
    return "bucket " + std::to_string(late);
}

std::string missing(int late) {
    return "missing in '" + name_of_stall(late) + "': rank " + std::to_string(late) + " (not started) (";
}

// The late rank comes when all others have named it.
void stall_and_go_on(Group& group, const SharedMarks& marks, int late, const std::string& mark) {
    std::vector<double> values(1000, 1);
    const auto sum = [&] {
        return group.start_allreduce(view_of(std::span(values)), ReduceOp::sum,
                                     {.name = name_of_stall(late)});
    };
    if (group.rank() == late) {
        EXPECT_TRUE(marks.come(mark, group.size() - 1));
        sum().wait();
    } else {
        const test::CapturedLog log;
        const Request request = sum();
        std::thread waiter([&request] { request.wait(); });
        EXPECT_TRUE(log.comes_to_say(missing(late))) << log.text();
        marks.leave(mark + std::to_string(group.rank()));
        waiter.join();
    }
    EXPECT_EQ(values.front(), group.size());
}

TEST(MpiStall, TheOthersNameTheRankThatIsMissingEachTime) {
    const auto group =
        session().make_group({.limits = {.stall_report = Seconds(0.1), .timeout = Seconds(60)}});
    if (group->size() == 1) {
        GTEST_SKIP() << "nobody to wait for";
    }
    const SharedMarks marks(*group);
    for (int late = group->size() - 1; late >= 0; --late) {
        stall_and_go_on(*group, marks, late, "stall-" + std::to_string(late) + "-");
    }
}

// Ranks of a part have other numbers than their processes.
TEST(MpiStall, RanksAreThoseOfTheGroup) {
    const auto world =
        session().make_group({.limits = {.stall_report = Seconds(0.1), .timeout = Seconds(60)}});
    const SharedMarks marks(*world);
    const auto part = world->split(world->rank() == 0 ? -1 : 0, -world->rank());
    if (part && part->size() > 1) {
        stall_and_go_on(*part, marks, part->size() - 1, "part-");
    }
    world->barrier();
}

}  // namespace
}  // namespace mastic::comm
