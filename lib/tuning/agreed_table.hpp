// The table that the ranks of a group choose by: read once, the same for all.
#pragma once

#include <string>

#include <mastic/comm/group.hpp>
#include <mastic/tuning/table.hpp>

namespace mastic::tuning {

// Collective. Rank 0 reads the file. Throws AgreedError as TuningTable::load and require_machine do, on all ranks.
TunedSelection agreed_selection(comm::Group& exchange, const std::string& file, const GroupShape& shape,
                                comm::Wire wire = comm::Wire::exact);

}  // namespace mastic::tuning
