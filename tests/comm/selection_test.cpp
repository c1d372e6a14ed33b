#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/comm/selection.hpp>
#include <mastic/comm/shm_method.hpp>
#include <mastic/core/error.hpp>

#include "support/expect_error.hpp"

namespace mastic::comm {
namespace {

using test::expect_error;

const Choice ring{.transport = TransportKind::tcp, .algorithm = "ring"};
const Choice doubling{.transport = TransportKind::tcp, .algorithm = "recursive-doubling"};

TEST(SelectionMap, TheFirstRowThatIsLargeEnoughIsTaken) {
    const SelectionMap map({{Collective::allreduce, Bytes{1000}, doubling}, {Collective::allreduce, Bytes{9000}, ring}});
    EXPECT_EQ(*map.find(Collective::allreduce, Bytes{0}), doubling);
    EXPECT_EQ(*map.find(Collective::allreduce, Bytes{1000}), doubling);
    EXPECT_EQ(*map.find(Collective::allreduce, Bytes{1001}), ring);
    EXPECT_EQ(*map.find(Collective::allreduce, Bytes{1'000'000}), ring) << "beyond the last row";
    EXPECT_EQ(map.find(Collective::broadcast, Bytes{1}), nullptr);
}

TEST(SelectionMap, RowsOfOneCollectiveAscend) {
    expect_error(ExitCode::data, "allreduce", [] {
        SelectionMap({{Collective::allreduce, Bytes{9}, ring}, {Collective::allreduce, Bytes{9}, doubling}});
    });
}

TEST(SelectionMap, DeviceMemoryHasRowsOfItsOwn) {
    const SelectionMap map({{Collective::allreduce, Bytes{1000}, ring, MemoryKind::device},
                            {Collective::allreduce, any_size, doubling}});
    EXPECT_EQ(map.find(Collective::allreduce, Bytes{10})->algorithm, doubling.algorithm);
    EXPECT_EQ(map.find(Collective::allreduce, Bytes{10}, MemoryKind::device)->algorithm, ring.algorithm);
    EXPECT_EQ(map.find(Collective::broadcast, Bytes{10}, MemoryKind::device), nullptr);
    EXPECT_NE(map.to_text().find("allreduce of device memory, up to 1000: "), std::string::npos) << map.to_text();
}

TEST(SelectionMap, ReadsAsText) {
    Choice choice = ring;
    choice.hierarchical = true;
    choice.segment = Bytes{128u << 10};
    choice.wire = Wire::bfloat16;
    const SelectionMap map({{Collective::allreduce, Bytes{1u << 20}, choice}});
    EXPECT_EQ(map.to_text(), "allreduce, up to 1M: tcp ring, hierarchical, segment 128K, bfloat16 wire\n");
}

TEST(SelectionMap, TransportNamesAreParsedWithASuggestion) {
    for (const TransportName& entry : transports()) {
        EXPECT_EQ(parse_transport(entry.name), entry.kind);
        EXPECT_STREQ(to_string(entry.kind), entry.name);
    }
    expect_error(ExitCode::usage, "transport 'tpc'", [] { parse_transport("tpc"); });
}

// The default names algorithms that exist, for every collective and shape.
TEST(DefaultSelection, NamesWhatThereIs) {
    for (const std::vector<int>& nodes : {std::vector<int>{0, 0}, {0, 1}, {0, 0, 1, 1}, {0, 1, 1}}) {
        const Topology topology(nodes, 0);
        const SelectionMap map =
            default_selection(topology, topology.nodes() == 1 ? TransportKind::shm : TransportKind::tcp);
        for (const Collective collective : collectives) {
            EXPECT_NE(map.find(collective, Bytes{1}), nullptr) << to_string(collective);
        }
        for (const SelectionRow& row : map.rows()) {
            const bool method = row.choice.transport == TransportKind::shm &&
                                find_shm_method(row.choice.algorithm) != nullptr;
            EXPECT_TRUE(method || find_plan_algorithm(row.collective, row.choice.algorithm) != nullptr)
                << to_string(row.choice);
        }
    }
}

}  // namespace
}  // namespace mastic::comm
