// The real mastic-rescale on state directories: submit, status, resize, drain, stop, report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include <mastic/core/command.hpp>
#include <mastic/core/file.hpp>
#include <mastic/schedule/manager/inbox_service.hpp>

#include "report/markup.hpp"
#include "schedule/manager/orders.hpp"
#include "support/tmpfs_mount.hpp"

namespace mastic::schedule {
namespace {

namespace fs = std::filesystem;
using mastic::test::TempDir;
using testing::HasSubstr;
using testing::Not;

CommandResult rescale(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), MASTIC_RESCALE);
    return run_command(arguments, Seconds(60));
}

// A state directory to be made, and a configuration of mastic-train.
struct Desk {
    TempDir dir;
    std::string state = (dir / "state").string();
    std::string config =
        dir.write("fashion.toml", "[run]\ndir = \"runs/fashion\"\n[model]\nname = \"lenet\"\n").string();

    CommandResult submit(std::vector<std::string> arguments = {}) const {
        arguments.insert(arguments.begin(), {"submit", state, config, "--unchecked"});
        return rescale(arguments);
    }
    // A command of Slurm, and mastic-rescale where these come first.
    void slurm(const std::string& command, const std::string& script) const {
        fs::permissions(dir.write("slurm/" + command, "#!/bin/sh\n" + script + "\n"), fs::perms::owner_all);
    }
    CommandResult with_slurm(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), {"env", "PATH=" + (dir / "slurm").string() + ":/usr/bin:/bin", MASTIC_RESCALE});
        return run_command(arguments, Seconds(60));
    }
    // Free of the run directory that the configuration names.
    CommandResult submit_run(const std::string& run) const {
        return submit({"--training.run_dir", (dir / run).string()});
    }
};

// Serves the inbox until its end, as a manager does between rounds.
class SmallManager {
  public:
    explicit SmallManager(const std::string& path)
        : state_(StateDirectory::open(path)),
          lock_(state_.lock(job::this_process("n1", "77"))),
          thread_([this] { serve(); }) {}
    ~SmallManager() {
        ended_ = true;
        thread_.join();
    }

