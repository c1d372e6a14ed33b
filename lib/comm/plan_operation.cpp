#include <mastic/comm/plan_operation.hpp>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <mastic/comm/reduction.hpp>

namespace mastic::comm {

namespace {

constexpr std::size_t largest_element = 8;
// After this much on one track the others get their turn.
constexpr std::size_t turn = 1u << 20;

// How far a step has come. All positions are bytes of the buffer, whatever travels.
struct Progress {
    int place = 0;                // of the block that it works on; block_count: done
    std::size_t offset = 0;       // in that block
    std::uint64_t stream_begin = 0;  // of a send: what its stream had taken before it
};

// What has been handed to a stream, and what it has let go of.
class SendingEnd {
  public:
    explicit SendingEnd(Stream& stream) : stream_(stream), before_(stream.released()) {}

    std::size_t send(const std::byte* data, std::size_t bytes) {
        const std::size_t taken = stream_.send(data, bytes);
        sent_ += taken;
        return taken;
    }
    std::uint64_t sent() const { return sent_; }
    std::uint64_t released() const { return stream_.released() - before_; }
    bool idle() const { return released() == sent_; }

  private:
    Stream& stream_;
    std::uint64_t before_;
    std::uint64_t sent_ = 0;
};

// Values of a 16-bit wire on their way into a stream.
class EncodedWindow {
  public:
    bool empty() const { return begin_ == end_; }
    // The stream must have released what was here.
    void fill(Wire wire, float* values, std::size_t count) {
        values_.resize(std::max(values_.size(), count));
        encode(wire, values, values_.data(), count);
        begin_ = 0;
        end_ = count * sizeof(std::uint16_t);
    }
    std::size_t send_to(SendingEnd& end) {
        const std::size_t taken =
            end.send(reinterpret_cast<const std::byte*>(values_.data()) + begin_, end_ - begin_);
        begin_ += taken;
        return taken;
    }

  private:
    std::vector<std::uint16_t> values_;
    std::size_t begin_ = 0;  // bytes
    std::size_t end_ = 0;    // bytes
};

class PlanOperation : public Operation {
  public:
    PlanOperation(std::shared_ptr<const PlanSchedule> schedule, Transport& transport, BufferView buffer, ReduceOp op,
                  const PlanOperationOptions& options);

    void start() override;
    Step step() override;
    bool event_driven() const override { return event_driven_; }

  private:
    struct Track {
        const std::vector<int>* steps = nullptr;
        std::size_t next = 0;  // in `steps`
    };
    struct SendTrack : Track {
        SendingEnd end;
        EncodedWindow window{};
    };
    struct ReceiveTrack : Track {
        Stream* stream = nullptr;
        // What came and has not been reduced yet, because an element is incomplete or the step before holds it back: two
        // ranks that exchange a block can both receive before either has let go of what it sent.
        std::unique_ptr<std::byte[]> held{};
        std::size_t held_begin = 0;
        std::size_t held_end = 0;
    };

    std::unique_ptr<std::byte[]> make_held(const PlanSchedule::Track& track) const;
    std::size_t held_capacity() const { return std::min(piece_, buffer_.bytes()) + largest_element; }
    bool is_complete(const SendTrack& track) const {
        return track.next == track.steps->size() && track.window.empty() && track.end.idle();
    }
    // Each moves what it can now, about a turn at most; returns whether that was anything.
    bool advance(SendTrack& track);
    bool advance(ReceiveTrack& track);
    // One piece of the step: how many bytes of the stream went, whether something came.
    std::size_t send_piece(SendTrack& track, int step, Progress& at);
    bool receive_piece(ReceiveTrack& track, int step, Progress& at);
    bool receive_values(ReceiveTrack& track, int step, Progress& at);
    void apply(const PlanStep& step, std::byte* into, const std::byte* from, std::size_t count);

    std::byte* data_of(int block) const {
        return static_cast<std::byte*>(buffer_.data) + layout_.begin(block) * element_;
    }
    std::size_t bytes_of(int block) const { return layout_.size(block) * element_; }
    // Moves on to the next block that is not empty; false at the end of the step.
    bool enter_block(int step, Progress& at) const;
    // Bytes of the present block that the steps before have left to this one.
    std::size_t limit(int step, const Progress& at) const;
    std::size_t passed(int step, int block) const;    // bytes of the block that the step is through with
    std::size_t released(int step, int block) const;  // of a send: those whose memory is free again
    std::size_t bytes_before(int step, int place) const;

