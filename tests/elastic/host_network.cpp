#include "host_network.hpp"

#include <cstdlib>

#include <unistd.h>

namespace mastic::test {
namespace {

bool ip(const std::string& arguments) { return std::system(("ip " + arguments + " 2>/dev/null").c_str()) == 0; }

std::string port(int host) { return "port" + std::to_string(host); }

}  // namespace

HostNetwork::HostNetwork(int hosts) : size_(hosts), switch_("mastic-elastic-" + std::to_string(::getpid()) + "-switch") {
    is_usable_ = ::geteuid() == 0 && ip("netns add " + switch_) && ip("-n " + switch_ + " link add bridge type bridge") &&
                 ip("-n " + switch_ + " link set bridge up");
    for (int host = 0; host < size_; ++host) {
        is_usable_ = is_usable_ && make_host(host);
    }
}

HostNetwork::~HostNetwork() {
    for (int host = 0; host < size_; ++host) {
        ip("netns del " + name(host));
    }
    ip("netns del " + switch_);
}

void HostNetwork::cut(int host) const { ip("-n " + switch_ + " link set " + port(host) + " nomaster"); }

void HostNetwork::heal(int host) const { ip("-n " + switch_ + " link set " + port(host) + " master bridge"); }

std::string HostNetwork::name(int host) const {
    return "mastic-elastic-" + std::to_string(::getpid()) + "-" + std::to_string(host);
}

bool HostNetwork::make_host(int host) const {
    const std::string& own = name(host);
    return ip("netns add " + own) &&
           ip("link add cable netns " + own + " type veth peer name " + port(host) + " netns " + switch_) &&
           ip("-n " + own + " addr add 10.78.0." + std::to_string(host + 1) + "/24 dev cable") &&
           ip("-n " + own + " link set lo up") && ip("-n " + own + " link set cable up") &&
           ip("-n " + switch_ + " link set " + port(host) + " master bridge up");
}

}  // namespace mastic::test
