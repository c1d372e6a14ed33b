#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/job/batch/lost_nodes.hpp>

namespace mastic::job {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

CommandRunner srun(const CommandResult& result) {
    return [result](const std::vector<std::string>&, Seconds) { return result; };
}

TEST(LostNodes, AreThoseThatDoNotAnswer) {
    EXPECT_THAT(lost_nodes("n[1-3]", srun({0, "n2\nn1\nn3\n", ""})), IsEmpty());
    EXPECT_THAT(lost_nodes("n[1-3],n10", srun({233, "n3\nn10\n", "srun: error: Task launch failed\n"})),
                ElementsAre("n1", "n2"));
}

TEST(LostNodes, AreUnknownIfNoneAnswers) {
    EXPECT_THAT(lost_nodes("n[1-3]", srun({127, "", ""})), IsEmpty());
    EXPECT_THAT(lost_nodes("", srun({0, "n1\n", ""})), IsEmpty());
    EXPECT_THAT(lost_nodes("n[1-", srun({0, "n1\n", ""})), IsEmpty());
}

}  // namespace
}  // namespace mastic::job
