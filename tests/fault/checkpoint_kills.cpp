#include "fault/checkpoint_kills.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <stdexcept>
#include <thread>

#include "fault/checkpoint_state.hpp"
#include "support/temp_dir.hpp"

#include <mastic/checkpoint/async_writer.hpp>
#include <mastic/checkpoint/verify.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/random.hpp>

namespace mastic::test {

using namespace mastic::checkpoint;

namespace {

// Shared with the child, so that it survives its death.
struct Progress {
    std::atomic<std::uint64_t> started{0};    // the newest step whose save began
    std::atomic<std::uint64_t> committed{0};  // the newest whose commit returned
    std::atomic<bool> saving{false};          // this child's first save began
    std::atomic<std::uint64_t> commits{0};    // of this child
};

class SharedProgress {
  public:
    SharedProgress()
        : memory_(
              mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
        if (memory_ == MAP_FAILED) {
            throw std::runtime_error("no shared memory for the test");
        }
        progress_ = new (memory_) Progress;
    }
    ~SharedProgress() { munmap(memory_, sizeof(Progress)); }
    SharedProgress(const SharedProgress&) = delete;
    SharedProgress& operator=(const SharedProgress&) = delete;
    Progress* operator->() { return progress_; }
    Progress& operator*() { return *progress_; }