  private:
    void serve() {
        while (!ended_) {
            serve_inbox(
                state_,
                std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(),
                nullptr);
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }

    StateDirectory state_;
    job::OwnerLock lock_;
    std::atomic<bool> ended_{false};
    std::thread thread_;
};

TEST(Submit, NeedsNoManager) {
    const Desk desk;
    const CommandResult result = desk.submit({"--training.max_nodes", "8", "--training.weight=2"});
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_THAT(result.output, HasSubstr("submitted fashion: 1..8 nodes, " + desk.config));
    EXPECT_THAT(result.output, HasSubstr("no manager lives: mastic-rescale serve"));
    const Training training = StateDirectory::open(desk.state).load("fashion");
    EXPECT_EQ(training.order.most, 8);
    EXPECT_EQ(training.order.weight, 2);
    EXPECT_GT(training.order.submitted_s, 1.7e9);
}

TEST(Submit, DryRunWritesNothing) {
    const Desk desk;
    const CommandResult result = desk.submit({"--dry-run"});
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_THAT(result.output, HasSubstr("fashion: 1..64 nodes"));
    EXPECT_THAT(result.output, HasSubstr("nothing was submitted"));
    EXPECT_FALSE(fs::exists(desk.state));
}

TEST(Submit, MistakesInAnOrderHaveTheirPlace) {
    const Desk desk;
    const std::string order =
        desk.dir.write("order.toml", "[training]\nconfig = \"fashion.toml\"\nmax_node = 3\nweight = -1\n")
            .string();
    const CommandResult result = rescale({"submit", desk.state, order});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(
        result.error,
        HasSubstr("order.toml:3:1: unknown key 'training.max_node'; did you mean 'training.max_nodes'?"));
    EXPECT_THAT(result.error, HasSubstr("order.toml:4:10: 'training.weight': '-1"));
    EXPECT_EQ(rescale({"submit", desk.state, (desk.dir / "none.toml").string()}).exit_code, 5);
    EXPECT_EQ(rescale({"submit", desk.state}).exit_code, 2);
    EXPECT_THAT(desk.submit({"--keep-best", "2"}).error, HasSubstr("--keep-best without --sweep"));
}

// With a mastic-train that says of each call what it was and refuses what it was told to.
TEST(Submit, AsksTheTrainerWhetherItWouldTakeEachTrial) {
    const Desk desk;
    const std::string calls = (desk.dir / "calls").string();
    const auto trainer = desk.dir.write("bin/mastic-train", "#!/bin/sh\necho \"$PWD $*\" >>" + calls + R"(
case "$*" in
*bad*) echo 'loading' >&2; echo 'mastic-train: unknown flag --bad' >&2; exit 2 ;;
*--lr\ 3*--dry-run) echo 'mastic-train: no libtorch' >&2; exit 4 ;;
esac
)");
    fs::permissions(trainer, fs::perms::owner_all);
    const auto submit = [&](const std::string& trials) {
        fs::remove(calls);
        return rescale({"submit", desk.state, desk.config, "--serve.programs", trainer.parent_path().string(), "--sweep",
                        desk.dir.write("trials.txt", trials).string()});
    };
    const CommandResult refused = submit("--lr 1\n--bad\n");
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.error, HasSubstr("trials-2: mastic-train refuses it: unknown flag --bad"));
    EXPECT_THAT(refused.error, HasSubstr("--unchecked"));
    EXPECT_TRUE(StateDirectory::open(desk.state).training_ids().empty());

    EXPECT_EQ(submit("--lr 1\n--lr 2\n").exit_code, 0);
    const std::string asked = read_text_file(calls);
    EXPECT_EQ(std::ranges::count(asked, '\n'), 2) << asked;
    EXPECT_THAT(asked, HasSubstr(desk.config + " --lr 1 --elastic.join "));
    EXPECT_THAT(asked, HasSubstr("trials/1 --dry-run\n"));
    EXPECT_THAT(asked, HasSubstr("trials/2 --print-config\n"));

    const CommandResult elsewhere = submit("--lr 3\n--lr 4\n");
    EXPECT_EQ(elsewhere.exit_code, 0) << "what this machine lacks is no mistake of the order";
    EXPECT_THAT(elsewhere.error, HasSubstr("no libtorch"));
    EXPECT_THAT(read_text_file(calls), HasSubstr("/2 --print-config\n")) << "the options of the others can be looked at";
    EXPECT_EQ(submit("--lr 3\n--bad\n").exit_code, 2);
}

TEST(Submit, TwoAtOnceBothArrive) {
    const Desk desk;
    std::vector<CommandResult> results(4);
    std::vector<std::thread> users;
    for (std::size_t i = 0; i < results.size(); ++i) {
        users.emplace_back([&, i] { results[i] = desk.submit_run("run" + std::to_string(i)); });
    }
    for (std::thread& user : users) {
        user.join();
    }
    for (const CommandResult& result : results) {
        EXPECT_EQ(result.exit_code, 0) << result.error;
    }
    EXPECT_EQ(StateDirectory::open(desk.state).training_ids().size(), 4u);
}

TEST(Submit, RefusesARunDirectoryThatAnotherTrainingHas) {
    const Desk desk;
    EXPECT_EQ(desk.submit().exit_code, 0);
    const CommandResult second = desk.submit();
    EXPECT_EQ(second.exit_code, 2);
    EXPECT_THAT(second.error, HasSubstr("is that of training fashion"));
    EXPECT_EQ(desk.submit_run("other").exit_code, 0);
}

TEST(Submit, ASweepIsManyTrainings) {
    const Desk desk;
    const std::string sweep = desk.dir.write("rates.txt", "--lr 1\n# no\n--lr 2\n").string();
    const CommandResult result = desk.submit({"--sweep", sweep, "--keep-best", "1"});
    EXPECT_EQ(result.exit_code, 0) << result.error;
    const auto trainings = StateDirectory::open(desk.state).trainings();
    ASSERT_EQ(trainings.size(), 2u);
    EXPECT_EQ(trainings[1].id, "rates-3");
    EXPECT_EQ(trainings[1].order.keep_best, 1);
    EXPECT_THAT(trainings[1].order.run_directory, testing::EndsWith("/runs/rates/3"));
    ASSERT_EQ(desk.submit_run("other").exit_code, 0);
    EXPECT_THAT(rescale({"status", desk.state, "rates"}).output,
                testing::AllOf(HasSubstr("rates-1"), HasSubstr("rates-3"), Not(HasSubstr("fashion"))));
    const CommandResult stopped = rescale({"stop", desk.state, "rates"});
    EXPECT_EQ(stopped.exit_code, 0) << stopped.error;
    EXPECT_EQ(StateDirectory::open(desk.state).inbox().waiting().size(), 2u);
}

