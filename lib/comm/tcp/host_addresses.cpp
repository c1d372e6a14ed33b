#include <mastic/comm/tcp/host_addresses.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include <mastic/core/error.hpp>
#include <mastic/core/host_name.hpp>

namespace mastic::comm {

namespace {

std::string first_word_of(const std::string& path) {
    std::string word;
    std::ifstream(path) >> word;
    return word;
}

// Two containers or network namespaces of one host have each their own loopback.
std::string network_namespace() {
    char target[64] = "";
    const ssize_t length = ::readlink("/proc/self/ns/net", target, sizeof target);
    return length < 0 ? "" : std::string(target, static_cast<std::size_t>(length));
}

int speed_of(const std::string& interface) {
    int megabits = 0;
    std::ifstream("/sys/class/net/" + interface + "/speed") >> megabits;
    return std::max(megabits, 0);
}

bool link_local(const SocketAddress& address) {
    static const Subnet v4 = Subnet::parse("169.254.0.0/16");
    static const Subnet v6 = Subnet::parse("fe80::/10");
    return v4.contains(address) || v6.contains(address);
}

int prefix_length(const SocketAddress& mask) {
    int bits = 0;
    for (const std::byte byte : mask.bytes()) {
        bits += std::popcount(static_cast<unsigned char>(byte));
    }
    return bits;
}

std::size_t size_of_family(int family) {
    return family == AF_INET ? sizeof(sockaddr_in) : family == AF_INET6 ? sizeof(sockaddr_in6) : 0;
}

}  // namespace

HostAddresses find_host_addresses() {
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) {
        throw Error(ExitCode::environment, std::string("getifaddrs failed: ") + std::strerror(errno));
    }
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
    HostAddresses host{.name = host_name(), .identity = {}, .addresses = {}};
    host.identity =
        host.name + "/" + first_word_of("/proc/sys/kernel/random/boot_id") + "/" + network_namespace();
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
        constexpr unsigned usable = IFF_UP | IFF_RUNNING;
        const std::size_t size = entry->ifa_addr == nullptr ? 0 : size_of_family(entry->ifa_addr->sa_family);
        if (size == 0 || entry->ifa_netmask == nullptr || (entry->ifa_flags & usable) != usable) {
            continue;
        }
        const SocketAddress address(entry->ifa_addr, size);
        if (!link_local(address)) {
            host.addresses.push_back({.interface = entry->ifa_name,
                                      .address = address,
                                      .prefix_length = prefix_length(SocketAddress(entry->ifa_netmask, size)),
                                      .speed = speed_of(entry->ifa_name),
                                      .loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0});
        }
    }
    return host;
}

std::string pack(const HostAddresses& host) {
    std::ostringstream text;
    text << host.name << '\n' << host.identity << '\n';
    for (const InterfaceAddress& one : host.addresses) {
        text << one.interface << ' ' << one.address.host() << ' ' << one.prefix_length << ' ' << one.speed
             << ' ' << one.loopback << '\n';
    }
    return text.str();
}

HostAddresses unpack_host_addresses(const std::string& text) {
    std::istringstream in(text);
    HostAddresses host;
    std::getline(in, host.name);
    std::getline(in, host.identity);
    std::string interface;
    std::string address;
    int length = 0;
    int speed = 0;
    bool loopback = false;
    while (in >> interface >> address >> length >> speed >> loopback) {
        if (const auto parsed = SocketAddress::parse(address)) {
            host.addresses.push_back({interface, *parsed, length, speed, loopback});
        }
    }
    return host;
}

}  // namespace mastic::comm
