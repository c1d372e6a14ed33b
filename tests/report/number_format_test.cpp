#include <mastic/report/number_format.hpp>

#include <gtest/gtest.h>
#include <cmath>

namespace mastic::report {
namespace {

TEST(NumberFormat, GroupsThousands) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1000), "1,000");
    EXPECT_EQ(grouped(1234567), "1,234,567");
    EXPECT_EQ(grouped(-1234), "-1,234");
    EXPECT_EQ(grouped(-123), "-123");
}

TEST(NumberFormat, KeepsSignificantDigitsOnly) {
    EXPECT_EQ(significant(0.031234), "0.03123");
    EXPECT_EQ(significant(0.5), "0.5");
    EXPECT_EQ(significant(0), "0");
    EXPECT_EQ(significant(1e-5), "1e-5");
    EXPECT_EQ(significant(1.5e-10), "1.5e-10");
    EXPECT_EQ(significant(123456.7), "123,457");
    EXPECT_EQ(significant(1e20), "1e20");
    EXPECT_EQ(significant(-2.25, 2), "-2.2");
}

TEST(NumberFormat, ScalesWithoutShowingAThousand) {
    EXPECT_EQ(scaled(12.34), "12.3");
    EXPECT_EQ(scaled(999.4), "999");
    EXPECT_EQ(scaled(999.7), "1k");
    EXPECT_EQ(scaled(12345), "12.3k");
    EXPECT_EQ(scaled(999999), "1M");
    EXPECT_EQ(scaled(2.5e6), "2.5M");
    EXPECT_EQ(scaled(-4e9), "-4G");
    EXPECT_EQ(scaled(3e15), "3,000T");
}

TEST(NumberFormat, ShowsSharesAsPercent) {
    EXPECT_EQ(percent(0.87345), "87.3 %");
    EXPECT_EQ(percent(1, 0), "100 %");
    EXPECT_EQ(metric_value("accuracy", 0.91234), "91.23 %");
    EXPECT_EQ(metric_value("top5_accuracy", 0.5), "50.00 %");
    EXPECT_EQ(metric_value("perplexity", 12.3456), "12.35");
}

TEST(NumberFormat, NamesWhatIsNotFinite) {
    for (const auto& text : {significant(NAN), scaled(NAN), percent(NAN), fixed(NAN, 2)}) {
        EXPECT_EQ(text, "nan");
    }
    EXPECT_EQ(significant(INFINITY), "inf");
    EXPECT_EQ(scaled(-INFINITY), "-inf");
}

}  // namespace
}  // namespace mastic::report
