// What members keep for others, and its transfer.
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <mastic/comm/tcp/listening_socket.hpp>
#include <mastic/core/error.hpp>
#include <mastic/elastic/bulk_client.hpp>
#include <mastic/elastic/bulk_server.hpp>
#include <mastic/elastic/control_link.hpp>
#include <mastic/elastic/pursuit.hpp>
#include <mastic/elastic/step_log.hpp>
#include <mastic/elastic/token_bucket.hpp>

namespace mastic::elastic {
namespace {

using Status = BulkAnswer::Status;
using What = BulkRequest::What;
constexpr Seconds at_once{0};

Blob blob_of(std::size_t size, int fill) {
    return Blob::of(std::vector<std::byte>(size, std::byte(fill)));
}

Generation with(GenerationId id, const std::string& member) {
    return {.id = id, .members = {{.id = member, .host = "h", .addresses = ""}}};
}

TEST(Blobs, AreReadAcrossTheirPieces) {
    const std::string a = "abc";
    const std::string b = "defgh";
    const Blob blob({std::as_bytes(std::span(a)), {}, std::as_bytes(std::span(b))}, nullptr);
    EXPECT_EQ(blob.size(), 8u);
    std::string part(4, ' ');
    blob.read(2, std::as_writable_bytes(std::span(part)));
    EXPECT_EQ(part, "cdef");
}

TEST(StepLogs, KeepTheLastStepOnly) {
    StepLog log;
    log.keep(1, blob_of(8, 1));
    log.keep(2, blob_of(8, 2));
    EXPECT_EQ(log.answer({.what = What::step, .member = "a", .step = 1}, at_once).status, Status::gone);
    EXPECT_EQ(log.answer({.what = What::step, .member = "a", .step = 2}, at_once).status, Status::data);
    EXPECT_EQ(log.answer({.what = What::step, .member = "a", .step = 3}, at_once).status, Status::later);
}

// A newcomer was at step 9 when all others died, and founds the run again from an earlier checkpoint.
TEST(StepLogs, OfARunThatBeginsAnewHaveNothingOfTheOldOne) {
    StepLog log;
    log.keep(9, Blob());
    log.forget_all();
    log.keep(4, blob_of(8, 4));
    const BulkAnswer answer = log.answer({.what = What::step, .member = "a", .step = 4}, at_once);
    EXPECT_EQ(answer.status, Status::data);
    EXPECT_EQ(answer.newest, 4);
    EXPECT_EQ(log.answer({.what = What::step, .member = "a", .step = 9}, at_once).status, Status::later);
}

TEST(StepLogs, KeepWhatANewcomerNeedsAndTellItOfTheSwitch) {
    StepLog log;
    log.keep(1, blob_of(8, 1));
    EXPECT_FALSE(log.snapshot_wanted());
    EXPECT_EQ(log.answer({.what = What::snapshot, .member = "new"}, at_once).status, Status::later);
    ASSERT_TRUE(log.snapshot_wanted());
    log.offer_snapshot(1, blob_of(100, 9));
    for (Step step = 2; step <= 5; ++step) {
        log.keep(step, blob_of(8, static_cast<int>(step)));
    }
    const BulkAnswer snapshot = log.answer({.what = What::snapshot, .member = "new"}, at_once);
    EXPECT_EQ(snapshot.step, 1);
    EXPECT_EQ(snapshot.blob.size(), 100u);
    EXPECT_EQ(snapshot.newest, 5);
    for (Step step = 2; step <= 5; ++step) {
        EXPECT_EQ(log.answer({.what = What::step, .member = "new", .step = step}, at_once).status,
                  Status::data);
    }
    log.keep(6, blob_of(8, 6));
    EXPECT_EQ(log.answer({.what = What::step, .member = "new", .step = 4}, at_once).status, Status::gone);
    log.mark(with(2, "new"), 6);
    const BulkAnswer boundary = log.answer({.what = What::boundary, .member = "new", .known = 2}, at_once);
    EXPECT_EQ(boundary.status, Status::switched);
    EXPECT_EQ(boundary.step, 6);
    EXPECT_EQ(log.answer({.what = What::boundary, .member = "new", .known = 3}, at_once).status, Status::later);
    EXPECT_EQ(log.answer({.what = What::boundary, .member = "x", .known = 2}, at_once).status, Status::later);
    log.keep(7, blob_of(8, 7));
    const BulkAnswer soon = log.answer({.what = What::step, .member = "new", .step = 6}, at_once);
    EXPECT_EQ(soon.status, Status::switched) << "it is to join the others before it gets the step";
    EXPECT_EQ(soon.step, 6);
    EXPECT_EQ(log.answer({.what = What::step, .member = "new", .step = 6, .known = 2}, at_once).status, Status::data);
    const BulkAnswer switched = log.answer({.what = What::step, .member = "new", .step = 7}, at_once);
    EXPECT_EQ(switched.status, Status::switched);
    EXPECT_EQ(switched.generation, 2u);
    EXPECT_EQ(switched.step, 6);
    EXPECT_EQ(log.answer({.what = What::step, .member = "new", .step = 7, .known = 2}, at_once).status, Status::data)
        << "its first step broke, and the others had applied it";
    // To another one it is a step like any other.
    EXPECT_EQ(log.answer({.what = What::step, .member = "x", .step = 7}, at_once).status, Status::data);
}

TEST(StepLogs, TellOfASnapshotBeforeTheTrainerHearsOfIt) {
    int told = 0;
    StepLog* self = nullptr;
    StepLog log([&] {
        ++told;
        EXPECT_FALSE(self->snapshot_wanted());
    });
    self = &log;
    const BulkRequest request{.what = What::snapshot, .member = "new"};
    log.answer(request, at_once);
    log.answer(request, at_once);  // it asks again while it waits
    EXPECT_EQ(told, 1);
    log.offer_snapshot(1, blob_of(100, 9));
    EXPECT_EQ(log.answer(request, at_once).status, Status::data);
    EXPECT_EQ(log.answer({.what = What::snapshot, .member = "new", .step = 1}, at_once).status, Status::data);
    EXPECT_EQ(told, 1);
}

TEST(StepLogs, GiveUpASlowNewcomerBeforeTheyTakeTooMuchMemory) {
    StepLog log([] {}, Bytes{1000});
    log.answer({.what = What::snapshot, .member = "new"}, at_once);
    log.offer_snapshot(0, blob_of(10, 0));
    for (Step step = 1; step <= 20; ++step) {
        log.keep(step, blob_of(100, 0));
    }
    EXPECT_EQ(log.answer({.what = What::step, .member = "new", .step = 1}, at_once).status, Status::gone);
}

TEST(TokenBuckets, LimitTheRate) {
    TokenBucket bucket(Bytes{1000});
    Seconds now{100};
    double sent = 0;
    while (now < Seconds(110)) {
        now += bucket.take(200, now);
        sent += 200;
    }
    EXPECT_NEAR(sent, 10000, 500);
    EXPECT_EQ(TokenBucket(Bytes{0}).take(1u << 30, Seconds(1)), Seconds(0));
}

// A server on a port of its own.
struct Server {
    Server() : thread([this] { run(); }) {}
    ~Server() {
        stopping = true;
        loop.wake();
        thread.join();
    }
    void run() {
        std::vector<std::unique_ptr<ControlLink>> links;
        while (!stopping) {
            loop.wait(std::chrono::milliseconds(5));
            Descriptor caller(::accept4(socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
            if (caller.valid()) {
                links.push_back(std::make_unique<ControlLink>(loop, std::move(caller), secret, Seconds(5)));
            }
            for (auto& link : links) {
                if (auto request = link->take()) {
                    bulk.serve(link->release(), *request);
                }
            }
        }
    }
    Secret secret{};
    StepLog log;
    BulkServer bulk{log, Bytes{0}};
    comm::EventLoop loop;
    comm::ListeningSocket socket{comm::SocketAddress::parse("127.0.0.1").value()};
    std::atomic<bool> stopping{false};
    std::thread thread;
};

TEST(BulkTransfers, BringEveryByte) {
    Server server;
    std::vector<std::byte> content(3'000'001);
    for (std::size_t i = 0; i < content.size(); ++i) {
        content[i] = std::byte(i * 7 >> 3);
    }
    server.log.keep(4, Blob::of(content));
    BulkClient client(server.socket.address(), server.secret, {});
    for (int i = 0; i < 2; ++i) {
        const Fetched fetched = client.fetch({.what = What::step, .member = "a", .step = 4});
        EXPECT_EQ(fetched.status, Status::data);
        EXPECT_EQ(fetched.step, 4);
        EXPECT_EQ(fetched.bytes, content);
    }
    EXPECT_EQ(client.fetch({.what = What::step, .member = "a", .step = 3}).status, Status::gone);
    EXPECT_EQ(client.fetch({.what = What::step, .member = "a", .step = 5}).status, Status::later);
}

// Of the switch it hears while a step is still on its way, or not even asked for.
TEST(Pursuits, BringStepsInOrderAndWordOfTheSwitch) {
    Server server;
    server.log.answer({.what = What::snapshot, .member = "new"}, at_once);
    server.log.offer_snapshot(1, blob_of(8, 1));
    for (Step step = 2; step <= 7; ++step) {
        server.log.keep(step, blob_of(8, static_cast<int>(step)));
    }
    Pursuit pursuit({server.socket.address(), server.secret, "new"}, 2, {});
    pursuit.listen_for(5);
    server.log.mark(with(5, "new"), 7);
    constexpr Seconds soon{10};
    while (!pursuit.boundary()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // two steps have come at most
    }
    EXPECT_EQ(pursuit.boundary()->generation, 5u);
    EXPECT_EQ(pursuit.boundary()->after, 7);
    for (Step step = 2; step < 7;) {
        const auto next = pursuit.next_step(soon);
        if (next) {  // else: word of the boundary, once
            EXPECT_EQ(next->step, step++);
        }
    }
    EXPECT_EQ(pursuit.newest(), 7);
    EXPECT_FALSE(pursuit.next_step(Seconds(0.05)).has_value());
    pursuit.fetch_the_last();
    const auto last = pursuit.next_step(soon);
    ASSERT_TRUE(last.has_value());
    EXPECT_EQ(last->step, 7);
}

TEST(Pursuits, EndWhereAStepIsNotKept) {
    Server server;
    server.log.keep(4, blob_of(8, 4));
    Pursuit pursuit({server.socket.address(), server.secret, "a"}, 3, {});
    EXPECT_THROW(pursuit.next_step(Seconds(10)), Error);
}

TEST(BulkTransfers, NeedTheSecretOnBothSides) {
    Server server;
    server.log.keep(4, blob_of(8, 1));
    Secret other{};
    other[0] = std::byte(1);
    BulkClient client(server.socket.address(), other, {});
    EXPECT_THROW(client.fetch({.what = What::step, .member = "a", .step = 4}), Error);
}

TEST(BulkTransfers, EndWithTheirServerAlthoughSomebodyAsksAgainAndAgain) {
    auto server = std::make_unique<Server>();
    std::atomic<int> answers{0};
    std::thread newcomer([&, address = server->socket.address(), secret = server->secret] {
        BulkClient client(address, secret, [&] { return answers > 1000; });
        try {
            while (client.fetch({.what = What::snapshot, .member = "a"}).status == Status::later) {
                ++answers;
            }
        } catch (const Error&) {
        }
    });
    while (answers == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    const auto begin = std::chrono::steady_clock::now();
    server.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    newcomer.join();
}

TEST(BulkTransfers, EndWhenTheyAreNotWantedAnyMore) {
    const comm::ListeningSocket nobody(comm::SocketAddress::parse("127.0.0.1").value());
    std::atomic<bool> over{false};
    std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        over = true;
    });
    BulkClient client(nobody.address(), Secret{}, [&] { return over.load(); });
    EXPECT_THROW(client.fetch({}), Error);
    other.join();
}

}  // namespace
}  // namespace mastic::elastic