TEST(Submit, NamesOfSweepsAndTrainingsDiffer) {
    const Desk desk;
    const std::string sweep = desk.dir.write("fashion.txt", "--lr 1\n--lr 2\n").string();
    EXPECT_EQ(desk.submit_run("one").exit_code, 0);  // training fashion
    EXPECT_EQ(desk.submit({"--sweep", sweep}).exit_code, 0);
    EXPECT_THAT(StateDirectory::open(desk.state).training_ids(),
                testing::UnorderedElementsAre("fashion", "fashion-2-1", "fashion-2-2"));
    const CommandResult second = desk.submit({"--training.name", "fashion-2", "--training.run_dir", "three"});
    EXPECT_EQ(second.exit_code, 2);
    EXPECT_THAT(second.error, HasSubstr("there is a sweep fashion-2 already"));
    EXPECT_EQ(desk.submit_run("four").exit_code, 0);
    EXPECT_THAT(StateDirectory::open(desk.state).training_ids(), testing::Contains("fashion-3"));
}

TEST(Submit, RefusesWeightsThatDecideAll) {
    const Desk desk;
    for (const char* weight : {"inf", "nan", "1e308", "0", "-1"}) {
        EXPECT_EQ(desk.submit({"--training.weight", weight}).exit_code, 2) << weight;
    }
    EXPECT_FALSE(fs::exists(desk.state));
}

TEST(Submit, KnowsARunDirectoryByAnyName) {
    const Desk desk;
    fs::create_directories(desk.dir / "runs/a");
    fs::create_symlink(desk.dir / "runs", desk.dir / "link");
    EXPECT_EQ(desk.submit_run("runs/a").exit_code, 0);
    EXPECT_EQ(desk.submit_run("runs/a/").exit_code, 2);
    EXPECT_EQ(desk.submit_run("link/a").exit_code, 2);
}

TEST(Report, ReplacesNothingOfTheState) {
    const Desk desk;
    desk.submit();
    const std::string event = R"({"time_s": 1700000000, "kind": "manager_started"})";
    mastic::test::write_file(desk.state + "/events.jsonl", event + "\n");
    EXPECT_EQ(rescale({"report", desk.state, desk.state + "/state.json"}).exit_code, 2);
    EXPECT_EQ(rescale({"report", desk.state, "/dev/null"}).exit_code, 5);
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    EXPECT_EQ(rescale({"status", desk.state}).exit_code, 0);
}

TEST(Submit, AFullDiskIsToldAndLeavesNothingHalf) {
    const mastic::test::TmpfsMount disk(parse_bytes("256K"));
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    const Desk desk;
    const std::string state = (disk / "state").string();
    std::string lines;
    for (int i = 0; i < 100; ++i) {
        lines += "--seed " + std::to_string(i) + "\n";
    }
    const std::string sweep = desk.dir.write("seeds.txt", lines).string();
    const CommandResult result = rescale({"submit", state, desk.config, "--unchecked", "--sweep", sweep});
    EXPECT_EQ(result.exit_code, 5);
    EXPECT_THAT(result.error, HasSubstr("No space left"));
    EXPECT_TRUE(StateDirectory::open(state).training_ids().empty());
}

