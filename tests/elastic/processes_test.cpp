// Real members: started, joined, killed, stopped, cut off.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <list>
#include <optional>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <mastic/comm/tcp/host_addresses.hpp>
#include <mastic/core/descriptor.hpp>
#include <mastic/core/random.hpp>
#include <mastic/elastic/generation_store.hpp>

#include "host_network.hpp"
#include "support/temp_dir.hpp"
#include "worker_process.hpp"

namespace mastic::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class ElasticRun : public testing::Test {
  protected:
    WorkerProcess start(WorkerSettings settings = {}) {
        settings.directory = directory();
        return WorkerProcess(settings);
    }
    std::string directory() const { return (place_.path() / "elastic").string(); }
    bool works(const WorkerProcess& worker) const { return worker.last_step() > 0; }
    int members_of(const WorkerProcess& worker) const {
        const auto steps = worker.steps();
        return steps.empty() ? 0 : steps.rbegin()->second.members;
    }
    bool have_members(std::initializer_list<const WorkerProcess*> workers, int members) {
        return eventually([&] {
            return std::ranges::all_of(workers,
                                       [&](const WorkerProcess* one) { return members_of(*one) == members; });
        });
    }
    // Its path and the member's id; "" if there is none.
    std::pair<std::string, std::string> control_socket_of(const WorkerProcess& worker) const {
        for (const auto& entry : std::filesystem::directory_iterator(directory())) {
            const std::string name = entry.path().filename().string();
            const std::string id = name.substr(name.rfind('-') + 1);
            if (name.starts_with("control-") && worker.recorded(id)) {
                return {entry.path().string(), id};
            }
        }
        return {};
    }
    void expect_further_steps(const WorkerProcess& worker) {
        const std::int64_t before = worker.last_step();
        EXPECT_TRUE(eventually([&] { return worker.last_step() > before + 5; }))
            << worker.record() << worker.errors();
    }

    TempDir place_;
};

TEST_F(ElasticRun, OneStartsTwoJoinOneLeaves) {
    WorkerProcess first = start();
    ASSERT_TRUE(eventually([&] { return works(first); })) << first.errors();
    WorkerProcess second = start();
    WorkerProcess third = start();
    ASSERT_TRUE(have_members({&first, &second, &third}, 3))
        << second.errors() << second.record() << third.errors();
    second.signal(SIGTERM);
    EXPECT_EQ(second.wait_for_end(10s), 0) << second.errors();
    EXPECT_TRUE(second.recorded("left"));
    ASSERT_TRUE(have_members({&first, &third}, 2));
    expect_further_steps(first);
    expect_further_steps(third);
    for (const WorkerProcess* worker : {&first, &second, &third}) {
        expect_right_steps(*worker);
        EXPECT_FALSE(worker->recorded("lost")) << worker->record();
    }
    // The last one ends the run, and then it can begin anew.
    first.signal(SIGTERM);
    EXPECT_EQ(first.wait_for_end(10s), 0);
    third.signal(SIGTERM);
    EXPECT_EQ(third.wait_for_end(10s), 0);
    EXPECT_TRUE(elastic::DirectoryStore(directory()).newest()->members.empty());
    WorkerProcess again = start({.steps = 10});
    EXPECT_EQ(again.wait_for_end(10s), 0) << again.errors();
}

TEST_F(ElasticRun, TheSurvivorsOfAKilledCoordinatorGoOn) {
    WorkerProcess first = start();
    ASSERT_TRUE(eventually([&] { return works(first); }));
    WorkerProcess second = start();
    ASSERT_TRUE(have_members({&first, &second}, 2)) << second.errors();
    WorkerProcess third = start();
    ASSERT_TRUE(have_members({&first, &second, &third}, 3)) << third.errors();
    first.signal(SIGKILL);
    ASSERT_TRUE(have_members({&second, &third}, 2)) << second.record() << second.errors();
    expect_further_steps(second);
    second.signal(SIGKILL);
    ASSERT_TRUE(have_members({&third}, 1)) << third.record() << third.errors();
    expect_further_steps(third);
    expect_right_steps(second);
    expect_right_steps(third);
    // All are lost: the next one finds that nobody is alive.
    third.signal(SIGKILL);
    EXPECT_EQ(third.wait_for_end(5s), 128 + SIGKILL);
    WorkerProcess again = start({.steps = 10});
    EXPECT_EQ(again.wait_for_end(10s), 0) << again.errors();
}

