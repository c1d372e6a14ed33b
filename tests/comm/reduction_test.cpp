#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <mastic/comm/half.hpp>
#include <mastic/comm/reduction.hpp>
#include "comm/instruction_sets.hpp"
#include "support/expect_error.hpp"

namespace mastic::comm {
namespace {

class VectorisedReduction : public testing::TestWithParam<detail::InstructionSet> {
  protected:
    void SetUp() override {
        if (!set_.available()) {
            GTEST_SKIP() << "this CPU does not have it";
        }
    }

  private:
    test::OnInstructionSet set_{GetParam()};
};

std::string name_of_set(const testing::TestParamInfo<detail::InstructionSet>& info) {
    return test::to_string(info.param);
}
INSTANTIATE_TEST_SUITE_P(, VectorisedReduction, testing::ValuesIn(test::instruction_sets), name_of_set);

// The rules of reduction.hpp, word by word.
template <class Real>
Real reference_real(ReduceOp op, Real a, Real b) {
    if (std::isnan(a) || std::isnan(b)) {
        return std::numeric_limits<Real>::quiet_NaN();
    }
    const bool a_less = a < b || (a == b && std::signbit(a));
    switch (op) {
        case ReduceOp::min:
            return a_less ? a : b;
        case ReduceOp::max:
            return a_less ? b : a;
        default:
            return std::isnan(a + b) ? std::numeric_limits<Real>::quiet_NaN() : a + b;
    }
}

template <class Element>
Element reference(ReduceOp op, Element a, Element b) {
    if constexpr (std::is_floating_point_v<Element>) {
        return reference_real(op, a, b);
    } else if constexpr (std::is_integral_v<Element>) {
        using Unsigned = std::make_unsigned_t<Element>;
        return op == ReduceOp::min ? std::min(a, b)
               : op == ReduceOp::max
                   ? std::max(a, b)
                   : static_cast<Element>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
    } else {
        Element result;
        narrow(reference_real(op, widen(a), widen(b)), result);
        return result;
    }
}

// Zeros, infinities, NaN of several bits, subnormals, the ends of the range.
template <class Element>
std::vector<Element> special_values() {
    if constexpr (std::is_floating_point_v<Element>) {
        using Limits = std::numeric_limits<Element>;
        std::vector<Element> values = {0,
                                       1,
                                       Element(.1),
                                       Limits::min(),
                                       Limits::max(),
                                       Limits::epsilon(),
                                       Limits::denorm_min(),
                                       Limits::infinity(),
                                       Limits::quiet_NaN(),
                                       std::nan("1234"),
                                       Limits::signaling_NaN()};
        for (std::size_t i = values.size(); i-- > 0;) {
            values.push_back(std::copysign(values[i], Element(-1)));
        }
        return values;
    } else if constexpr (std::is_integral_v<Element>) {
        return {0,
                1,
                2,
                static_cast<Element>(-1),
                std::numeric_limits<Element>::min(),
                std::numeric_limits<Element>::max()};
    } else {
        std::vector<Element> values;
        for (const int bits : {0x0000, 0x0001, 0x03FF, 0x0400, 0x3C00, 0x3F80, 0x7BFF, 0x7C00, 0x7C01, 0x7E00,
                               0x7F7F, 0x7F80, 0x7F81, 0x7FC1}) {
            values.push_back({static_cast<std::uint16_t>(bits)});
            values.push_back({static_cast<std::uint16_t>(bits | 0x8000)});
        }
        return values;
    }
}

// Each special value with each, then random bits.
template <class Element>
std::pair<std::vector<Element>, std::vector<Element>> operands() {
    std::pair<std::vector<Element>, std::vector<Element>> pairs;
    for (const Element a : special_values<Element>()) {
        for (const Element b : special_values<Element>()) {
            pairs.first.push_back(a);
            pairs.second.push_back(b);
        }
    }
    std::mt19937_64 random(7);
    for (int i = 0; i < 5000; ++i) {
        for (auto* side : {&pairs.first, &pairs.second}) {
            const std::uint64_t bits = random();
            std::memcpy(static_cast<void*>(&side->emplace_back()), &bits, sizeof(Element));
        }
    }
    return pairs;
}

template <class Element>
bool same_bits(const Element& a, const Element& b) {
    return std::memcmp(&a, &b, sizeof(Element)) == 0;
}

template <class Element>
void expect_elements(const std::vector<Element>& found, const std::vector<Element>& expected,
                     const std::string& what) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_TRUE(same_bits(found[i], expected[i])) << what << ", element " << i;
    }
}