TEST(StateDirectories, ThatCannotBeUsedAreRefused) {
    const Desk desk;
    EXPECT_EQ(rescale({"status", desk.state}).exit_code, 2);
    EXPECT_EQ(desk.submit().exit_code, 0);
    ASSERT_EQ(chmod(desk.state.c_str(), 0777), 0);
    const CommandResult open = rescale({"status", desk.state});
    EXPECT_EQ(open.exit_code, 5);
    EXPECT_THAT(open.error, HasSubstr("chmod go-w"));
    ASSERT_EQ(chmod(desk.state.c_str(), 0700), 0);
    mastic::test::write_file(desk.state + "/state.json", R"({"format": 2, "id": "x"})");
    for (const char* command : {"status", "report"}) {
        const CommandResult newer = rescale({command, desk.state});
        EXPECT_EQ(newer.exit_code, 3) << command;
        EXPECT_THAT(newer.error, HasSubstr("newer mastic"));
    }
    EXPECT_EQ(desk.submit_run("other").exit_code, 3);
}

TEST(StatusCommand, IsTextAndJson) {
    const Desk desk;
    desk.submit();
    const CommandResult text = rescale({"status", desk.state});
    EXPECT_EQ(text.exit_code, 0) << text.error;
    EXPECT_THAT(text.output, HasSubstr("manager  none"));
    EXPECT_THAT(text.output, HasSubstr("fashion   queued"));
    const auto json = nlohmann::json::parse(rescale({"status", desk.state, "--json"}).output);
    EXPECT_EQ(json.at("trainings").at(0).at("id"), "fashion");
    EXPECT_THAT(rescale({"status", desk.state, "fashion"}).output, HasSubstr(desk.config));
    const CommandResult unknown = rescale({"status", desk.state, "fashoin"});
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.error, HasSubstr("did you mean 'fashion'?"));
}

TEST(StatusCommand, WatchesUntilItIsEnded) {
    const Desk desk;
    desk.submit();
    // Reads two pictures, then the pipe is closed.
    const CommandResult result =
        run_command({"timeout", "50", "bash", "-c", "\"$0\" status \"$1\" --watch | grep -m2 '^manager'",
                     MASTIC_RESCALE, desk.state},
                    Seconds(60));
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_EQ(std::ranges::count(result.output, '\n'), 2);
}

TEST(StatusCommand, SurvivesTornFiles) {
    const Desk desk;
    desk.submit();
    desk.submit_run("other");
    mastic::test::write_file(desk.state + "/trainings/fashion/record.json", "{\"format\": 1, \"st");
    mastic::test::write_file(desk.state + "/inbox/0-torn.json", "{\"for");
    fs::create_directory(desk.state + "/trainings/.draft-of-a-dead-one");
    const CommandResult result = rescale({"status", desk.state});
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_THAT(result.output, HasSubstr("record.json is damaged"));
    EXPECT_THAT(result.output, HasSubstr("fashion-2"));
    EXPECT_THAT(result.output, Not(HasSubstr("draft")));
}

TEST(Requests, WaitForAManager) {
    const Desk desk;
    desk.submit();
    const CommandResult result = rescale({"resize", desk.state, "fashion", "2", "6"});
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_THAT(result.output, HasSubstr("waits for a manager"));
    EXPECT_THAT(rescale({"status", desk.state}).output, HasSubstr("resize fashion to 2..6 nodes"));
    const SmallManager manager(desk.state);
    const CommandResult next = rescale({"resize", desk.state, "fashion", "--training.weight", "3"});
    EXPECT_EQ(next.output, "resize fashion to weight 3\n") << next.error;
    const TrainingOrder order = StateDirectory::open(desk.state).load("fashion").order;
    EXPECT_EQ(order.least, 2);  // the one that waited was done first
    EXPECT_EQ(order.weight, 3);
}