TEST_F(ElasticRun, ANewcomerThatDiesMidwayDisturbsNobody) {
    WorkerProcess first = start({.snapshot_kb = 4096, .rate_kb = 1024});
    ASSERT_TRUE(eventually([&] { return works(first); }));
    WorkerProcess newcomer = start();
    ASSERT_TRUE(eventually([&] { return first.recorded("snapshot"); }));
    std::this_thread::sleep_for(300ms);
    EXPECT_FALSE(newcomer.recorded("joined"));
    newcomer.signal(SIGKILL);
    expect_further_steps(first);
    EXPECT_FALSE(first.recorded("lost")) << first.record();
    EXPECT_EQ(elastic::DirectoryStore(directory()).newest()->id, 1u);
    expect_right_steps(first);
}

TEST_F(ElasticRun, AStoppedMemberIsLeftBehindAndEndsWhenItWakes) {
    ::setenv("WORKER_TIMEOUT", "1", 1);
    WorkerProcess first = start();
    ASSERT_TRUE(eventually([&] { return works(first); }));
    WorkerProcess second = start();
    ASSERT_TRUE(have_members({&first, &second}, 2)) << second.errors();
    WorkerProcess third = start();
    ASSERT_TRUE(have_members({&first, &second, &third}, 3)) << third.errors();
    ::unsetenv("WORKER_TIMEOUT");
    first.signal(SIGSTOP);
    ASSERT_TRUE(have_members({&second, &third}, 2)) << second.record() << second.errors();
    first.signal(SIGCONT);
    EXPECT_EQ(first.wait_for_end(10s), 7) << first.record();
    expect_further_steps(second);
    expect_right_steps(first);
    expect_right_steps(second);
    expect_right_steps(third);
}

TEST_F(ElasticRun, AnotherVersionIsRefusedAndNamesBoth) {
    WorkerProcess first = start();
    ASSERT_TRUE(eventually([&] { return works(first); }));
    WorkerProcess other = start({.version = "2"});
    EXPECT_EQ(other.wait_for_end(10s), 4);
    EXPECT_THAT(other.errors(), HasSubstr("version 2, configuration sums"));
    EXPECT_THAT(other.errors(), HasSubstr("the run has version 1"));
    expect_further_steps(first);
}

