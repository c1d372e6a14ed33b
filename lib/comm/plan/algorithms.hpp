// The plans that mastic knows: one named table, read by help texts, tuner and tests.
#pragma once

#include <span>
#include <string_view>

#include <mastic/comm/plan/plan.hpp>

namespace mastic::comm {

enum class Collective { allreduce, broadcast, reduce_scatter, allgather };
inline constexpr Collective collectives[] = {Collective::allreduce, Collective::broadcast, Collective::reduce_scatter,
                                             Collective::allgather};
const char* to_string(Collective collective);
Collective parse_collective(std::string_view name);  // throws Error(usage) with a suggestion

// What a plan starts from and ends with, in a buffer of Plan::blocks blocks:
//   allreduce       every rank: its contribution -> the reduction of all
//   broadcast       root: the data -> every rank: the data
//   reduce_scatter  every rank: its contribution (`size` equal parts) -> part `rank`: the reduction; the rest is undefined
//   allgather       every rank: part `rank` -> all parts
// Parts are blocks: reduce_scatter and allgather have `size` of them.
// Results are bit-identical on all ranks that have them.
struct PlanAlgorithm {
    Collective collective;
    const char* name;         // "ring"; unique within the collective
    const char* description;  // one line, with the source of the method
    Plan (*make)(int rank, int size, int root);  // root: of broadcast only
};

std::span<const PlanAlgorithm> plan_algorithms();
const PlanAlgorithm* find_plan_algorithm(Collective collective, std::string_view name);  // null: there is none

}  // namespace mastic::comm
