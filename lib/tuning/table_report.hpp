// A tuning table for people: as a map in text, and as one HTML page with plots.
#pragma once

#include <string>

#include <mastic/tuning/table.hpp>

namespace mastic::tuning {

// What shape takes which algorithm up to which size, and its time.
std::string table_text(const TuningTable& table);

// For each shape and collective a plot of bus bandwidth over size, a line per algorithm, and a table of the choices.
//
// Bus bandwidth is the algorithm bandwidth (bytes / time) times a factor that makes collectives and numbers of ranks
// comparable with the hardware's rate: 2(p-1)/p for allreduce, (p-1)/p for reduce-scatter and allgather, 1 for
// broadcast.
std::string table_page(const TuningTable& table, const std::string& name);

double bus_factor(comm::Collective collective, int ranks);

}  // namespace mastic::tuning
