// Hosts of a network that can be cut: network namespaces of this host, each with one cable to a switch. Needs root.
#pragma once

#include <string>

namespace mastic::test {

class HostNetwork {
  public:
    explicit HostNetwork(int hosts);
    ~HostNetwork();
    HostNetwork(const HostNetwork&) = delete;
    HostNetwork& operator=(const HostNetwork&) = delete;

    bool is_usable() const { return is_usable_; }
    int size() const { return size_; }
    // Of a host's namespace, for setns.
    std::string path(int host) const { return "/run/netns/" + name(host); }
    // What is sent to and from this host gets lost from now on, and nobody is told.
    void cut(int host) const;
    void heal(int host) const;

  private:
    std::string name(int host) const;
    bool make_host(int host) const;

    int size_;
    std::string switch_;
    bool is_usable_ = false;
};

}  // namespace mastic::test
