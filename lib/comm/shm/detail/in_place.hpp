// The owner of each part reads and writes it in the buffers of all ranks, where they lie: through the shared mapping or,
// private ones, through the kernel. Two synchronisations: buffers are offered, buffers are free again.
//
// Private buffers of all ranks may be copied through shared memory instead, if all ranks have room for it and rank 0, which
// measures, says so in its offer.
//
// Where that is impossible or not worth while, the operation goes on as another one. All ranks see all offers, so all
// decide alike.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include <mastic/comm/operation.hpp>
#include <mastic/comm/shm/detail/copy_choice.hpp>
#include <mastic/comm/shm/detail/one_shot.hpp>
#include <mastic/comm/shm/detail/segmented_copy.hpp>
#include <mastic/comm/shm/detail/shm_lane.hpp>
#include <mastic/comm/shm/detail/shm_work.hpp>
#include <mastic/comm/shm/shm_node.hpp>

namespace mastic::comm::detail {

class InPlace : public Operation {
  public:
    // `method`: automatic, direct or single_copy. `choice`: null where copies are out of the question.
    InPlace(ShmLane& lane, const ShmWork& work, ShmMethod method, CopyChoice* choice = nullptr);
    // An allreduce that goes through slots at once, unless all buffers are shared. A private message is put into the slot
    // together with the offer, so one synchronisation is enough.
    static std::unique_ptr<InPlace> small(ShmLane& lane, const ShmWork& work);
    void start() override;
    Step step() override;

  private:
    enum class State { offered, working, leaving };
    struct Peer {
        RemoteProcess process;
        std::uint64_t address = 0;    // there
        std::byte* mapped = nullptr;  // here; null: through the kernel
    };

    Offer::Copy copy_on_offer(bool own_is_shared);
    CopyChoice::Work choice_work() const;
    Step own_step();
    void look_at_offers();
    void go_on_with_copy();
    void begin_timed(PrivateWay way);
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
    CopyChoice* choice_;
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
    std::optional<PrivateWay> timed_;
    std::chrono::steady_clock::time_point began_;
};

}  // namespace mastic::comm::detail
