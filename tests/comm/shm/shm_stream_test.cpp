// Streams carry bytes in order, whatever the sizes of the pieces, between all pairs and on all lanes at once.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include <mastic/comm/shm/shm_node.hpp>
#include <mastic/core/random.hpp>

#include "comm/shm/local_ranks.hpp"
#include "support/expect_error.hpp"
#include "support/tmpfs_mount.hpp"

namespace mastic::comm {
namespace {

using test::expect_error;
using test::expect_ranks;
using test::LocalGroup;

constexpr std::size_t total = 700'001;

std::byte byte_at(int from, int to, int lane, std::size_t index) {
    const auto seed = static_cast<std::uint64_t>(from * 100 + to * 10 + lane);
    return static_cast<std::byte>(CounterRandom::mix(seed * 1'000'003 + index));
}

// Both directions of one stream, a piece at a time.
class Exchange {
  public:
    Exchange(Stream& stream, int me, int peer, int lane)
        : stream_(stream), random_(7, static_cast<std::uint64_t>(me)) {
        for (std::size_t i = 0; i < total; ++i) {
            out_.push_back(byte_at(me, peer, lane, i));
            expected_.push_back(byte_at(peer, me, lane, i));
        }
    }
    void advance() {
        const std::size_t longest = random_.below(3) == 0 ? 300'000 : 500;
        sent_ += stream_.send(out_.data() + sent_, std::min(total - sent_, random_.below(longest)));
        received_ +=
            stream_.receive(in_.data() + received_, std::min(total - received_, random_.below(longest)));
    }
    bool done() const { return sent_ == total && received_ == total; }
    void check() const {
        EXPECT_TRUE(in_ == expected_);
        EXPECT_EQ(stream_.released(), total);
    }

  private:
    Stream& stream_;
    CounterRandom random_;
    std::vector<std::byte> out_;
    std::vector<std::byte> expected_;
    std::vector<std::byte> in_ = std::vector<std::byte>(total);
    std::size_t sent_ = 0;
    std::size_t received_ = 0;
};

TEST(ShmStream, CarriesPiecesOfAnySizeBetweenAllPairs) {
    expect_ranks(3, [](LocalGroup& group) {
        const auto node = ShmNode::create(group, {.lanes = 2});
        EXPECT_FALSE(node->transport().event_driven(0));
        std::vector<Exchange> exchanges;
        for (int peer = 0; peer < group.size(); ++peer) {
            for (int lane = 0; lane < 2 && peer != group.rank(); ++lane) {
                exchanges.emplace_back(node->transport().stream(peer, lane), group.rank(), peer, lane);
            }
        }
        while (!std::ranges::all_of(exchanges, &Exchange::done)) {
            for (Exchange& exchange : exchanges) {
                exchange.advance();
            }
            test::nap();
        }
        for (const Exchange& exchange : exchanges) {
            exchange.check();
        }
    });
}

TEST(ShmStream, IsOneObjectPerPeerAndLane) {
    expect_ranks(2, [](LocalGroup& group) {
        const auto node = ShmNode::create(group, {.lanes = 2});
        Transport& transport = node->transport();
        const int peer = 1 - group.rank();
        EXPECT_EQ(&transport.stream(peer, 0), &transport.stream(peer, 0));
        EXPECT_NE(&transport.stream(peer, 0), &transport.stream(peer, 1));
        for (const auto& [rank, lane] : {std::pair(group.rank(), 0), std::pair(2, 0), std::pair(peer, 2)}) {
            expect_error(ExitCode::usage, "no stream to rank", [&] { transport.stream(rank, lane); });
        }
    });
}

TEST(ShmStream, NoRoomForTheRingIsAnError) {
    const test::TmpfsMount disk(Bytes{std::size_t(8) << 20});
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    expect_ranks(2, [&](LocalGroup& group) {
        const auto node = ShmNode::create(group, {.lanes = 1, .directory = disk.path()});
        std::vector<std::shared_ptr<void>> all;
        while (auto memory = node->allocate(4096)) {
            all.push_back(std::move(memory));
        }
        group.barrier();
        expect_error(ExitCode::environment, "no room for shared memory",
                     [&] { node->transport().stream(1 - group.rank(), 0); });
        group.barrier();
    });
}

}  // namespace
}  // namespace mastic::comm