TEST(Requests, ManagerAnswersAndRefuses) {
    const Desk desk;
    desk.submit({"--training.max_nodes", "8"});
    const SmallManager manager(desk.state);
    desk.slurm("sinfo", "exit 1");
    EXPECT_EQ(desk.with_slurm({"drain", desk.state, "n[1-2]", "n7"}).output, "drain n[1-2,7]\n");
    EXPECT_THAT(rescale({"status", desk.state}).output, HasSubstr("3 drained: n[1-2,7]"));
    EXPECT_EQ(rescale({"drain", desk.state, "all", "--undo"}).output, "undrain all nodes\n");
    EXPECT_TRUE(StateDirectory::open(desk.state).drained().nodes.empty());
    EXPECT_THAT(rescale({"status", desk.state}).output, HasSubstr("job 77"));
    EXPECT_EQ(rescale({"stop", desk.state, "fashion"}).output, "fashion is stopped\n");
    const CommandResult refused = rescale({"resize", desk.state, "fashion", "1"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.error, HasSubstr("refused, fashion is stopped already"));
    EXPECT_EQ(rescale({"stop", desk.state, "all"}).exit_code, 2);  // nothing is left
}

TEST(Requests, ADrainOfNodesThatDoNotExistIsRefused) {
    const Desk desk;
    desk.submit();
    desk.slurm("sinfo", "for node in n1 n2 n12; do echo \"$node|cancel|up|idle|0/4/0/4|4000|(null)|none\"; done");
    const CommandResult unknown = desk.with_slurm({"drain", desk.state, "n[1-3]", "n22", "printer"});
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.error, HasSubstr("the cluster has no "));
    for (const char* node : {"n[3,22]", "printer"}) {
        EXPECT_THAT(unknown.error, HasSubstr(node));
    }
    EXPECT_THAT(unknown.error, HasSubstr("did you mean n[1,12]?"));
    EXPECT_THAT(desk.with_slurm({"drain", desk.state, "printer"}).error, HasSubstr("`sinfo --Node` lists them"));
    EXPECT_TRUE(StateDirectory::open(desk.state).inbox().waiting().empty());
    const CommandResult known = desk.with_slurm({"drain", desk.state, "n[1-2]"});
    EXPECT_EQ(known.exit_code, 0) << known.error;
    EXPECT_EQ(desk.with_slurm({"drain", desk.state, "n99", "--undo"}).exit_code, 0) << "it may be gone since it was drained";
    EXPECT_EQ(desk.with_slurm({"drain", desk.state, "all"}).exit_code, 0);
    desk.slurm("sinfo", "echo the controller is away >&2; exit 1");
    const CommandResult away = desk.with_slurm({"drain", desk.state, "n99"});
    EXPECT_EQ(away.exit_code, 0) << away.error;
    EXPECT_THAT(away.error, HasSubstr("the controller is away: whether the cluster has these nodes is not known"));
    EXPECT_EQ(StateDirectory::open(desk.state).inbox().waiting().size(), 4u);
}

TEST(Serve, LivesOnWhileItsStateDirectoryIsAway) {
    const Desk desk;
    desk.submit();
    desk.slurm("squeue", "");
    desk.slurm("sinfo", "echo 'n1|cancel|up|allocated|4/0/0/4|4000|(null)|none'");
    desk.slurm("scontrol", "echo No reservations in the system");
    const StateDirectory state = StateDirectory::open(desk.state);
    CommandResult served;
    std::thread server([&] { served = desk.with_slurm({"serve", desk.state, "--serve.every", "3"}); });
    for (int look = 0; look < 300 && !state.round(); ++look) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    EXPECT_TRUE(state.round());
    fs::rename(desk.state, desk.dir / "away");
    std::this_thread::sleep_for(std::chrono::milliseconds(4500));  // longer than a round, and than a look for requests
    fs::rename(desk.dir / "away", desk.state);
    const CommandResult stopped = desk.with_slurm({"stop", desk.state, "--manager"});
    EXPECT_EQ(stopped.exit_code, 0) << stopped.error;
    server.join();
    EXPECT_EQ(served.exit_code, 0) << served.error;
    EXPECT_THAT(served.error, testing::AllOf(HasSubstr("is away: "), HasSubstr("and is back")));
}

TEST(Requests, ThoseOfASweepAreDoneInOneRound) {
    const Desk desk;
    std::string lines;
    for (int trial = 1; trial <= 12; ++trial) {
        lines += "--lr " + std::to_string(trial) + "\n";
    }
    ASSERT_EQ(desk.submit({"--sweep", desk.dir.write("rates.txt", lines).string()}).exit_code, 0);
    const StateDirectory state = StateDirectory::open(desk.state);
    const job::OwnerLock lock = state.lock(job::this_process("n1", "77"));
    std::thread stopper([&] {
        const CommandResult result = rescale({"stop", desk.state, "rates"});
        EXPECT_EQ(result.exit_code, 0) << result.error;
        EXPECT_THAT(result.output, HasSubstr("rates-12 is stopped\n"));
    });
    for (int look = 0; look < 300 && state.inbox().waiting().size() < 12; ++look) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    EXPECT_EQ(state.inbox().waiting().size(), 12u);
    serve_inbox(state, 1, nullptr);
    stopper.join();
}

