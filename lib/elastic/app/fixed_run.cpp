#include <mastic/elastic/app/fixed_run.hpp>

#include <mastic/comm/together.hpp>
#include <mastic/core/agreed_error.hpp>

namespace mastic::app {
namespace {

void check_equal(comm::Group& group, const std::string& fingerprint) {
    const std::vector<std::string> all = group.allgather_strings(fingerprint);
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
        if (all[rank] != all[0]) {
            throw AgreedError(ExitCode::collective,
                              "rank " + std::to_string(rank) + " has other options, or keeps other values",
                              "what setup() keeps must be the same on all ranks");
        }
    }
}

}  // namespace

ExitCode FixedRun::run() {
    group_ = session_.make_group({});
    comm::run_together(*group_, [this] { set_up(); });
    check_equal(*group_, fingerprint());
    comm::run_on_first(*group_, [this] {
        lead();
        resume();
        return std::string();
    });
    spread_state();
    join(group_);
    return take_steps();
}

// As rank 0 has it: from a checkpoint, or as it was set up.
void FixedRun::spread_state() {
    std::int64_t done = steps();
    group_->broadcast(comm::view_of(std::span(&done, 1)), 0);
    set_steps(done);
    for (const comm::BufferView& view : state().views()) {
        group_->broadcast(view, 0);
    }
}

}  // namespace mastic::app
