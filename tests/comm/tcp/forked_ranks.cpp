#include "forked_ranks.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iostream>
#include <memory>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mastic/comm/request.hpp>
#include <mastic/core/descriptor.hpp>
#include <mastic/core/error.hpp>

namespace mastic::test {

namespace {

using comm::BufferView;
using comm::OperationOptions;
using comm::Request;

void write_all(int socket, const void* data, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) {
        const ssize_t count =
            ::send(socket, static_cast<const char*>(data) + done, bytes - done, MSG_NOSIGNAL);
        if (count <= 0) {
            throw Error(ExitCode::collective, "a rank of the test has ended");
        }
        done += static_cast<std::size_t>(count);
    }
}

void read_all(int socket, void* data, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) {
        const ssize_t count = ::recv(socket, static_cast<char*>(data) + done, bytes - done, 0);
        if (count <= 0) {
            throw Error(ExitCode::collective, "a rank of the test has ended");
        }
        done += static_cast<std::size_t>(count);
    }
}

Request done() {
    auto state =
        std::make_shared<Request::State>("test", comm::WaitLimits{}, std::weak_ptr<comm::StallSource>{});
    state->complete(Seconds{0});
    return Request(std::move(state));
}

// Everything goes through rank 0, and every operation waits.
class StarGroup : public comm::Group {
  public:
    // `links`: at rank 0 by rank (its own is unused), elsewhere the one to rank 0.
    StarGroup(int rank, int size, std::vector<Descriptor> links)
        : rank_(rank), size_(size), links_(std::move(links)) {}

    int rank() const override { return rank_; }
    int size() const override { return size_; }

    Request start_allgather(BufferView send, BufferView receive, const OperationOptions&) override {
        auto* const all = static_cast<char*>(receive.data);
        const std::size_t bytes = send.bytes();
        if (rank_ != 0) {
            write_all(links_[0].get(), send.data, bytes);
            read_all(links_[0].get(), all, receive.bytes());
            return done();
        }
        std::copy_n(static_cast<const char*>(send.data), bytes, all);
        for (int peer = 1; peer < size_; ++peer) {
            read_all(link(peer), all + static_cast<std::size_t>(peer) * bytes, bytes);
        }
        for (int peer = 1; peer < size_; ++peer) {
            write_all(link(peer), all, receive.bytes());
        }
        return done();
    }

    Request start_broadcast(BufferView buffer, int root, const OperationOptions&) override {
        std::vector<char> all(buffer.bytes() * static_cast<std::size_t>(size_));
        start_allgather({buffer.data, buffer.bytes(), DataType::uint8},
                        {all.data(), all.size(), DataType::uint8}, {});
        std::copy_n(all.data() + static_cast<std::size_t>(root) * buffer.bytes(), buffer.bytes(),
                    static_cast<char*>(buffer.data));
        return done();
    }

    Request start_barrier(const OperationOptions&) override {
        char mine = 0;
        std::vector<char> all(static_cast<std::size_t>(size_));
        return start_allgather({&mine, 1, DataType::uint8}, {all.data(), all.size(), DataType::uint8}, {});
    }

    Request start_allreduce(BufferView, comm::ReduceOp, const OperationOptions&) override {
        throw Error(ExitCode::usage, "not here");
    }
    std::shared_ptr<void> allocate(std::size_t) override { return nullptr; }
    std::string description() const override { return "socket pairs"; }

  private:
    int link(int peer) const { return links_[static_cast<std::size_t>(peer)].get(); }

    int rank_;
    int size_;
    std::vector<Descriptor> links_;
};

[[noreturn]] void be_rank(comm::Group& exchange, const std::function<void(comm::Group&)>& body) {
    ::alarm(30);
    try {
        body(exchange);
    } catch (const Error& error) {
        ADD_FAILURE() << "rank " << exchange.rank() << ": " << error.full_message();
    } catch (const std::exception& error) {
        ADD_FAILURE() << "rank " << exchange.rank() << ": " << error.what();
    }
    std::cout.flush();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
}

}  // namespace

std::vector<int> run_ranks(int ranks, const std::function<void(comm::Group&)>& body) {
    std::cout.flush();
    std::vector<Descriptor> hub;
    std::vector<Descriptor> spokes;
    for (int rank = 0; rank < ranks; ++rank) {
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        hub.emplace_back(ends[0]);
        spokes.emplace_back(ends[1]);
    }
    std::vector<pid_t> children;
    for (int rank = 0; rank < ranks; ++rank) {
        const pid_t child = ::fork();
        if (child == 0) {
            std::vector<Descriptor> links;
            if (rank == 0) {
                links = std::move(hub);
            } else {
                links.push_back(std::move(spokes[static_cast<std::size_t>(rank)]));
            }
            hub.clear();
            spokes.clear();
            StarGroup exchange(rank, ranks, std::move(links));
            be_rank(exchange, body);
        }
        children.push_back(child);
    }
    std::vector<int> statuses;
    for (const pid_t child : children) {
        int status = -1;
        ::waitpid(child, &status, 0);
        statuses.push_back(status);
    }
    return statuses;
}

void expect_success(const std::vector<int>& statuses, const std::vector<int>& killed) {
    for (std::size_t rank = 0; rank < statuses.size(); ++rank) {
        const int status = statuses[rank];
        if (std::ranges::find(killed, static_cast<int>(rank)) != killed.end()) {
            EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "rank " << rank;
        } else {
            EXPECT_FALSE(WIFSIGNALED(status))
                << "rank " << rank << (WTERMSIG(status) == SIGALRM ? " did not end" : " crashed");
            EXPECT_EQ(status, 0) << "rank " << rank;
        }
    }
}

}  // namespace mastic::test
