// Stands for the trainer that mastic-train becomes, in a pilot where only scheduling is measured: 60 nodes share the cores of one
// machine. It computes nothing, reports progress of 100 samples per second and member, and leaves with code 75 when it is told to.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <sys/file.h>

#include <mastic/core/descriptor.hpp>
#include <mastic/core/error.hpp>
#include <mastic/report/metrics.hpp>

namespace {

namespace fs = std::filesystem;

constexpr timespec report_every{2, 0};
constexpr std::int64_t samples_per_s = 100;

// The member that has the lock leads, and reports.
class Leadership {
  public:
    explicit Leadership(const fs::path& run) : lock_(::open((run / "leader").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {}
    bool taken() const { return ::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0; }

  private:
    mastic::Descriptor lock_;
};

void report(const fs::path& run) {
    const auto members = std::distance(fs::directory_iterator(run / "members"), {});
    const fs::path kept = run / "samples";
    mastic::report::StepRecord record;
    std::ifstream(kept) >> record.samples;
    record.samples += report_every.tv_sec * samples_per_s * members;
    std::ofstream(kept) << record.samples << "\n";
    record.step = record.samples;
    record.time_s = static_cast<double>(std::time(nullptr));
    record.world_size = members;
    std::ofstream(run / "metrics.jsonl", std::ios::app) << mastic::report::to_json_line(record) << "\n";
}

}  // namespace

int main(int argc, char** argv) {
    const std::string option = "--elastic.join";
    char** const found = std::find(argv, argv + argc, option);
    const char* const job = std::getenv("SLURM_JOB_ID");
    if (argv + argc - found < 2 || job == nullptr) {
        return static_cast<int>(mastic::ExitCode::usage);
    }
    const fs::path run = found[1];
    sigset_t told;
    sigemptyset(&told);
    sigaddset(&told, SIGTERM);
    sigprocmask(SIG_BLOCK, &told, nullptr);  // as mastic-train has done already
    fs::create_directories(run / "members");
    const fs::path member = run / "members" / job;
    std::ofstream(member).flush();
    const Leadership leadership(run);
    do {
        if (leadership.taken()) {
            report(run);
        }
    } while (sigtimedwait(&told, nullptr, &report_every) != SIGTERM);
    fs::remove(member);
    return static_cast<int>(mastic::ExitCode::requeue);
}
