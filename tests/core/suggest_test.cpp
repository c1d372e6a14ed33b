#include <mastic/core/suggest.hpp>

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace mastic {
namespace {

TEST(NearestWord, FindsWhatWasMeant) {
    const std::vector<std::string> known{"batch_size", "learning_rate", "momentum", "seed", "epochs", "lr"};
    const std::vector<std::pair<std::string, std::string>> cases{
        {"batch_size", "batch_size"},
        {"batchsize", "batch_size"},
        {"batch-size", "batch_size"},
        {"btach_szie", "batch_size"},
        {"learnin_rat", "learning_rate"},
        {"lerningrate", "learning_rate"},
        {"sead", "seed"},
        {"esed", "seed"},
        {"epoch", "epochs"},
        {"rl", "lr"},
        {"l", "lr"},
        {"weight", ""},
        {"sxxd", ""},
        {"completely_different", ""},
    };
    for (const auto& [word, expected] : cases) {
        EXPECT_EQ(nearest_word(word, known), expected) << word;
    }
}

TEST(NearestWord, TakesTheFirstOfEquals) {
    const std::vector<std::string> known{"cat", "bat"};
    EXPECT_EQ(nearest_word("rat", known), "cat");
}

TEST(NearestWord, IsEmptyWithoutCandidates) {
    EXPECT_EQ(nearest_word("word", {}), "");
}

}  // namespace
}  // namespace mastic
