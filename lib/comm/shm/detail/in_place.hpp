// The owner of each part reads and writes it in the buffers of all ranks, where they lie: through the shared mapping or,
// private ones, through the kernel. Two synchronisations: buffers are offered, buffers are free again.
//
// Where that is impossible or not worth while, the operation goes on as another one. All ranks see all offers, so all
// decide alike.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <vector>

#include <mastic/comm/operation.hpp>
#include <mastic/comm/shm/detail/one_shot.hpp>
#include <mastic/comm/shm/detail/segmented_copy.hpp>
#include <mastic/comm/shm/detail/shm_lane.hpp>
#include <mastic/comm/shm/detail/shm_work.hpp>
#include <mastic/comm/shm/shm_node.hpp>

namespace mastic::comm::detail {

class InPlace : public Operation {
  public:
    // `method`: automatic, direct or single_copy. `small`: an allreduce that goes through slots at once, unless all
    // buffers are shared. A private message is put into the slot together with the offer, so one synchronisation is
    // enough.
    InPlace(ShmLane& lane, const ShmWork& work, ShmMethod method, bool small = false);
    void start() override;
    Step step() override;

  private:
    enum class State { offered, working, leaving };
    struct Peer {
        RemoteProcess process;
        std::uint64_t address = 0;    // there
        std::byte* mapped = nullptr;  // here; null: through the kernel
    };

    void look_at_offers();
    void choose_pieces();
    void work();
    Step leave();
    // Each does one piece and returns false when none is left.
    bool reduce_piece();
    bool fetch_piece();
    void reduce_from(const Peer& peer, std::size_t begin, std::size_t count);
    void copy_to(const Peer& peer, std::size_t begin, std::size_t count);
    void copy_from(const Peer& peer, std::size_t begin, std::size_t count);

    ShmLane& lane_;
    ShmWork work_;
    ShmMethod method_;
    State state_ = State::offered;
    std::vector<Peer> peers_;     // from the next higher rank on, round to the next lower one
    std::size_t piece_size_ = 0;  // elements
    std::size_t pieces_per_step_ = 1;
    std::size_t next_ = 0;             // elements of the part at hand that are done
    std::size_t peer_at_hand_ = 0;     // when fetching
    std::exception_ptr failure_;       // to be thrown when nobody uses the buffers any more
    std::optional<OneShot> one_shot_;  // if small
    std::optional<SegmentedCopy> copy_;
    Operation* other_ = nullptr;  // the one of these that goes on instead
};

}  // namespace mastic::comm::detail
