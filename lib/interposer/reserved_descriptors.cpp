#include <mastic/interposer/reserved_descriptors.hpp>

#include <atomic>

#include <sys/resource.h>

#include <mastic/core/error.hpp>

namespace mastic::interposer {

namespace {

std::atomic<int> reserved{0};

}  // namespace

ReservedDescriptors::ReservedDescriptors(int count) : count_(count) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    const int all = reserved += count_;
    if (static_cast<rlim_t>(all) > limit.rlim_cur / 4) {
        reserved -= count_;
        throw Error(ExitCode::environment, "too many communicators for the limit on open files",
                    "raise it (ulimit -n)");
    }
}

ReservedDescriptors::~ReservedDescriptors() {
    reserved -= count_;
}

}  // namespace mastic::interposer