TEST(Requests, MistakesAreToldBeforeAsking) {
    const Desk desk;
    desk.submit();
    const auto error = [&](std::vector<std::string> arguments) {
        const CommandResult result = rescale(std::move(arguments));
        EXPECT_EQ(result.exit_code, 2);
        return result.error;
    };
    EXPECT_THAT(error({"resize", desk.state, "fashoin", "2"}), HasSubstr("did you mean 'fashion'?"));
    EXPECT_THAT(error({"resize", desk.state, "fashion", "two"}), HasSubstr("'two' is no number of nodes"));
    EXPECT_THAT(error({"resize", desk.state, "fashion", "8", "2"}), HasSubstr("MIN is above MAX"));
    EXPECT_THAT(error({"resize", desk.state, "fashion"}), HasSubstr("resize to what?"));
    EXPECT_THAT(error({"drain", desk.state, "n[1-"}), HasSubstr("n[1-"));
    EXPECT_THAT(error({"stop", desk.state}), HasSubstr("stop which training?"));
    EXPECT_THAT(error({"stop", desk.state, "--manager"}), HasSubstr("no manager lives"));
    EXPECT_TRUE(StateDirectory::open(desk.state).inbox().waiting().empty());
    EXPECT_THAT(rescale({"stop", desk.state, "fashion", "--dry-run"}).output,
                HasSubstr("would ask: stop fashion"));
    EXPECT_TRUE(StateDirectory::open(desk.state).inbox().waiting().empty());
}

void log_some_events(const StateDirectory& state) {
    EventLog log(state.events_file());
    const auto write = [&](double time_s, EventKind kind, const std::string& node) {
        Event event;
        event.time_s = 1'800'000'000 + time_s;
        event.kind = kind;
        event.node = node;
        event.training = "fashion";
        event.text = "a <reason> & more";
        log.write(event);
    };
    write(0, EventKind::node_idle, "node-a");
    write(60, EventKind::pilot_started, "node-a");
    write(90, EventKind::pilot_joined, "node-a");
    write(3600, EventKind::pilot_ended, "node-a");
    write(3700, EventKind::node_taken, "node-a");
}

TEST(ReportCommand, WritesAPageOfRealEvents) {
    const Desk desk;
    desk.submit();
    EXPECT_EQ(rescale({"report", desk.state}).exit_code, 3);  // nothing has happened
    log_some_events(StateDirectory::open(desk.state));
    const CommandResult result = rescale({"report", desk.state});
    EXPECT_EQ(result.exit_code, 0) << result.error;
    const std::string page = read_text_file(desk.state + "/report.html");
    EXPECT_THAT(page, HasSubstr("node-a"));
    EXPECT_THAT(page, HasSubstr("a &lt;reason&gt; &amp; more"));
    EXPECT_THAT(page, Not(HasSubstr("oracle")));
    EXPECT_GE(mastic::test::select(mastic::test::parse_markup(page), "svg").size(), 4u);
    EXPECT_EQ(rescale({"report", desk.state, "/nowhere/x.html"}).exit_code, 5);
    EXPECT_EQ(rescale({"report", desk.state, (desk.dir / "x.html").string(), "--dry-run"}).exit_code, 0);
    EXPECT_FALSE(fs::exists(desk.dir / "x.html"));
}

TEST(HelpOfTheDesk, ListsItsCommands) {
    const std::string help = rescale({"--help"}).output;
    for (const char* word :
         {"submit", "status", "resize", "drain", "stop", "report", "--training.max_nodes", "--keep-best"}) {
        EXPECT_THAT(help, HasSubstr(word));
    }
    EXPECT_THAT(rescale({"sumbit"}).error, HasSubstr("submit"));
}

}  // namespace
}  // namespace mastic::schedule
