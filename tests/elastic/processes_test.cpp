// Real members: started, joined, killed, stopped, cut off.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <list>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <mastic/core/descriptor.hpp>
#include <mastic/core/random.hpp>
#include <mastic/elastic/generation_store.hpp>

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
    std::string socket;
    std::string id;
    for (const auto& entry : std::filesystem::directory_iterator(directory())) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("control-") && second.recorded(name.substr(name.rfind('-') + 1))) {
            socket = entry.path().string();
            id = name.substr(name.rfind('-') + 1);
        }
    }
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

// Two hosts that are network namespaces of this one, with the same directory.
bool run_command_line(const std::string& command) {
    return std::system((command + " 2>/dev/null").c_str()) == 0;
}

struct TwoHosts {
    TwoHosts() {
        const std::string a = name('a');
        const std::string b = name('b');
        usable = ::geteuid() == 0 && run_command_line("ip netns add " + a) &&
                 run_command_line("ip netns add " + b) &&
                 run_command_line("ip link add cable netns " + a + " type veth peer name cable netns " + b) &&
                 run_command_line("ip -n " + a + " addr add 10.78.0.1/24 dev cable") &&
                 run_command_line("ip -n " + b + " addr add 10.78.0.2/24 dev cable") &&
                 run_command_line("ip -n " + a + " link set lo up") &&
                 run_command_line("ip -n " + b + " link set lo up") &&
                 run_command_line("ip -n " + a + " link set cable up") &&
                 run_command_line("ip -n " + b + " link set cable up");
    }
    ~TwoHosts() {
        run_command_line("ip netns del " + name('a'));
        run_command_line("ip netns del " + name('b'));
    }
    std::string name(char host) const { return "mastic-elastic-" + std::to_string(::getpid()) + "-" + host; }
    std::string path(char host) const { return "/run/netns/" + name(host); }
    void cut() const { run_command_line("ip -n " + name('a') + " link set cable down"); }
    bool usable = false;
};

TEST_F(ElasticRun, AfterACutOfTheNetworkTheLargerPartGoesOn) {
    const TwoHosts hosts;
    if (!hosts.usable) {
        GTEST_SKIP() << "needs root and network namespaces";
    }
    std::this_thread::sleep_for(1s);  // the kernel looks whether its new addresses are free
    ::setenv("WORKER_TIMEOUT", "1", 1);
    WorkerProcess first = start({.netns = hosts.path('a')});
    ASSERT_TRUE(eventually([&] { return works(first); })) << first.errors();
    WorkerProcess second = start({.netns = hosts.path('b')});
    ASSERT_TRUE(have_members({&first, &second}, 2)) << second.errors();
    WorkerProcess third = start({.netns = hosts.path('b')});
    ASSERT_TRUE(have_members({&first, &second, &third}, 3)) << third.errors();
    ::unsetenv("WORKER_TIMEOUT");
    hosts.cut();
    ASSERT_TRUE(have_members({&second, &third}, 2)) << second.record() << second.errors();
    expect_further_steps(third);
    EXPECT_EQ(first.wait_for_end(20s), 7) << first.record() << first.errors();
    for (const WorkerProcess* worker : {&first, &second, &third}) {
        expect_right_steps(*worker);
    }
}

// Joins, leaves and kills in random order. MASTIC_ELASTIC_RUNS=N runs N histories in each part.
class RandomHistories : public ElasticRun, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Part, RandomHistories, testing::Range(0, 6));

TEST_P(RandomHistories, CountEveryStepOnce) {
    const char* wanted = std::getenv("MASTIC_ELASTIC_RUNS");
    const int histories = wanted == nullptr ? 5 : std::atoi(wanted);
    const int first = 1 + GetParam() * histories;
    for (int seed = first; seed < first + histories && !HasFailure(); ++seed) {
        SCOPED_TRACE("history " + std::to_string(seed));
        const TempDir place;
        CounterRandom random(static_cast<std::uint64_t>(seed));
        ::setenv("WORKER_TIMEOUT", "1", 1);
        const WorkerSettings settings{.directory = (place.path() / "elastic").string(), .snapshot_kb = 64};
        std::list<WorkerProcess> workers;
        std::vector<WorkerProcess*> present;
        const auto add = [&] { present.push_back(&workers.emplace_back(settings)); };
        add();
        ASSERT_TRUE(eventually([&] { return works(workers.front()); })) << workers.front().errors();
        for (int event = 0; event < 8; ++event) {
            std::this_thread::sleep_for(std::chrono::milliseconds(random.below(400)));
            const std::size_t some = random.below(present.size());
            const std::uint64_t what = present.size() < 3 ? 0 : random.below(4);
            if (what <= 1 && present.size() < 5) {
                add();
                continue;
            }
            present[some]->signal(what == 2 ? SIGTERM : SIGKILL);
            present.erase(present.begin() + static_cast<std::ptrdiff_t>(some));
        }
        ::unsetenv("WORKER_TIMEOUT");
        // All that are left come together.
        const int left = static_cast<int>(present.size());
        EXPECT_TRUE(eventually(
            [&] {
                return std::ranges::all_of(
                    present, [&](const WorkerProcess* one) { return members_of(*one) == left; });
            },
            30s));
        for (const WorkerProcess* worker : present) {
            if (members_of(*worker) != left) {
                ADD_FAILURE() << worker->record().substr(0, 500) << "...\n" << worker->errors();
            }
        }
        for (const WorkerProcess& worker : workers) {
            expect_right_steps(worker);
        }
    }
}

}  // namespace
}  // namespace mastic::test
