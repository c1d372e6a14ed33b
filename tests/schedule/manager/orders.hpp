// Orders and state directories for tests.
#pragma once

#include <string>
#include <vector>

#include <mastic/schedule/manager/state_directory.hpp>

#include "support/temp_dir.hpp"

namespace mastic::schedule::test {

inline TrainingOrder order_named(const std::string& name, double submitted_s = 100) {
    TrainingOrder order;
    order.name = name;
    order.config = "/home/ana/" + name + ".toml";
    order.run_directory = "/home/ana/runs/" + name;
    order.directory = "/home/ana";
    order.least = 1;
    order.most = 8;
    order.submitted_s = submitted_s;
    return order;
}

inline StateDirectory state_with(const mastic::test::TempDir& dir, const std::vector<std::string>& names) {
    StateDirectory state = StateDirectory::create_or_open(dir / "state");
    for (const std::string& name : names) {
        state.publish({order_named(name)});
    }
    return state;
}

}  // namespace mastic::schedule::test
