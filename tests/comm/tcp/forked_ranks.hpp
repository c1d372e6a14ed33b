// Ranks as forked processes, and a group of them over socket pairs for what happens before there is a transport.
#pragma once

#include <functional>
#include <vector>

#include <mastic/comm/group.hpp>

namespace mastic::test {

// Runs `body` in `ranks` processes, each of which an alarm ends after 30 s. Returns their wait statuses, by rank: 0 where
// the body returned and no expectation failed.
std::vector<int> run_ranks(int ranks, const std::function<void(comm::Group& exchange)>& body);

// Expects that all ended well, but for those that killed themselves on purpose.
void expect_success(const std::vector<int>& statuses, const std::vector<int>& killed = {});

}  // namespace mastic::test
