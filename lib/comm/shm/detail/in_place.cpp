#include <mastic/comm/shm/detail/in_place.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include <mastic/core/error.hpp>

namespace mastic::comm::detail {
namespace {

// As the size of the buffer in the second offer: this rank could not do its part.
constexpr std::uint64_t failed = std::numeric_limits<std::uint64_t>::max();

// Pieces: what a core's first cache holds, to be added up and copied; what its second cache holds beside the rest, for
// the kernel, whose calls cost; what a step may take (about 0.1 ms), where the data streams.
constexpr std::size_t cached_piece = std::size_t(16) << 10;
constexpr std::size_t kernel_piece = std::size_t(128) << 10;
constexpr std::size_t step_bytes = std::size_t(256) << 10;

}  // namespace

InPlace::InPlace(ShmLane& lane, const ShmWork& work, ShmMethod method, CopyChoice* choice)
    : lane_(lane), work_(work), method_(method), choice_(choice) {}

std::unique_ptr<InPlace> InPlace::small(ShmLane& lane, const ShmWork& work) {
    auto operation = std::make_unique<InPlace>(lane, work, ShmMethod::automatic);
    operation->one_shot_.emplace(lane, work);
    return operation;
}

void InPlace::start() {
    Offer offer{reinterpret_cast<std::uint64_t>(work_.buffer.data), work_.bytes(work_.buffer.count)};
    const bool is_shared = lane_.memory().find(lane_.rank(), offer.address, offer.bytes) != nullptr;
    offer.copy = copy_on_offer(is_shared);
    if (one_shot_ && !is_shared) {
        one_shot_->start_with(offer);
    } else {
        lane_.publish(offer);
    }
}

Offer::Copy InPlace::copy_on_offer(bool own_is_shared) {
    if (choice_ == nullptr || own_is_shared || !lane_.memory().try_to_reserve_cycles(lane_.lane())) {
        return Offer::Copy::impossible;
    }
    const bool preferred = lane_.rank() == 0 && choice_->next(choice_work()) == PrivateWay::copy;
    return preferred ? Offer::Copy::preferred : Offer::Copy::possible;
}

CopyChoice::Work InPlace::choice_work() const {
    return {static_cast<int>(work_.kind), work_.bytes(work_.buffer.count)};
}

Step InPlace::step() {
    if (other_ == nullptr && state_ == State::offered) {
        if (!lane_.has_come()) {
            return Step::waiting;
        }
        look_at_offers();
    }
    const Step step = other_ != nullptr ? other_->step() : own_step();
    if (step == Step::complete && timed_) {
        const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - began_;
        choice_->took(choice_work(), *timed_, duration.count());
    }
    return step;
}

Step InPlace::own_step() {
    if (state_ == State::working) {
        work();
        return state_ == State::leaving && lane_.has_come() ? leave() : Step::advanced;
    }
    return lane_.has_come() ? leave() : Step::waiting;
}

void InPlace::look_at_offers() {
    const NodeMemory& memory = lane_.memory();
    const auto find = [&](int rank) {
        return memory.find(rank, lane_.offer_of(rank).address, lane_.offer_of(rank).bytes);
    };
    const bool own_is_shared = find(lane_.rank()) != nullptr;
    bool all_shared = own_is_shared;
    bool none_shared = !own_is_shared;
    bool all_can_copy = lane_.offer_of(lane_.rank()).copy != Offer::Copy::impossible;
    for (int step = 1; step < lane_.size(); ++step) {
        const int rank = (lane_.rank() + step) % lane_.size();
        const Offer& offer = lane_.offer_of(rank);
        if (offer.bytes != work_.bytes(work_.buffer.count)) {
            throw Error(ExitCode::collective,
                        "rank " + std::to_string(rank) + " of this node takes part with " +
                            std::to_string(offer.bytes) + " bytes, rank " + std::to_string(lane_.rank()) +
                            " with " + std::to_string(work_.bytes(work_.buffer.count)),
                        "all ranks must start the same operations in the same order");
        }
        std::byte* mapped = method_ == ShmMethod::single_copy ? nullptr : find(rank);
        all_shared = all_shared && mapped != nullptr;
        none_shared = none_shared && mapped == nullptr;
        all_can_copy = all_can_copy && offer.copy != Offer::Copy::impossible;
        peers_.push_back({memory.process(rank), offer.address, mapped});
    }
    if (method_ == ShmMethod::direct && !all_shared) {
        throw Error(ExitCode::usage,
                    "method 'direct' needs buffers from allocate() on all ranks of the node");
    }
    if (one_shot_ && !all_shared) {
        if (!none_shared) {
            one_shot_->start();  // again: the shared ones are not in their slots
        }
        other_ = &*one_shot_;
        return;
    }
    if (all_can_copy) {
        const bool copies = lane_.offer_of(0).copy == Offer::Copy::preferred;
        begin_timed(copies ? PrivateWay::copy : PrivateWay::through_kernel);
        if (copies) {
            go_on_with_copy();
            return;
        }
    }
    if (all_shared || memory.single_copy()) {
        state_ = State::working;
        choose_pieces();
        return;
    }
    if (method_ == ShmMethod::single_copy) {
        throw Error(ExitCode::usage,
                    "method 'single-copy' is not possible: the kernel does not let the ranks of this "
                    "node read each other's memory");
    }
    go_on_with_copy();
}

void InPlace::go_on_with_copy() {
    other_ = &copy_.emplace(lane_, work_);
    other_->start();
}

// Only rank 0's times are asked for. When its peers begin says nothing of the way.
void InPlace::begin_timed(PrivateWay way) {
    lane_.touch_cycles();
    if (lane_.rank() == 0) {
        timed_ = way;
        began_ = std::chrono::steady_clock::now();
    }
}

void InPlace::choose_pieces() {
    const bool all_mapped =
        std::ranges::all_of(peers_, [](const Peer& peer) { return peer.mapped != nullptr; });
    const std::size_t per_piece = !all_mapped ? kernel_piece : peers_.size() == 1 ? step_bytes : cached_piece;
    piece_size_ = per_piece / size_of(work_.buffer.type);
    pieces_per_step_ = std::max<std::size_t>(step_bytes / per_piece / peers_.size(), 1);
}

void InPlace::work() {
    bool more = true;
    try {
        for (std::size_t piece = 0; more && piece < pieces_per_step_; ++piece) {
            more = work_.reduces() ? reduce_piece() : fetch_piece();
        }
    } catch (const ProcessGone&) {
        throw;  // it will never say that it leaves
    } catch (...) {
        failure_ = std::current_exception();
        more = false;
    }
    if (!more) {
        lane_.publish({0, failure_ ? failed : 0});
        state_ = State::leaving;
    }
}

Step InPlace::leave() {
    if (failure_) {
        std::rethrow_exception(failure_);
    }
    for (const Peer& peer : peers_) {
        if (lane_.offer_of(peer.process.rank).bytes == failed) {
            throw Error(ExitCode::collective,
                        "rank " + std::to_string(peer.process.rank) +
                            " of this node could not do its part of the reduction",
                        "its own message says why");
        }
    }
    return Step::complete;
}

bool InPlace::reduce_piece() {
    const int part = lane_.rank();
    if (!work_.owns_part(part) || next_ == work_.parts.size(part)) {
        return false;
    }
    const std::size_t begin = work_.parts.begin(part) + next_;
    const std::size_t count = std::min(piece_size_, work_.parts.size(part) - next_);
    next_ += count;
    const bool both_at_once =
        peers_.size() == 1 && peers_[0].mapped != nullptr && work_.spreads() && work_.average_over == 0;
    if (both_at_once) {
        work_.reduce_both(work_.at(begin), peers_[0].mapped + work_.bytes(begin), count);
        return next_ < work_.parts.size(part);
    }
    for (const Peer& peer : peers_) {
        reduce_from(peer, begin, count);
    }
    work_.finish(work_.at(begin), count);
    for (std::size_t i = 0; i < peers_.size() && work_.spreads(); ++i) {
        copy_to(peers_[i], begin, count);
    }
    return next_ < work_.parts.size(part);
}

bool InPlace::fetch_piece() {
    while (peer_at_hand_ < peers_.size()) {
        const Peer& peer = peers_[peer_at_hand_];
        const int part = peer.process.rank;
        if (work_.owns_part(part) && next_ < work_.parts.size(part)) {
            const std::size_t count = std::min(piece_size_, work_.parts.size(part) - next_);
            copy_from(peer, work_.parts.begin(part) + next_, count);
            next_ += count;
            return true;
        }
        next_ = 0;
        ++peer_at_hand_;
    }
    return false;
}

void InPlace::reduce_from(const Peer& peer, std::size_t begin, std::size_t count) {
    const std::byte* from = peer.mapped + work_.bytes(begin);
    if (peer.mapped == nullptr) {
        std::byte* scratch = lane_.scratch(kernel_piece);
        read_process(peer.process, peer.address + work_.bytes(begin), scratch, work_.bytes(count));
        from = scratch;
    }
    work_.reduce(work_.at(begin), from, count);
}

void InPlace::copy_to(const Peer& peer, std::size_t begin, std::size_t count) {
    if (peer.mapped != nullptr) {
        std::memcpy(peer.mapped + work_.bytes(begin), work_.at(begin), work_.bytes(count));
    } else {
        write_process(peer.process, peer.address + work_.bytes(begin), work_.at(begin), work_.bytes(count));
    }
}

void InPlace::copy_from(const Peer& peer, std::size_t begin, std::size_t count) {
    if (peer.mapped != nullptr) {
        std::memcpy(work_.at(begin), peer.mapped + work_.bytes(begin), work_.bytes(count));
    } else {
        read_process(peer.process, peer.address + work_.bytes(begin), work_.at(begin), work_.bytes(count));
    }
}

}  // namespace mastic::comm::detail
