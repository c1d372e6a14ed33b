#include <gmock/gmock.h>

#include <numeric>

#include "support/expect_error.hpp"

#include <mastic/checkpoint/shape.hpp>

namespace mastic::checkpoint {
namespace {

using test::expect_error;
using testing::ElementsAreArray;

TEST(Shape, CountsElements) {
    EXPECT_EQ(element_count({}), 1);
    EXPECT_EQ(element_count({7}), 7);
    EXPECT_EQ(element_count({2, 3, 4}), 24);
    EXPECT_EQ(element_count({2, 0, 4}), 0);
    expect_error(ExitCode::checkpoint, "negative", [] { element_count({2, -1}); });
    expect_error(ExitCode::checkpoint, "2^63", [] { element_count({std::int64_t{1} << 62, 4}); });
}

TEST(Shape, SaysWhatIsWrongWithABox) {
    EXPECT_EQ(box_problem({{}, {}, {}}), "");
    EXPECT_EQ(box_problem({{2, 3}, {1, 0}, {3, 3}}), "");
    EXPECT_EQ(box_problem({{0, 3}, {3, 0}, {3, 3}}), "");
    EXPECT_EQ(box_problem({{2}, {0}, {2, 1}}),
              "shape (2), offset (0) and global shape (2, 1) differ in their number of dimensions");
    EXPECT_EQ(box_problem({{2, 2}, {0, 3}, {4, 4}}), "offset (0, 3) + shape (2, 2) leaves (4, 4)");
    EXPECT_NE(box_problem({{1}, {-1}, {4}}), "");
    EXPECT_NE(box_problem({{INT64_MAX}, {INT64_MAX}, {INT64_MAX}}), "");
}

TEST(Shape, KnowsWhetherBoxesFillATensor) {
    const struct {
        const char* what;
        std::vector<Box> boxes;
        bool fill;
    } cases[] = {
        {"nothing at all", {}, false},
        {"a scalar", {{{}, {}, {}}}, true},
        {"a scalar twice", {{{}, {}, {}}, {{}, {}, {}}}, false},
        {"an empty tensor", {{{0, 4}, {0, 0}, {0, 4}}}, true},
        {"one whole", {{{4, 2}, {0, 0}, {4, 2}}}, true},
        {"rows in any order", {{{1, 2}, {3, 0}, {4, 2}}, {{3, 2}, {0, 0}, {4, 2}}}, true},
        {"rows and a writer without any", {{{4, 2}, {0, 0}, {4, 2}}, {{0, 2}, {4, 0}, {4, 2}}}, true},
        {"a row missing", {{{1, 2}, {3, 0}, {4, 2}}, {{2, 2}, {0, 0}, {4, 2}}}, false},
        {"a gap and an overlap of the same size",
         {{{2, 2}, {0, 0}, {4, 2}}, {{2, 2}, {1, 0}, {4, 2}}},
         false},
        {"four quarters",
         {{{2, 1}, {0, 0}, {4, 2}},
          {{2, 1}, {0, 1}, {4, 2}},
          {{2, 1}, {2, 0}, {4, 2}},
          {{2, 1}, {2, 1}, {4, 2}}},
         true},
        {"one quarter twice",
         {{{2, 1}, {0, 0}, {4, 2}},
          {{2, 1}, {0, 1}, {4, 2}},
          {{2, 1}, {2, 0}, {4, 2}},
          {{2, 1}, {2, 0}, {4, 2}}},
         false},
    };
    for (const auto& item : cases) {
        EXPECT_EQ(boxes_fill_tensor(item.boxes), item.fill) << item.what;
    }
}

TEST(Shape, CopiesABoxOfAnyRankToItsPlace) {
    const Box boxes[] = {
        {{}, {}, {}},
        {{3}, {2}, {7}},
        {{4, 5}, {0, 0}, {4, 5}},
        {{2, 5}, {1, 0}, {4, 5}},
        {{2, 2}, {1, 3}, {4, 5}},
        {{2, 1, 3, 2}, {0, 1, 1, 0}, {2, 3, 4, 2}},
        {{1, 2, 1, 1}, {1, 1, 3, 1}, {2, 3, 4, 2}},
        {{0, 5}, {4, 0}, {4, 5}},
    };
    for (const Box& box : boxes) {
        std::vector<std::uint8_t> packed(static_cast<std::size_t>(element_count(box.shape)));
        std::iota(packed.begin(), packed.end(), std::uint8_t{1});
        std::vector<std::uint8_t> whole(static_cast<std::size_t>(element_count(box.global_shape)), 0);
        // The oracle asks, for each element of the whole, whether it is inside and which one it is then.
        std::vector<std::uint8_t> expected = whole;
        for (std::size_t i = 0; i < whole.size(); ++i) {
            auto rest = static_cast<std::int64_t>(i);
            std::int64_t index = 0;
            std::int64_t stride = 1;
            bool inside = true;
            for (std::size_t d = box.shape.size(); d-- > 0;) {
                const std::int64_t at = rest % box.global_shape[d] - box.offset[d];
                rest /= box.global_shape[d];
                inside = inside && at >= 0 && at < box.shape[d];
                index += at * stride;
                stride *= box.shape[d];
            }
            expected[i] = inside ? packed[static_cast<std::size_t>(index)] : std::uint8_t{0};
        }
        copy_into_whole(box, 1, std::as_bytes(std::span(packed)), std::as_writable_bytes(std::span(whole)));
        EXPECT_THAT(whole, ElementsAreArray(expected))
            << to_string(box.shape) << " at " << to_string(box.offset);
    }
}

}  // namespace
}  // namespace mastic::checkpoint