TEST_F(ElasticRun, WhoDoesNotHaveTheSecretGetsNothing) {
    WorkerProcess first = start();
    ASSERT_TRUE(eventually([&] { return works(first); }));
    struct stat status {};
    ASSERT_EQ(::stat((directory() + "/secret").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    // A copy of the directory that differs in the secret only.
    const std::filesystem::path copy = place_.path() / "copy";
    std::filesystem::create_directory(copy);
    std::filesystem::copy(directory() + "/generations", copy / "generations");
    std::filesystem::create_hard_link(directory() + "/alive", copy / "alive");
    std::ofstream(copy / "secret") << std::string(32, 'x');
    std::filesystem::permissions(copy / "secret", std::filesystem::perms(0600));
    WorkerSettings settings{.directory = copy.string()};
    WorkerProcess stranger(settings);
    std::this_thread::sleep_for(2s);
    EXPECT_FALSE(stranger.recorded("joined"));
    EXPECT_FALSE(first.recorded("snapshot"));
    EXPECT_THAT(stranger.errors(), HasSubstr("could not prove"));
    expect_further_steps(first);
}

std::string ask(const std::string& path, const std::string& command) {
    const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        return "no connection";
    }
    const std::string line = "{\"command\": \"" + command + "\"}\n";
    EXPECT_EQ(::send(socket.get(), line.data(), line.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(line.size()));
    const timeval bound{.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound);
    std::string answer;
    for (char byte = 0; byte != '\n' && ::recv(socket.get(), &byte, 1, 0) == 1;) {
        answer += byte;
    }
    return answer;
}

TEST_F(ElasticRun, TheControlSocketOfAnyMemberTakesCommands) {
    WorkerProcess first = start();
    ASSERT_TRUE(eventually([&] { return works(first); }));
    WorkerProcess second = start();
    ASSERT_TRUE(have_members({&first, &second}, 2)) << second.errors();
    const auto [socket, id] = control_socket_of(second);
    ASSERT_FALSE(socket.empty());
    EXPECT_THAT(ask(socket, "status"), HasSubstr(id));
    EXPECT_THAT(ask(socket, "drain nobody"), HasSubstr("error"));
    EXPECT_THAT(ask(socket, "resize zero"), HasSubstr("error"));
    EXPECT_THAT(ask(socket, "checkpoint"), HasSubstr("done"));
    EXPECT_THAT(ask(socket, "resize 1"), HasSubstr("done"));
    EXPECT_EQ(second.wait_for_end(10s), 0) << second.record();
    ASSERT_TRUE(have_members({&first}, 1));
    EXPECT_FALSE(first.recorded("lost")) << first.record();
}

TEST_F(ElasticRun, WhatAKilledMemberLeftIsRemovedByTheNextOne) {
    const auto sockets = [this] {
        return std::ranges::count_if(std::filesystem::directory_iterator(directory()), [](const auto& entry) {
            return entry.path().filename().string().starts_with("control-");
        });
    };
    WorkerProcess first = start();
    ASSERT_TRUE(eventually([&] { return works(first); })) << first.errors();
    WorkerProcess second = start();
    ASSERT_TRUE(have_members({&first, &second}, 2)) << second.errors();
    EXPECT_EQ(sockets(), 2);
    second.signal(SIGKILL);
    ASSERT_TRUE(have_members({&first}, 1)) << first.errors();
    EXPECT_EQ(sockets(), 2);
    WorkerProcess third = start();
    ASSERT_TRUE(have_members({&first, &third}, 2)) << third.errors();
    EXPECT_EQ(sockets(), 2) << "of the two that live";
}

TEST_F(ElasticRun, AHostIsDrainedOfAllItsMembers) {
    WorkerProcess first = start();
    ASSERT_TRUE(eventually([&] { return works(first); }));
    WorkerProcess second = start();
    ASSERT_TRUE(have_members({&first, &second}, 2)) << second.errors();
    const auto [socket, id] = control_socket_of(first);
    ASSERT_FALSE(socket.empty());
    const std::string answer = ask(socket, "drain " + comm::find_host_addresses().name);
    EXPECT_THAT(answer, HasSubstr(id));
    EXPECT_THAT(answer, HasSubstr(control_socket_of(second).second));
    EXPECT_EQ(first.wait_for_end(10s), 0) << first.record();
    EXPECT_EQ(second.wait_for_end(10s), 0) << second.record();
    EXPECT_FALSE(first.recorded("lost") || second.recorded("lost")) << first.record();
}

TEST_F(ElasticRun, AfterACutOfTheNetworkTheLargerPartGoesOn) {
    const HostNetwork hosts(2);
    if (!hosts.is_usable()) {
        GTEST_SKIP() << "needs root and network namespaces";
    }
    ::setenv("WORKER_TIMEOUT", "1", 1);
    WorkerProcess first = start({.netns = hosts.path(0)});
    ASSERT_TRUE(eventually([&] { return works(first); })) << first.errors();
    WorkerProcess second = start({.netns = hosts.path(1)});
    ASSERT_TRUE(have_members({&first, &second}, 2)) << second.errors();
    WorkerProcess third = start({.netns = hosts.path(1)});
    ASSERT_TRUE(have_members({&first, &second, &third}, 3)) << third.errors();
    ::unsetenv("WORKER_TIMEOUT");
    hosts.cut(0);
    ASSERT_TRUE(have_members({&second, &third}, 2)) << second.record() << second.errors();
    expect_further_steps(third);
    EXPECT_EQ(first.wait_for_end(20s), 7) << first.record() << first.errors();
    for (const WorkerProcess* worker : {&first, &second, &third}) {
        expect_right_steps(*worker);
    }
}

// Joins, leaves and kills in random order, on hosts of a network that is cut and healed, or on one host.
class RandomHistory {
  public:
    RandomHistory(int seed, const HostNetwork* hosts) : random_(static_cast<std::uint64_t>(seed)), hosts_(hosts) {
        add();
    }

    WorkerProcess& founder() { return workers_.front(); }
    void event() {
        std::this_thread::sleep_for(std::chrono::milliseconds(random_.below(cut_host_ ? 1500 : 400)));
        forget_cut_off();
        if (hosts_ != nullptr && random_.below(4) == 0) {
            cut_host_ ? heal() : cut();
            return;
        }
        const std::size_t some = random_.below(std::max<std::size_t>(present_.size(), 1));
        const std::uint64_t what = present_.size() < 3 ? 0 : random_.below(4);
        if (what <= 1 && present_.size() < 5) {
            add();
            return;
        }
        present_[some]->signal(what == 2 ? SIGTERM : SIGKILL);
        present_.erase(present_.begin() + static_cast<std::ptrdiff_t>(some));
        may_end_for_all_ = may_end_for_all_ || cut_host_;
    }
    void heal() {
        if (cut_host_) {
            hosts_->heal(*cut_host_);
        }
        cut_host_.reset();
    }
    // All that are left are members of one generation.
    bool are_together() {
        forget_cut_off();
        return std::ranges::all_of(present_, [&](const WorkerProcess* one) {
            return last_of(*one).members == static_cast<int>(present_.size());
        });
    }
    void expect_all_right() {
        EXPECT_TRUE(!present_.empty() || may_end_for_all_) << "none is left, though none was sent away while a host was cut off";
        for (const WorkerProcess* worker : present_) {
            EXPECT_EQ(last_of(*worker).members, static_cast<int>(present_.size()))
                << worker->record().substr(0, 500) << "...\n" << worker->errors();
        }
        for (const WorkerProcess& worker : workers_) {
            expect_right_steps(worker);
        }
    }

  private:
    static RecordedStep last_of(const WorkerProcess& worker) {
        const auto steps = worker.steps();
        return steps.empty() ? RecordedStep{} : steps.rbegin()->second;
    }
    void add() {
        WorkerSettings settings{.directory = (place_.path() / "elastic").string(), .snapshot_kb = 64};
        if (hosts_ != nullptr) {
            settings.netns = hosts_->path(static_cast<int>(random_.below(static_cast<std::uint64_t>(hosts_->size()))));
        }
        present_.push_back(&workers_.emplace_back(settings));
    }
    void cut() {
        cut_host_ = static_cast<int>(random_.below(static_cast<std::uint64_t>(hosts_->size())));
        hosts_->cut(*cut_host_);
        was_cut_ = true;
    }
    // The others go on without them.
    void forget_cut_off() {
        std::erase_if(present_, [this](WorkerProcess* one) {
            if (one->runs()) {
                return false;
            }
            const int code = one->wait_for_end(0s);
            EXPECT_TRUE(was_cut_ && code == 7) << code << one->record().substr(0, 500) << "...\n" << one->errors();
            return true;
        });
    }

    CounterRandom random_;
    const HostNetwork* hosts_;
    TempDir place_;
    std::list<WorkerProcess> workers_;
    std::vector<WorkerProcess*> present_;
    std::optional<int> cut_host_;
    bool was_cut_ = false;
    bool may_end_for_all_ = false;
};

// MASTIC_ELASTIC_RUNS=N runs N histories in each part.
void run_histories(int part, int usual, const HostNetwork* hosts) {
    const char* wanted = std::getenv("MASTIC_ELASTIC_RUNS");
    const int histories = wanted == nullptr ? usual : std::atoi(wanted);
    const int first = 1 + part * histories;
    for (int seed = first; seed < first + histories && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("history " + std::to_string(seed));
        ::setenv("WORKER_TIMEOUT", "1", 1);
        seed % 2 == 0 ? ::setenv("WORKER_BEHIND", "yes", 1) : ::unsetenv("WORKER_BEHIND");
        RandomHistory history(seed, hosts);
        ASSERT_TRUE(eventually([&] { return history.founder().last_step() > 0; })) << history.founder().errors();
        for (int event = 0; event < 8; ++event) {
            history.event();
        }
        history.heal();
        ::unsetenv("WORKER_TIMEOUT");
        eventually([&] { return history.are_together(); }, 30s);
        history.expect_all_right();
    }
}

class RandomHistories : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Part, RandomHistories, testing::Range(0, 6));

TEST_P(RandomHistories, CountEveryStepOnce) { run_histories(GetParam(), 5, nullptr); }

class RandomCuts : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Part, RandomCuts, testing::Range(0, 3));

TEST_P(RandomCuts, LeaveOnePartThatGoesOn) {
    const HostNetwork hosts(3);
    if (!hosts.is_usable()) {
        GTEST_SKIP() << "needs root and network namespaces";
    }
    run_histories(GetParam(), 3, &hosts);
}

}  // namespace
}  // namespace mastic::test