    std::shared_ptr<const PlanSchedule> schedule_;
    Transport& transport_;
    BufferView buffer_;
    int lane_;
    BlockLayout layout_;
    std::size_t element_;
    Wire wire_;
    std::size_t unit_;   // bytes of an element on its way
    std::size_t piece_;  // bytes
    ReduceFunction reduce_;
    std::vector<Progress> progress_;  // by step
    std::vector<SendTrack> sends_;
    std::vector<ReceiveTrack> receives_;
    std::vector<const SendTrack*> track_of_send_;  // by step; null: a receive
    bool event_driven_ = false;
};

bool takes_wire(const BufferView& buffer, ReduceOp op) {
    return buffer.type == DataType::float32 && (op == ReduceOp::sum || op == ReduceOp::average);
}

PlanOperation::PlanOperation(std::shared_ptr<const PlanSchedule> schedule, Transport& transport, BufferView buffer,
                             ReduceOp op, const PlanOperationOptions& options)
    : schedule_(std::move(schedule)),
      transport_(transport),
      buffer_(buffer),
      lane_(options.lane),
      layout_(buffer.count, schedule_->plan().blocks, options.equal_parts ? 1 : 64),
      element_(size_of(buffer.type)),
      wire_(takes_wire(buffer, op) ? options.wire : Wire::exact),
      unit_(wire_ == Wire::exact ? element_ : sizeof(std::uint16_t)),
      piece_(std::max<std::size_t>(options.segment.count / element_, 64) * element_),
      reduce_(find_reduce(buffer.type, op)),
      progress_(schedule_->plan().steps.size()) {}

void PlanOperation::start() {
    for (const PlanSchedule::Track& track : schedule_->tracks()) {
        Stream& stream = transport_.stream(track.peer, lane_);
        if (track.sends) {
            sends_.push_back({{&track.steps}, SendingEnd(stream)});
        } else {
            receives_.push_back({{&track.steps}, &stream, make_held(track)});
        }
    }
    event_driven_ = std::ranges::all_of(schedule_->tracks(), [this](const PlanSchedule::Track& track) {
        return transport_.event_driven(track.peer);
    });
    track_of_send_.resize(progress_.size(), nullptr);
    for (const SendTrack& track : sends_) {
        for (const int step : *track.steps) {
            track_of_send_[static_cast<std::size_t>(step)] = &track;
        }
    }
}

Step PlanOperation::step() {
    bool advanced = false;
    for (SendTrack& track : sends_) {
        advanced = advance(track) || advanced;
    }
    for (ReceiveTrack& track : receives_) {
        advanced = advance(track) || advanced;
    }
    const bool complete =
        std::all_of(sends_.begin(), sends_.end(), [this](const SendTrack& track) { return is_complete(track); }) &&
        std::all_of(receives_.begin(), receives_.end(),
                    [](const ReceiveTrack& track) { return track.next == track.steps->size(); });
    return complete ? Step::complete : advanced ? Step::advanced : Step::waiting;
}

// Null if all that the track receives goes straight to its place.
std::unique_ptr<std::byte[]> PlanOperation::make_held(const PlanSchedule::Track& track) const {
    const bool values = wire_ != Wire::exact || std::ranges::any_of(track.steps, [this](int step) {
        return schedule_->step(step).action == Action::receive_reduce;
    });
    if (!values) {
        return nullptr;
    }
    return std::make_unique_for_overwrite<std::byte[]>(held_capacity());
}

bool PlanOperation::advance(SendTrack& track) {
    std::size_t moved = 0;
    while (moved < turn) {
        if (!track.window.empty()) {
            const std::size_t taken = track.window.send_to(track.end);
            moved += taken;
            if (taken == 0) {
                break;
            }
            continue;
        }
        if (track.next == track.steps->size()) {
            break;
        }
        const int step = (*track.steps)[track.next];
        Progress& at = progress_[static_cast<std::size_t>(step)];
        if (at.place == 0 && at.offset == 0) {
            at.stream_begin = track.end.sent();
        }
        if (!enter_block(step, at)) {
            ++track.next;
            continue;
        }
        const std::size_t taken = send_piece(track, step, at);
        if (taken == 0) {
            break;
        }
        moved += taken;
    }
    return moved > 0;
}

std::size_t PlanOperation::send_piece(SendTrack& track, int step, Progress& at) {
    const std::size_t room = std::min(limit(step, at), at.offset + piece_) - at.offset;
    std::byte* from = data_of(schedule_->block(step, at.place)) + at.offset;
    if (wire_ == Wire::exact) {
        const std::size_t taken = room == 0 ? 0 : track.end.send(from, room);
        at.offset += taken;
        return taken;
    }
    const std::size_t count = room / element_;
    if (count == 0 || !track.end.idle()) {
        return 0;
    }
    track.window.fill(wire_, reinterpret_cast<float*>(from), count);
    at.offset += count * element_;
    return count * unit_;
}

bool PlanOperation::advance(ReceiveTrack& track) {
    const std::size_t pieces = std::max<std::size_t>(1, turn / piece_);
    std::size_t moved = 0;
    while (moved < pieces && track.next < track.steps->size()) {
        const int step = (*track.steps)[track.next];
        Progress& at = progress_[static_cast<std::size_t>(step)];
        if (!enter_block(step, at)) {
            ++track.next;
            continue;
        }
        if (!receive_piece(track, step, at)) {
            break;
        }
        ++moved;
    }
    return moved > 0;
}

bool PlanOperation::receive_piece(ReceiveTrack& track, int step, Progress& at) {
    const PlanStep& now = schedule_->step(step);
    if (track.held && (now.action == Action::receive_reduce || wire_ != Wire::exact)) {
        return receive_values(track, step, at);
    }
    const std::size_t end = limit(step, at);
    if (end <= at.offset) {
        return false;
    }
    const int block = schedule_->block(step, at.place);
    const std::size_t came = track.stream->receive(data_of(block) + at.offset, std::min(end - at.offset, piece_));
    at.offset += came;
    return came > 0;
}

// A transport may be filling what it was given until it says how much came: until then nothing moves in `held`.
bool PlanOperation::receive_values(ReceiveTrack& track, int step, Progress& at) {
    const int block = schedule_->block(step, at.place);
    const std::size_t to_come =
        (bytes_of(block) - at.offset) / element_ * unit_ - (track.held_end - track.held_begin);
    const std::size_t room = std::min(to_come, held_capacity() - track.held_end);
    const std::size_t came = room == 0 ? 0 : track.stream->receive(track.held.get() + track.held_end, room);
    track.held_end += came;

    const std::size_t end = limit(step, at);
    const std::size_t allowed = end <= at.offset ? 0 : (end - at.offset) / element_;
    const std::size_t count = std::min((track.held_end - track.held_begin) / unit_, allowed);
    apply(schedule_->step(step), data_of(block) + at.offset, track.held.get() + track.held_begin, count);
    at.offset += count * element_;
    track.held_begin += count * unit_;

    if (came > 0 || room == 0) {
        std::memmove(track.held.get(), track.held.get() + track.held_begin, track.held_end - track.held_begin);
        track.held_end -= std::exchange(track.held_begin, 0);
    }
    return came > 0 || count > 0;
}

void PlanOperation::apply(const PlanStep& step, std::byte* into, const std::byte* from, std::size_t count) {
    if (wire_ == Wire::exact) {
        reduce_(into, from, count);
        return;
    }
    auto* values = reinterpret_cast<float*>(into);
    const auto* encoded = reinterpret_cast<const std::uint16_t*>(from);
    if (step.action == Action::receive) {
        decode(wire_, encoded, values, count);
    } else {
        decode_add(wire_, encoded, values, count);
    }
}

bool PlanOperation::enter_block(int step, Progress& at) const {
    const int count = schedule_->step(step).block_count;
    while (at.place < count && at.offset == bytes_of(schedule_->block(step, at.place))) {
        ++at.place;
        at.offset = 0;
    }
    return at.place < count;
}

// What is sent must have been received, and what is overwritten must have been released by all that send it.
std::size_t PlanOperation::limit(int step, const Progress& at) const {
    const int block = schedule_->block(step, at.place);
    std::size_t limit = bytes_of(block);
    int before = schedule_->predecessor(step, at.place);
    if (schedule_->step(step).action == Action::send) {
        return before == PlanSchedule::none ? limit : passed(before, block);
    }
    while (before != PlanSchedule::none && schedule_->step(before).action == Action::send) {
        limit = std::min(limit, released(before, block));
        before = schedule_->predecessor(before, schedule_->place_of(before, block));
    }
    return before == PlanSchedule::none ? limit : std::min(limit, passed(before, block));
}

std::size_t PlanOperation::passed(int step, int block) const {
    const Progress& at = progress_[static_cast<std::size_t>(step)];
    const int place = schedule_->place_of(step, block);
    return place < at.place ? bytes_of(block) : place == at.place ? at.offset : 0;
}

// What a half wire sends has been copied.
std::size_t PlanOperation::released(int step, int block) const {
    const std::size_t taken = passed(step, block);
    if (wire_ != Wire::exact || taken == 0) {
        return taken;
    }
    const auto index = static_cast<std::size_t>(step);
    const std::uint64_t begin =
        progress_[index].stream_begin + bytes_before(step, schedule_->place_of(step, block));
    const std::uint64_t released = track_of_send_[index]->end.released();
    return released <= begin ? 0 : std::min<std::uint64_t>(released - begin, taken);
}

std::size_t PlanOperation::bytes_before(int step, int place) const {
    const int first = schedule_->step(step).first_block;
    const int blocks = layout_.blocks();
    const std::size_t elements = first + place <= blocks
                                     ? layout_.begin(first + place) - layout_.begin(first)
                                     : layout_.count() - layout_.begin(first) + layout_.begin(first + place - blocks);
    return elements * element_;
}

}  // namespace

std::unique_ptr<Operation> make_plan_operation(std::shared_ptr<const PlanSchedule> schedule, Transport& transport,
                                               BufferView buffer, ReduceOp op, const PlanOperationOptions& options) {
    return std::make_unique<PlanOperation>(std::move(schedule), transport, buffer, op, options);
}

}  // namespace mastic::comm