template <class Element>
void expect_reference(DataType type, ReduceOp op) {
    const std::string what = std::string(to_string(type)) + " " + to_string(op);
    const auto [a, b] = operands<Element>();
    std::vector<Element> expected = a;
    for (std::size_t i = 0; i < a.size(); ++i) {
        expected[i] = reference(op, a[i], b[i]);
    }
    std::vector<Element> into = a, swapped = b, both_a = a, both_b = b;
    find_reduce(type, op)(into.data(), b.data(), a.size());
    find_reduce(type, op)(swapped.data(), a.data(), a.size());
    find_reduce_both(type, op)(both_a.data(), both_b.data(), a.size());
    expect_elements(into, expected, what);
    expect_elements(swapped, expected, what + ", swapped");
    expect_elements(both_a, expected, what + ", both");
    expect_elements(both_b, expected, what + ", both");
}

// Any length and any start: exactly the elements asked for change.
template <class Element>
void expect_only_its_part(DataType type, ReduceOp op) {
    const auto [a, b] = operands<Element>();
    for (std::size_t start = 0; start < 5; ++start) {
        for (std::size_t count = 0; count < 140; count += count < 70 ? 1 : 7) {
            std::vector<Element> expected(a.end() - 200, a.end()), into = expected;
            for (std::size_t i = start; i < start + count; ++i) {
                expected[i] = reference(op, expected[i], b[i + 1]);
            }
            find_reduce(type, op)(into.data() + start, b.data() + start + 1, count);
            expect_elements(into, expected, std::string(to_string(type)) + " of " + std::to_string(count));
        }
    }
}

template <class Visitor>
void for_each_type(Visitor visit) {
    visit(float{}, DataType::float32);
    visit(double{}, DataType::float64);
    visit(Float16{}, DataType::float16);
    visit(BFloat16{}, DataType::bfloat16);
    visit(std::int8_t{}, DataType::int8);
    visit(std::uint8_t{}, DataType::uint8);
    visit(std::int16_t{}, DataType::int16);
    visit(std::int32_t{}, DataType::int32);
    visit(std::int64_t{}, DataType::int64);
}

TEST_P(VectorisedReduction, FollowsItsRulesForEachTypeAndOperation) {
    for_each_type([](auto element, DataType type) {
        for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::average}) {
            expect_reference<decltype(element)>(type, op);
        }
    });
    for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
        expect_reference<std::uint8_t>(DataType::boolean, op);
    }
}

TEST_P(VectorisedReduction, TakesAnyLengthAndStart) {
    for_each_type([](auto element, DataType type) {
        for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min}) {
            expect_only_its_part<decltype(element)>(type, op);
        }
    });
}

TEST_P(VectorisedReduction, ScalesASumToAnAverage) {
    std::vector<float> reals = {0, 1, -6, INFINITY, 3, 1e-45f, 7};
    scale_to_average({reals.data(), reals.size(), DataType::float32}, 3);
    const float third = 1 / 3.0f;
    EXPECT_EQ(reals,
              (std::vector<float>{0, third, -6 * third, INFINITY, 3 * third, 1e-45f * third, 7 * third}));
    std::vector<double> wide = {7};
    scale_to_average({wide.data(), 1, DataType::float64}, 3);
    EXPECT_EQ(wide[0], 7 * (1 / 3.0));
    std::vector<std::int8_t> small(70, -7);
    scale_to_average({small.data(), small.size(), DataType::int8}, 2);
    EXPECT_EQ(small, std::vector<std::int8_t>(70, -3));
    std::vector<std::uint8_t> bytes(3, 255);
    scale_to_average({bytes.data(), bytes.size(), DataType::uint8}, 2);
    EXPECT_EQ(bytes, std::vector<std::uint8_t>(3, 127));
    std::vector<BFloat16> halves(67, BFloat16{0x4040});  // 3
    scale_to_average({halves.data(), halves.size(), DataType::bfloat16}, 2);
    EXPECT_EQ(widen(halves[66]), 1.5f);
}

TEST(Reduction, BooleansHaveNoSum) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average}) {
        test::expect_error(ExitCode::usage, "use min (and) or max (or)",
                           [op] { find_reduce(DataType::boolean, op); });
    }
}

}  // namespace
}  // namespace mastic::comm
