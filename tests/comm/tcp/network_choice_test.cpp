#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/comm/tcp/network_choice.hpp>
#include <mastic/core/error.hpp>

namespace mastic::comm {
namespace {

using testing::HasSubstr;

InterfaceAddress on(const std::string& interface, const std::string& address, int prefix_length,
                    int speed = 0) {
    return {interface, SocketAddress::parse(address).value(), prefix_length, speed, interface == "lo"};
}

const InterfaceAddress lo = on("lo", "127.0.0.1", 8);
const InterfaceAddress lo6 = on("lo", "::1", 128);

HostAddresses host(const std::string& name, std::vector<InterfaceAddress> addresses) {
    return {name, name + "/boot", std::move(addresses)};
}

struct Case {
    const char* about;
    std::vector<HostAddresses> by_rank;
    std::string wanted;
    std::string network;                 // expected
    std::vector<std::string> addresses;  // expected, by rank
};

const std::vector<InterfaceAddress> slow_and_fast_of(int number) {
    const std::string n = std::to_string(number);
    return {lo, lo6, on("eth0", "10.0.0." + n, 24, 1000), on("ib0", "10.1.0." + n, 16, 100000)};
}

std::vector<Case> cases() {
    const std::vector<HostAddresses> two = {host("a", slow_and_fast_of(1)), host("b", slow_and_fast_of(2))};
    const std::vector<HostAddresses> one = {host("a", slow_and_fast_of(1)), host("a", slow_and_fast_of(1))};
    return {
        {"one host uses the loopback", one, "auto", "127.0.0.0/8", {"127.0.0.1", "127.0.0.1"}},
        {"the fastest network", two, "auto", "10.1.0.0/16", {"10.1.0.1", "10.1.0.2"}},
        {"an interface", two, "eth0", "10.0.0.0/24", {"10.0.0.1", "10.0.0.2"}},
        {"a subnet", two, "10.0.0.0/24", "10.0.0.0/24", {"10.0.0.1", "10.0.0.2"}},
        {"a host bit in it", two, "10.0.0.77/24", "10.0.0.0/24", {"10.0.0.1", "10.0.0.2"}},
        {"the loopback of one host by name", one, "lo", "127.0.0.0/8", {"127.0.0.1", "127.0.0.1"}},
        {"IPv6 by network", one, "::1/128", "::1/128", {"::1", "::1"}},
        {"the fastest that all have, though one has a faster one",
         {host("a", slow_and_fast_of(1)), host("b", {lo, on("eth0", "10.0.0.2", 24, 1000)})},
         "auto",
         "10.0.0.0/24",
         {"10.0.0.1", "10.0.0.2"}},
        {"as fast as the slowest of its interfaces",
         {host("a", {on("x", "10.0.0.1", 24, 100000), on("y", "10.2.0.1", 24, 25000)}),
          host("b", {on("x", "10.0.0.2", 24, 10000), on("y", "10.2.0.2", 24, 25000)})},
         "auto",
         "10.2.0.0/24",
         {"10.2.0.1", "10.2.0.2"}},
        {"names of interfaces may differ in a subnet",
         {host("a", {on("eno1", "10.0.0.1", 24)}), host("b", {on("enp3s0", "10.0.0.2", 24)})},
         "auto",
         "10.0.0.0/24",
         {"10.0.0.1", "10.0.0.2"}},
        {"IPv4 before IPv6 of the same speed",
         {host("a", {on("e", "fd00::1", 64, 1000), on("e", "10.0.0.1", 24, 1000)}),
          host("b", {on("e", "fd00::2", 64, 1000), on("e", "10.0.0.2", 24, 1000)})},
         "auto",
         "10.0.0.0/24",
         {"10.0.0.1", "10.0.0.2"}},
        {"IPv6 where there is nothing else",
         {host("a", {on("e", "fd00::1", 64)}), host("b", {on("e", "fd00::2", 64)})},
         "auto",
         "fd00::/64",
         {"fd00::1", "fd00::2"}},
        {"a container bridge is fast and leads nowhere",
         {host("a", {on("docker0", "172.17.0.1", 16, 10000), on("e", "10.0.0.1", 24)}),
          host("b", {on("docker0", "172.17.0.1", 16, 10000), on("e", "10.0.0.2", 24)})},
         "auto",
         "10.0.0.0/24",
         {"10.0.0.1", "10.0.0.2"}},
        {"two ranks of a host have the same address",
         {host("a", {on("e", "10.0.0.1", 24)}), host("a", {on("e", "10.0.0.1", 24)}),
          host("b", {on("e", "10.0.0.2", 24)})},
         "auto",
         "10.0.0.0/24",
         {"10.0.0.1", "10.0.0.1", "10.0.0.2"}},
        {"routed subnets by interface",
         {host("a", {on("e", "10.0.1.1", 32)}), host("b", {on("e", "10.0.2.1", 32)})},
         "e",
         "10.0.1.1/32",
         {"10.0.1.1", "10.0.2.1"}},
        {"routed subnets by a network around them",
         {host("a", {on("e", "10.0.1.1", 24)}), host("b", {on("f", "10.0.2.1", 24)})},
         "10.0.0.0/8",
         "10.0.0.0/8",
         {"10.0.1.1", "10.0.2.1"}},
    };
}

TEST(NetworkChoice, Table) {
    for (const Case& one : cases()) {
        SCOPED_TRACE(one.about);
        const NetworkChoice choice = choose_network(one.by_rank, one.wanted);
        EXPECT_EQ(choice.network, one.network);
        std::vector<std::string> addresses;
        for (std::size_t rank = 0; rank < one.by_rank.size(); ++rank) {
            addresses.push_back(one.by_rank[rank].addresses[choice.address[rank]].address.host());
        }
        EXPECT_EQ(addresses, one.addresses);
    }
}

Error error_of(const std::vector<HostAddresses>& by_rank, const std::string& wanted) {
    try {
        choose_network(by_rank, wanted);
    } catch (const Error& error) {
        return error;
    }
    return Error(ExitCode::done, "no error");
}

TEST(NetworkChoice, WithoutACommonNetworkTheErrorListsWhatEachHostHas) {
    const std::vector<HostAddresses> hosts = {host("node1", {lo, on("eth0", "10.0.1.1", 24)}),
                                              host("node1", {lo, on("eth0", "10.0.1.1", 24)}),
                                              host("node2", {lo, on("eth0", "10.0.2.1", 24)})};
    const Error error = error_of(hosts, "auto");
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_THAT(error.what(), HasSubstr("node1 (ranks 0-1): lo 127.0.0.1/8, eth0 10.0.1.1/24"));
    EXPECT_THAT(error.what(), HasSubstr("node2 (rank 2): lo 127.0.0.1/8, eth0 10.0.2.1/24"));
    EXPECT_THAT(error.hint(), HasSubstr("name the interface"));
}

TEST(NetworkChoice, ANetworkThatARankLacksIsAnError) {
    const std::vector<HostAddresses> hosts = {host("node1", {lo, on("eth0", "10.0.0.1", 24)}),
                                              host("node2", {lo, on("ens3", "10.0.0.2", 24)})};
    for (const std::string wanted : {"eth0", "10.7.0.0/24", "lo", "127.0.0.0/8", "nonsense"}) {
        const Error error = error_of(hosts, wanted);
        EXPECT_EQ(error.code(), ExitCode::environment) << wanted;
        EXPECT_THAT(error.what(), HasSubstr("'" + wanted + "'"));
        EXPECT_THAT(error.what(), HasSubstr("node2 (rank 1): lo 127.0.0.1/8, ens3 10.0.0.2/24"));
        EXPECT_FALSE(error.hint().empty());
    }
}

TEST(NetworkChoice, OfManyHostsTheErrorListsTheFirst) {
    std::vector<HostAddresses> hosts;
    for (int i = 0; i < 1000; ++i) {
        hosts.push_back(host("node" + std::to_string(i), {lo}));
    }
    EXPECT_THAT(error_of(hosts, "auto").what(), HasSubstr("and 984 more hosts"));
}

TEST(Subnet, RefusesWhatIsNoNetwork) {
    for (const char* text :
         {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0/24", "/24", "fd00::/129", "10.0.0.0/8x"}) {
        try {
            Subnet::parse(text);
            ADD_FAILURE() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::usage);
            EXPECT_THAT(error.what(), HasSubstr(text));
        }
    }
}

TEST(Subnet, ContainsByBits) {
    const auto address = [](const char* text) { return SocketAddress::parse(text).value(); };
    const Subnet odd = Subnet::parse("10.0.0.192/27");
    EXPECT_TRUE(odd.contains(address("10.0.0.223")));
    EXPECT_FALSE(odd.contains(address("10.0.0.224")));
    EXPECT_FALSE(odd.contains(address("::1")));
    EXPECT_TRUE(Subnet::parse("0.0.0.0/0").contains(address("1.2.3.4")));
    EXPECT_EQ(Subnet::parse("fd00:1:2:3:4::/48").to_string(), "fd00:1:2::/48");
}

TEST(HostAddresses, TravelAsText) {
    HostAddresses before = host("node1", slow_and_fast_of(7));
    const HostAddresses after = unpack_host_addresses(pack(before));
    EXPECT_EQ(after.name, before.name);
    EXPECT_EQ(after.identity, before.identity);
    ASSERT_EQ(after.addresses.size(), before.addresses.size());
    for (std::size_t i = 0; i < before.addresses.size(); ++i) {
        EXPECT_EQ(after.addresses[i].interface, before.addresses[i].interface);
        EXPECT_EQ(after.addresses[i].address, before.addresses[i].address);
        EXPECT_EQ(after.addresses[i].subnet(), before.addresses[i].subnet());
        EXPECT_EQ(after.addresses[i].speed, before.addresses[i].speed);
        EXPECT_EQ(after.addresses[i].loopback, before.addresses[i].loopback);
    }
}

TEST(HostAddresses, OfThisHostAreNotEmptyAndNotLinkLocal) {
    const HostAddresses here = find_host_addresses();
    EXPECT_FALSE(here.name.empty());
    EXPECT_FALSE(here.addresses.empty());
    const Subnet link_local = Subnet::parse("fe80::/10");
    for (const InterfaceAddress& one : here.addresses) {
        EXPECT_FALSE(link_local.contains(one.address)) << one.address.host();
    }
}

}  // namespace
}  // namespace mastic::comm
