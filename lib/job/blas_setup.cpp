// ensure_blas_core: each start of the program is one round of the loop "load with a core, prove it, else the
// next".
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include <strings.h>
#include <unistd.h>

#include <mastic/core/error.hpp>
#include <mastic/job/blas_core.hpp>

namespace mastic::job {
namespace {

constexpr auto core_variable = "OPENBLAS_CORETYPE";
constexpr auto l2_variable = "OPENBLAS_L2_SIZE";
constexpr auto trail_variable = "MASTIC_BLAS_CORE";

bool same_core(const std::string& a, const std::string& b) {
    return strcasecmp(a.c_str(), b.c_str()) == 0;
}

// Returns only if it fails, with the reason. The real name instead of /proc/self/exe keeps the name that ps
// shows.
std::string start_again(char** argv) {
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (!error) {
        execv(program.c_str(), argv);
    }
    execv("/proc/self/exe", argv);
    return std::strerror(errno);
}

class Setup {
  public:
    Setup(char** argv, const CpuFeatures& cpu, const BlasLibrary& blas)
        : argv_(argv),
          cpu_(cpu),
          blas_(blas),
          environment_(process_environment()),
          loaded_(blas.core_name()) {
        const auto trail = BlasTrail::parse(environment_(trail_variable).value_or(""));
        trail_ = trail.value_or(BlasTrail{loaded_, {}});
        if (trail && !l2_missing()) {
            asked_at_start_ = environment_(core_variable);
        }
    }

    BlasReport run() {
        for (;;) {
            const auto choice = choose_blas_core(cpu_, environment_);
            if (choice.name.empty() && !trail_.rejected.empty()) {
                give_up();
            }
            const bool ours = !choice.set_by_user && !choice.name.empty();
            std::string obstacle;  // why the choice could not be loaded
            if (ours && needs_load(choice)) {
                if (asked_at_start_ && same_core(*asked_at_start_, choice.name)) {
                    reject(choice.name, "not in this OpenBLAS");
                    continue;
                }
                obstacle = load(choice);
            }
            const auto proof = prove_blas(blas_);
            if (proof.verdict != BlasVerdict::wrong) {
                return report(choice, obstacle, proof);
            }
            if (!ours || !obstacle.empty()) {
                refuse(choice, proof);
            }
            reject(choice.name, proof.problem);
        }
    }

  private:
    bool l2_missing() const { return cpu_.x86 && cpu_.l2_reported_kib == 0 && !environment_(l2_variable); }
    bool needs_load(const BlasCore& choice) const { return !same_core(loaded_, choice.name) || l2_missing(); }

    void reject(const std::string& core, const std::string& why) {
        trail_.rejected.emplace_back(core, why);
        setenv(trail_variable, trail_.text().c_str(), 1);
    }

    // Returns why it failed: empty if the choice is loaded now.
    std::string load(const BlasCore& choice) {
        setenv(trail_variable, trail_.text().c_str(), 1);
        setenv(core_variable, choice.name.c_str(), 1);
        if (l2_missing()) {
            setenv(l2_variable, std::to_string(cpu_.l2_kib).c_str(), 1);
        }
        if (blas_.forget_core != nullptr && blas_.load_core != nullptr) {
            blas_.forget_core();
            blas_.load_core();
            loaded_ = blas_.core_name();
            if (same_core(loaded_, choice.name)) {
                return "";
            }
        }
        return start_again(argv_);
    }

    [[noreturn]] void give_up() const {
        std::string tried;
        for (const auto& [core, why] : trail_.rejected) {
            tried.append(tried.empty() ? "" : ", ").append(core).append(": ").append(why);
        }
        throw Error(ExitCode::environment, "no core of OpenBLAS computes right products here (" + tried + ")",
                    "install another OpenBLAS or BLAS, or name a core in OPENBLAS_CORETYPE");
    }

    [[noreturn]] void refuse(const BlasCore& choice, const BlasProof& proof) const {
        throw Error(ExitCode::environment,
                    "OpenBLAS does not compute right products with core " + loaded_ + " (" + choice.reason +
                        "): " + proof.problem,
                    choice.set_by_user ? "unset OPENBLAS_CORETYPE: mastic then looks for a core that does"
                                       : "install another OpenBLAS or BLAS");
    }

    BlasReport report(const BlasCore& choice, const std::string& obstacle, const BlasProof& proof) const {
        std::string why = choice.reason;
        const auto best = blas_core_candidates(cpu_);
        if (!obstacle.empty()) {
            why = "not " + choice.name + ", since the program could not be started again: " + obstacle;
        } else if (choice.set_by_user && !same_core(choice.name, loaded_)) {
            why += " to " + choice.name + ", which it does not know";
        } else if (choice.set_by_user && !best.empty() && !same_core(best.front().name, loaded_)) {
            why += "; " + best.front().name + " would be " + best.front().reason;
        }
        for (const auto& [core, problem] : trail_.rejected) {
            why.append("; ").append(core).append(": ").append(problem);
        }
        if (!choice.set_by_user && !same_core(trail_.own_core, loaded_)) {
            why += "; OpenBLAS itself would take " + trail_.own_core;
        }
        const bool proven = proof.verdict == BlasVerdict::right;
        return {true, proven, loaded_,
                "OpenBLAS core " + loaded_ + " (" + why + "), product " +
                    (proven ? "proven" : "not proven: " + proof.problem)};
    }

    char** argv_;
    CpuFeatures cpu_;
    BlasLibrary blas_;
    Environment environment_;
    std::string loaded_;
    BlasTrail trail_;
    std::optional<std::string> asked_at_start_;  // the core that this very start was to load
};

}  // namespace

BlasReport ensure_blas_core(char** argv) {
    return ensure_blas_core(argv, detect_cpu(), find_blas());
}

BlasReport ensure_blas_core(char** argv, const CpuFeatures& cpu, const BlasLibrary& blas) {
    if (blas.sgemm == nullptr || blas.dgemm == nullptr) {
        return {false, false, "", "no BLAS is loaded"};
    }
    if (blas.core_name == nullptr) {
        return {false, false, "", "BLAS " + blas.file + " is not OpenBLAS: left as it is"};
    }
    return Setup(argv, cpu, blas).run();
}

}  // namespace mastic::job
