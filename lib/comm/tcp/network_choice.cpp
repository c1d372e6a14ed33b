#include <mastic/comm/tcp/network_choice.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <mastic/comm/roll_call.hpp>
#include <mastic/core/error.hpp>

namespace mastic::comm {

namespace {

using Hosts = std::vector<HostAddresses>;
using Selection = std::vector<std::size_t>;  // by rank, an index into its addresses
using Condition = std::function<bool(const InterfaceAddress&)>;

bool on_one_host(const Hosts& hosts) {
    return std::ranges::all_of(
        hosts, [&](const HostAddresses& host) { return host.identity == hosts.front().identity; });
}

// Of each rank the first address that fulfils the condition.
std::optional<Selection> select(const Hosts& hosts, const Condition& condition) {
    Selection selection;
    for (const HostAddresses& host : hosts) {
        const auto found = std::ranges::find_if(host.addresses, condition);
        if (found == host.addresses.end()) {
            return std::nullopt;
        }
        selection.push_back(static_cast<std::size_t>(found - host.addresses.begin()));
    }
    return selection;
}

// Whether no address means another host at another rank.
bool leads_to_all(const Hosts& hosts, const Selection& selection) {
    if (on_one_host(hosts)) {
        return true;
    }
    std::map<std::string, std::string> host_of_address;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        const InterfaceAddress& used = hosts[rank].addresses[selection[rank]];
        const auto& [address, host] =
            *host_of_address.emplace(used.address.host(), hosts[rank].identity).first;
        if (used.loopback || host != hosts[rank].identity) {
            return false;
        }
    }
    return true;
}

std::optional<Selection> select_leading_to_all(const Hosts& hosts, const Condition& condition) {
    auto selection = select(hosts, condition);
    return selection && leads_to_all(hosts, *selection) ? selection : std::nullopt;
}

std::optional<NetworkChoice> choose_automatically(const Hosts& hosts) {
    using Merit = std::tuple<bool, int, bool>;  // loopback, speed, IPv4
    std::optional<std::pair<Merit, NetworkChoice>> best;
    for (const InterfaceAddress& first : hosts.front().addresses) {
        const Subnet subnet = first.subnet();
        auto selection =
            select_leading_to_all(hosts, [&](const InterfaceAddress& one) { return one.subnet() == subnet; });
        if (!selection) {
            continue;
        }
        int speed = first.speed;
        for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
            speed = std::min(speed, hosts[rank].addresses[(*selection)[rank]].speed);
        }
        const Merit merit{first.loopback, speed, first.address.family() == AF_INET};
        if (!best || merit > best->first) {
            best.emplace(merit, NetworkChoice{subnet.to_string(), std::move(*selection)});
        }
    }
    return best ? std::optional(std::move(best->second)) : std::nullopt;
}

std::optional<NetworkChoice> choose_inside(const Hosts& hosts, const Subnet& wanted) {
    auto selection = select_leading_to_all(
        hosts, [&](const InterfaceAddress& one) { return wanted.contains(one.address); });
    return selection ? std::optional(NetworkChoice{wanted.to_string(), std::move(*selection)}) : std::nullopt;
}

std::optional<NetworkChoice> choose_interface(const Hosts& hosts, const std::string& wanted) {
    for (const int family : {AF_INET, AF_INET6}) {
        auto selection = select_leading_to_all(hosts, [&](const InterfaceAddress& one) {
            return one.interface == wanted && one.address.family() == family;
        });
        if (selection) {
            return NetworkChoice{hosts.front().addresses[selection->front()].subnet().to_string(),
                                 std::move(*selection)};
        }
    }
    return std::nullopt;
}

std::string list_addresses(const HostAddresses& host) {
    std::string text;
    for (const InterfaceAddress& one : host.addresses) {
        text += (text.empty() ? "" : ", ") + one.interface + " " + one.address.host() + "/" +
                std::to_string(one.prefix_length);
    }
    return text.empty() ? "no address" : text;
}

// A line for each host, up to a number that people read.
std::string list_hosts(const Hosts& hosts) {
    constexpr std::size_t most = 16;
    std::map<std::string, std::vector<int>> ranks_of;
    std::vector<std::size_t> first_ranks;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        auto& ranks = ranks_of[hosts[rank].identity];
        if (ranks.empty()) {
            first_ranks.push_back(rank);
        }
        ranks.push_back(static_cast<int>(rank));
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(most, first_ranks.size()); ++i) {
        const HostAddresses& host = hosts[first_ranks[i]];
        text +=
            "\n  " + host.name + " (" + name_ranks(ranks_of[host.identity]) + "): " + list_addresses(host);
    }
    if (first_ranks.size() > most) {
        text += "\n  and " + std::to_string(first_ranks.size() - most) + " more hosts";
    }
    return text;
}

}  // namespace

NetworkChoice choose_network(const Hosts& by_rank, const std::string& wanted) {
    const bool automatic = wanted == "auto";
    const bool subnet = wanted.find('/') != std::string::npos;
    auto choice = automatic ? choose_automatically(by_rank)
                  : subnet  ? choose_inside(by_rank, Subnet::parse(wanted))
                            : choose_interface(by_rank, wanted);
    if (choice) {
        return std::move(*choice);
    }
    if (automatic) {
        throw Error(ExitCode::environment,
                    "the ranks have addresses in no common network:" + list_hosts(by_rank),
                    "if routers connect these hosts, name the interface (eth0) or a network around all the "
                    "addresses (10.0.0.0/8)");
    }
    throw Error(
        ExitCode::environment,
        "not every rank has an address of its host on network '" + wanted + "':" + list_hosts(by_rank),
        "name an interface or a network that all these hosts have (the loopback and addresses that two hosts "
        "share do not count), or 'auto'");
}

}  // namespace mastic::comm
