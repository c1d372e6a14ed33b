#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/tuning/table_report.hpp>
#include <mastic/tuning/time_text.hpp>

#include "report/markup.hpp"
#include "tuning/sample_table.hpp"

namespace mastic::tuning {
namespace {

using comm::Collective;
using testing::HasSubstr;

TEST(BusFactor, IsThatOfTheDefinition) {
    EXPECT_DOUBLE_EQ(bus_factor(Collective::allreduce, 4), 1.5);
    EXPECT_DOUBLE_EQ(bus_factor(Collective::reduce_scatter, 4), 0.75);
    EXPECT_DOUBLE_EQ(bus_factor(Collective::allgather, 2), 0.5);
    EXPECT_DOUBLE_EQ(bus_factor(Collective::broadcast, 4), 1);
}

TEST(TableText, ListsShapesSizesAndChoices) {
    const std::string text = table_text(sample_table());
    EXPECT_THAT(text, HasSubstr("Fast CPU 9000, 64 cores, eth0 at 25 Gbit/s, MPICH 4.0.2"));
    EXPECT_THAT(text, HasSubstr("2 nodes x 2 ranks, allreduce"));
    EXPECT_THAT(text, HasSubstr("tcp ring"));
    EXPECT_THAT(text, HasSubstr("larger"));
    EXPECT_THAT(text, HasSubstr("note: 1 node x 2 ranks, allgather, 64M: no time left"));
}

TEST(TablePage, IsWellFormedWithAPlotForEachShapeAndCollective) {
    const std::string page = table_page(sample_table(), "tuning.json");
    EXPECT_EQ(test::select(test::parse_markup(page), "svg", "plot").size(), 8u);
    EXPECT_THAT(page, HasSubstr("allreduce, bus bandwidth, GB/s"));
    EXPECT_THAT(page, HasSubstr("eth0 25 Gbit/s"));  // the limit of the link
    EXPECT_THAT(page, HasSubstr("no time left"));
    EXPECT_THAT(page, testing::Not(HasSubstr("<script")));
}

TEST(TablePage, WritesAnyNameAsText) {
    TuningTable table = sample_table();
    table.machine.cpu = "<b>&";
    table.notes = {"<script>"};
    test::parse_markup(table_page(table, "t"));
    EXPECT_THAT(table_page(table, "t"), testing::Not(HasSubstr("<script>")));
}

TEST(TablePage, WorksForAnEmptyTable) {
    test::parse_markup(table_page(TuningTable{}, "t"));
    EXPECT_NE(table_text(TuningTable{}), "");
}

TEST(TimeText, HasThreeDigitsAndAUnit) {
    EXPECT_EQ(time_text(1.2345), "1.23 us");
    EXPECT_EQ(time_text(45600), "45.6 ms");
    EXPECT_EQ(time_text(2.5e6), "2.5 s");
}

}  // namespace
}  // namespace mastic::tuning
