// Settings inside the MPI library that the tools interface (MPI_T) shows: MPICH's choice of algorithm, for one.
#pragma once

#include <optional>
#include <string>

namespace mastic::comm {

// An integer variable, such as "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM". Only between the start and the end of MPI, with
// no operation in flight.
class ControlVariable {
  public:
    // None: the library has no integer variable of this name.
    static std::optional<ControlVariable> find(const std::string& name);

    int read() const;
    // The same on all ranks. Throws Error(environment) if the library does not take the value, which is read back.
    void write(int value) const;

  private:
    ControlVariable(std::string name, int index) : name_(std::move(name)), index_(index) {}

    std::string name_;
    int index_;
};

// The text of MPICH's built-in table of collective algorithms, as it stands in the library that runs: what a file of
// MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE replaces as a whole. Empty: not found.
std::string builtin_selection_table();

}  // namespace mastic::comm
