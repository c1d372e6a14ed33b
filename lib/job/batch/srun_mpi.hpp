// Which `srun --mpi=TYPE` an MPI library needs. With another one each task becomes a world of its own, mostly without
// a word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <mastic/core/command.hpp>

namespace mastic::job {

// "pmi2", "pmix" or "cray_shasta". `library`: what MPI_Get_library_version gives, the whole text. MPICH and those made
// from it speak PMI-1 and PMI-2 unless they were configured with PMIx; Open MPI speaks PMIx.
std::string required_srun_mpi(std::string_view library);

// The types in the answer of `srun --mpi=list`, in the forms of Slurm 20.11 to 24.05.
std::vector<std::string> parse_srun_mpi_list(std::string_view answer);

// Asks srun, which prints them on standard error or on standard output, by its version. Empty if it cannot be asked.
std::vector<std::string> ask_srun_mpi_types(const CommandRunner& run);

// Throws Error(environment), naming what there is, if `required` is not among those that srun offers. An empty list
// is one that is not known.
void check_srun_mpi(const std::string& required, const std::vector<std::string>& offered);

}  // namespace mastic::job
