#include <mastic/comm/mpi/detail/mpi_transport.hpp>

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <vector>

#include <mastic/comm/mpi/detail/check.hpp>

namespace mastic::comm::detail {

namespace {

constexpr std::size_t longest_message = std::numeric_limits<int>::max();

class MpiStream : public Stream {
  public:
    MpiStream(MPI_Comm comm, int peer, int tag, int depth)
        : comm_(comm), peer_(peer), tag_(tag), depth_(static_cast<std::size_t>(depth)) {}

    std::size_t send(const std::byte* data, std::size_t bytes) override {
        if (bytes == 0 || (sending_.size() >= depth_ && !forget_sent())) {
            return 0;
        }
        const std::size_t taken = std::min(bytes, longest_message);
        Sending& sending = sending_.emplace_back(Sending{MPI_REQUEST_NULL, taken});
        check(MPI_Isend(data, static_cast<int>(taken), MPI_BYTE, peer_, tag_, comm_, &sending.request), "MPI_Isend");
        return taken;
    }

    std::uint64_t released() override {
        forget_sent();
        return released_;
    }

    std::size_t receive(std::byte* into, std::size_t bytes) override {
        if (late_begin_ < late_.size() && receiving_ == MPI_REQUEST_NULL) {
            return take_late(into, bytes);
        }
        if (receiving_ == MPI_REQUEST_NULL && !begin(into, bytes)) {
            return 0;
        }
        int done = 0;
        check(MPI_Test(&receiving_, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done == 0) {
            return 0;
        }
        if (late_begin_ < late_.size()) {
            return take_late(into, bytes);
        }
        return length_;
    }

  private:
    struct Sending {
        MPI_Request request;
        std::size_t bytes;
    };

    // The oldest messages that are done. True if there was one.
    bool forget_sent() {
        bool any = false;
        while (!sending_.empty()) {
            int done = 0;
            check(MPI_Test(&sending_.front().request, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (done == 0) {
                break;
            }
            released_ += sending_.front().bytes;
            sending_.pop_front();
            any = true;
        }
        return any;
    }

    // Begins to receive the next message, if there is one: straight to its place where all of it fits there. The caller
    // asks for the same place again until it has come.
    bool begin(std::byte* into, std::size_t bytes) {
        int there = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        check(MPI_Improbe(peer_, tag_, comm_, &there, &message, &status), "MPI_Improbe");
        if (there == 0) {
            return false;
        }
        int length = 0;
        check(MPI_Get_count(&status, MPI_BYTE, &length), "MPI_Get_count");
        length_ = static_cast<std::size_t>(length);
        late_.resize(length_ <= bytes ? 0 : length_);
        late_begin_ = 0;
        void* place = late_.empty() ? into : late_.data();
        check(MPI_Imrecv(place, length, MPI_BYTE, &message, &receiving_), "MPI_Imrecv");
        return true;
    }

    std::size_t take_late(std::byte* into, std::size_t bytes) {
        const std::size_t taken = std::min(bytes, late_.size() - late_begin_);
        std::memcpy(into, late_.data() + late_begin_, taken);
        late_begin_ += taken;
        return taken;
    }

    MPI_Comm comm_;
    int peer_;
    int tag_;
    std::size_t depth_;
    std::deque<Sending> sending_;
    std::uint64_t released_ = 0;
    MPI_Request receiving_ = MPI_REQUEST_NULL;
    std::size_t length_ = 0;       // of the message that is being received
    std::vector<std::byte> late_;  // a message that did not fit
    std::size_t late_begin_ = 0;
};

class MpiTransport : public Transport {
  public:
    MpiTransport(MPI_Comm comm, int depth) : comm_(comm), depth_(depth) {}
    ~MpiTransport() override { MPI_Comm_free(&comm_); }

    Stream& stream(int peer, int lane) override {
        return streams_.try_emplace({peer, lane}, comm_, peer, lane, depth_).first->second;
    }
    bool event_driven(int) const override { return false; }
    std::string description() const override { return "MPI messages"; }

  private:
    MPI_Comm comm_;
    int depth_;
    std::map<std::pair<int, int>, MpiStream> streams_;
};

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(MPI_Comm comm, int depth) {
    return std::make_unique<MpiTransport>(comm, depth);
}

}  // namespace mastic::comm::detail
