#include <mastic/comm/tcp/tcp_connection.hpp>

#include <cerrno>
#include <cstring>

#include <sys/socket.h>

#include <mastic/comm/tcp/tcp_socket.hpp>

namespace mastic::comm {

TcpConnection::TcpConnection(EventLoop& loop, const TcpPeer& peer, FirstLost& lost, Seconds silence)
    : loop_(loop), peer_(peer), lost_(lost), silence_(silence) {}

TcpConnection::~TcpConnection() {
    if (socket_.valid()) {
        loop_.remove(socket_.get());
    }
}

void TcpConnection::connect(const HelloBytes& hello, Seconds timeout) {
    hello_ = hello;
    connector_ = std::make_unique<Connector>(loop_, static_cast<EventHandler&>(*this), peer_.address,
                                             Clock::now() + to_ticks(timeout));
}

bool TcpConnection::adopt(Descriptor accepted) {
    if (socket_.valid() || failure_) {
        return false;
    }
    socket_ = std::move(accepted);
    set_up_connection(socket_.get(), silence_);
    loop_.add(socket_.get(), *this);
    return true;
}

void TcpConnection::tick(Clock::time_point now) {
    if (failure_) {
        return;
    }
    if (connector_) {
        connector_->too_late(now) ? fail_to_connect() : advance(false);
    } else if (socket_.valid()) {
        look_for_life(now);
    }
}

void TcpConnection::give_up_waiting() {
    if (!socket_.valid() && !failure_) {
        fail_by(0);
    }
}

std::size_t TcpConnection::send(const std::byte* data, std::size_t bytes) {
    check();
    while (writable_ && bytes > 0) {
        const ssize_t count = ::send(socket_.get(), data, bytes, MSG_NOSIGNAL);
        if (count >= 0) {
            sent_ += static_cast<std::uint64_t>(count);
            return static_cast<std::size_t>(count);
        }
        if (errno == EAGAIN) {
            writable_ = false;
        } else if (errno != EINTR) {
            fail_by(errno);
            check();
        }
    }
    return 0;
}

std::size_t TcpConnection::receive(std::byte* into, std::size_t bytes) {
    check();
    while (readable_ && bytes > 0) {
        const ssize_t count = ::recv(socket_.get(), into, bytes, 0);
        if (count > 0) {
            return static_cast<std::size_t>(count);
        }
        if (count < 0 && errno == EAGAIN) {
            readable_ = false;
        } else if (count == 0 || errno != EINTR) {
            fail_by(count == 0 ? 0 : errno);
            check();
        }
    }
    return 0;
}

void TcpConnection::ready(bool readable, bool writable) {
    if (connector_) {
        advance(true);
        return;
    }
    readable_ = readable_ || readable;
    writable_ = writable_ || writable;
}

void TcpConnection::hung_up() {
    hung_up_ = !connector_;
    if (hung_up_ && lost_.peer == nullptr) {
        lost_.peer = &peer_;
    }
}

void TcpConnection::advance(bool told) {
    Descriptor connected = connector_->advance(told);
    if (!connected.valid()) {
        return;
    }
    connector_.reset();
    socket_ = std::move(connected);
    set_up_connection(socket_.get(), silence_);
    // The buffer of a new connection holds it whole.
    if (::send(socket_.get(), hello_.data(), hello_.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(hello_.size())) {
        fail_by(errno);
        return;
    }
    readable_ = writable_ = true;
}

// TCP_USER_TIMEOUT would do it, but it also ends the connection to a peer that is alive and just does not read for long.
void TcpConnection::look_for_life(Clock::time_point now) {
    const Liveness liveness = liveness_of(socket_.get());
    if (liveness.answered) {
        unanswered_since_.reset();
        return;
    }
    if (!unanswered_since_) {
        unanswered_since_ = now;
    }
    // Two clocks: after a long idle time the last answer is old, and between two ticks there may have been answers.
    if (now - *unanswered_since_ >= to_ticks(silence_) && liveness.last_answer >= silence_) {
        fail_by(ETIMEDOUT);
    }
}

void TcpConnection::check() {
    if (failure_) {
        if (const auto tell = std::exchange(lost_.tell_others, {})) {
            tell(failure_->rank());
        }
        throw *failure_;
    }
}

void TcpConnection::fail(const TcpPeer& culprit, const std::string& what, const std::string& hint) {
    if (lost_.record != nullptr) {
        lost_.record->add(culprit.rank);
    }
    failure_.emplace(culprit.rank,
                     "rank " + std::to_string(culprit.rank) + " (" + culprit.host + ", " + culprit.address.host() +
                         ") " + what,
                     hint);
    connector_.reset();
    if (socket_.valid()) {
        loop_.remove(socket_.get());
        socket_.close();
    }
}

void TcpConnection::give_up(const TcpPeer& lost) {
    if (!failure_) {
        lost_.reported = true;
        fail(lost, "is lost, as another rank says", "it was probably killed or has failed: look at its log");
    }
}

void TcpConnection::fail_to_connect() {
    const int error = connector_->last_errno();
    const std::string port = "port " + std::to_string(peer_.address.port());
    if (error == ECONNREFUSED) {
        fail(peer_, "refuses connections to its " + port,
             "it has probably ended: look at its log; if it runs, a firewall between the nodes rejects them");
    } else {
        fail(peer_, "could not be reached on " + port +
                 (error == 0 ? ": no answer" : std::string(": ") + std::strerror(error)),
             "does a firewall block connections between the nodes, or is this the wrong network? All ports "
             "above 1024 "
             "must be open between nodes");
    }
}

// 0: the end of the stream.
void TcpConnection::fail_by(int error) {
    if (error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH) {
        fail(peer_, std::string("does not answer any more: ") + std::strerror(error),
             "is its node down, or the network between the nodes?");
        return;
    }
    const TcpPeer& culprit = lost_.peer == nullptr ? peer_ : *lost_.peer;
    lost_.reported = true;
    fail(culprit, error == 0 ? "closed its connection" : std::string("broke its connection: ") + std::strerror(error),
         "it was probably killed or has failed: look at its log");
}

}  // namespace mastic::comm
