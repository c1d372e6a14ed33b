#include <mastic/comm/composed_transport.hpp>

#include <algorithm>
#include <utility>

namespace mastic::comm {

namespace {

class MixedTransport : public Transport {
  public:
    MixedTransport(const Topology& topology, Transport& local, Transport& remote)
        : topology_(topology), local_(local), remote_(remote) {}

    Stream& stream(int peer, int lane) override {
        return topology_.is_local(peer) ? local_.stream(local_rank(peer), lane) : remote_.stream(peer, lane);
    }
    bool event_driven(int peer) const override {
        return topology_.is_local(peer) ? local_.event_driven(local_rank(peer)) : remote_.event_driven(peer);
    }
    std::string description() const override {
        return local_.description() + " in a node, " + remote_.description() + " between nodes";
    }

  private:
    int local_rank(int peer) const {
        const auto& ranks = topology_.local_ranks();
        return static_cast<int>(std::ranges::lower_bound(ranks, peer) - ranks.begin());
    }

    const Topology& topology_;
    Transport& local_;
    Transport& remote_;
};

class SubsetTransport : public Transport {
  public:
    SubsetTransport(std::vector<int> ranks, Transport& all) : ranks_(std::move(ranks)), all_(all) {}

    Stream& stream(int peer, int lane) override { return all_.stream(ranks_[static_cast<std::size_t>(peer)], lane); }
    bool event_driven(int peer) const override {
        return all_.event_driven(ranks_[static_cast<std::size_t>(peer)]);
    }
    std::string description() const override { return all_.description(); }

  private:
    std::vector<int> ranks_;
    Transport& all_;
};

}  // namespace

std::unique_ptr<Transport> make_mixed_transport(const Topology& topology, Transport& local, Transport& remote) {
    return std::make_unique<MixedTransport>(topology, local, remote);
}

std::unique_ptr<Transport> make_subset_transport(std::vector<int> ranks, Transport& all) {
    return std::make_unique<SubsetTransport>(std::move(ranks), all);
}

}  // namespace mastic::comm
