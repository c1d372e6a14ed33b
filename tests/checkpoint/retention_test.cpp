#include <gmock/gmock.h>

#include <mastic/checkpoint/retention.hpp>

namespace mastic::checkpoint {
namespace {

using testing::UnorderedElementsAreArray;

TEST(Retention, RemovesWhatNoRuleKeeps) {
    constexpr bool damaged = false;
    const struct {
        const char* what;
        std::vector<GenerationSummary> generations;
        RetentionRules rules;
        std::uint64_t proven;
        std::optional<std::uint64_t> pinned;
        std::vector<std::uint64_t> removed;
    } cases[] = {
        {"the only one", {{10}}, {2, 0}, 10, {}, {}},
        {"the last two", {{10}, {40}, {30}, {20}}, {2, 0}, 40, {}, {10, 20}},
        {"never fewer than one", {{10}, {20}}, {0, 0}, 20, {}, {10}},
        {"milestones", {{100}, {150}, {200}, {250}, {300}, {350}}, {1, 100}, 350, {}, {150, 250}},
        {"the pinned one", {{10}, {20}, {30}}, {1, 0}, 30, 10, {20}},
        {"a damaged one among the last does not count",
         {{10}, {20}, {30, damaged}, {40}},
         {2, 0},
         40,
         {},
         {10}},
        {"a damaged old one goes", {{10, damaged}, {20}, {30}}, {2, 0}, 30, {}, {10}},
        {"a damaged milestone goes", {{100, damaged}, {200}, {300}}, {1, 100}, 300, {}, {100}},
        {"the proven one stays among newer ones", {{10}, {20}, {30}}, {1, 0}, 10, {}, {20}},
    };
    for (const auto& item : cases) {
        EXPECT_THAT(removable_steps(item.generations, item.rules, item.proven, item.pinned),
                    UnorderedElementsAreArray(item.removed))
            << item.what;
    }
}

}  // namespace
}  // namespace mastic::checkpoint