  private:
    void* memory_;
    Progress* progress_;
};

constexpr int child_failed = 99;

pid_t start_child(const std::function<void()>& body) {
    const pid_t child = fork();
    if (child < 0) {
        throw std::runtime_error("cannot fork");
    }
    if (child == 0) {
        try {
            body();
            _exit(0);
        } catch (...) {
            _exit(child_failed);
        }
    }
    return child;
}

int wait_for(pid_t child) {
    int status = 0;
    if (waitpid(child, &status, 0) != child) {
        throw std::runtime_error("waitpid failed");
    }
    return status;
}

void save_asynchronously(AsyncCheckpointWriter& writer, const CheckpointStore& store, std::uint64_t step) {
    constexpr Seconds patience{30};
    writer.submit(step, state_of_step(step, 0, 1), patience);
    const auto outcome = writer.wait(patience);
    const ShardRecord record = outcome.value().value();
    store.commit({step, step * 64, 1, R"({"epoch":1})"}, std::span(&record, 1));
}

void save_for_ever(const std::filesystem::path& directory, const KillPlan& plan, std::uint64_t first,
                   Progress& progress) {
    const CheckpointStore store(directory, small_store_options());
    store.remove_leftovers();
    AsyncWriterOptions eager;
    eager.nice = 0;
    AsyncCheckpointWriter writer(store, 0, 1, eager);
    for (std::uint64_t step = first;; ++step) {
        // A step that is saved again has already been committed once.
        progress.started = std::max(progress.started.load(), step);
        progress.saving = true;
        if (plan.asynchronous) {
            save_asynchronously(writer, store, step);
        } else {
            save_step(store, step, plan.writers);
        }
        progress.committed = std::max(progress.committed.load(), step);
        ++progress.commits;
    }
}

// Judges a restart; returns the step it goes on from.
std::uint64_t judge(const std::filesystem::path& directory, int writers, const Progress& progress,
                    KillReport& report) {
    const CheckpointStore store(directory, small_store_options());
    const std::uint64_t started = progress.started;
    const std::uint64_t committed = progress.committed;
    ++report.kills;
    report.inside_save += started > committed ? 1 : 0;
    std::string problem;
    std::uint64_t step = 0;
    try {
        const auto restored = store.restore();
        if (restored) {
            step = restored->manifest.step;
            problem = difference_from_step(restored->state, step, writers);
            for (const Skipped& skipped : restored->skipped) {
                problem += " skipped " + skipped.generation + ": " + skipped.reason;
            }
        }
        if (!verify(directory).all_valid()) {
            problem += " half a generation is visible:\n" + to_text(verify(directory));
        }
        if (step < committed || step > started) {
            problem += " step " + std::to_string(step) + " restored";
        }
    } catch (const Error& error) {
        problem = error.full_message();
    }
    if (problem.empty()) {
        ++report.right;
    } else {
        report.failures.push_back("kill " + std::to_string(report.kills) + " (committed " +
                                  std::to_string(committed) + ", started " + std::to_string(started) +
                                  "): " + problem);
    }
    return step;
}

using Clock = std::chrono::steady_clock;

// Polls, at most 30 s.
void wait_until(const std::function<bool()>& reached) {
    const auto deadline = Clock::now() + std::chrono::seconds(30);
    while (!reached() && Clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

// What one save takes here: a disk needs up to 100 ms for its syncs, a file system in memory 1 ms.
Seconds time_of_save(const CheckpointStore& store, std::uint64_t step, int writers) {
    const auto begin = Clock::now();
    save_step(store, step, writers);
    return Clock::now() - begin;
}

}  // namespace

KillReport kill_during_saves(const std::filesystem::path& directory, const KillPlan& plan) {
    KillReport report;
    SharedProgress progress;
    CounterRandom random(plan.seed);
    const int writers = plan.asynchronous ? 1 : plan.writers;
    std::uint64_t step = 1;
    // A life spans about two saves, and never makes the whole run long.
    const Seconds longest_life = std::min(
        Seconds(0.2), 2.2 * time_of_save(CheckpointStore(directory, small_store_options()), step, writers));
    for (int i = 0; i < plan.kills; ++i) {
        // Every third life saves the restored step once more, which replaces it.
        const std::uint64_t first = i % 3 == 2 ? step : step + 1;
        // The step restored is known to be durable, whether or not the killed child knew.
        progress->committed = step;
        progress->started = step;
        progress->saving = false;
        progress->commits = 0;
        const pid_t child = start_child([&] { save_for_ever(directory, plan, first, *progress); });
        wait_until([&] { return progress->saving.load(); });
        if (i % 10 == 9) {
            wait_until([&] { return progress->commits > 0; });
        }
        std::this_thread::sleep_for(longest_life * random.uniform());
        kill(child, SIGKILL);
        const int status = wait_for(child);
        if (!WIFSIGNALED(status)) {
            report.failures.push_back("a child ended by itself: a save failed");
        }
        report.committed += progress->commits;
        step = judge(directory, writers, *progress, report);
    }
    return report;
}

namespace {

constexpr int point_writers = 2;
constexpr std::uint64_t point_steps[] = {1, 2, 2, 3, 4};

void save_until_point(const std::filesystem::path& directory, int pass, Progress& progress) {
    int passed = 0;
    StoreOptions options = small_store_options();
    options.fault_point = [&](const char*) {
        if (passed++ == pass) {
            kill(getpid(), SIGKILL);
        }
    };
    const CheckpointStore store(directory, options);
    for (const std::uint64_t step : point_steps) {
        progress.started = step;
        save_step(store, step, point_writers);
        progress.committed = step;
    }
}

// The next writer must leave nothing but whole generations.
void save_and_look(const std::filesystem::path& directory, KillReport& report) {
    const CheckpointStore store(directory, small_store_options());
    store.remove_leftovers();
    save_step(store, 10, point_writers);
    for (const std::string& name : names_in(directory)) {
        const auto at = "point " + std::to_string(report.kills - 1) + ": ";
        if (name.find('.') != std::string::npos) {
            report.failures.push_back(at + name + " was left");
        }
        for (const std::string& file : names_in(directory / name)) {
            if (!file.ends_with(".h5") && file != manifest_name) {
                report.failures.push_back(at + name + "/" + file + " was left");
            }
        }
    }
}

}  // namespace

KillReport kill_at_every_point(const std::filesystem::path& directory) {
    KillReport report;
    for (int pass = 0;; ++pass) {
        const auto fresh = directory / std::to_string(pass);
        SharedProgress progress;
        const int status = wait_for(start_child([&] { save_until_point(fresh, pass, *progress); }));
        if (WIFEXITED(status)) {
            if (WEXITSTATUS(status) != 0) {
                report.failures.push_back("a child ended by itself: a save failed");
            }
            return report;
        }
        judge(fresh, point_writers, *progress, report);
        save_and_look(fresh, report);
    }
}

}  // namespace mastic::test
