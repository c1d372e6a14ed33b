// The MPI library of the program, by its profiling names.
//
// They are looked up when first needed instead of being linked: the interposer is loaded into every program that is
// started under LD_PRELOAD, shells and launchers too, and those shall not load MPI. A library that the program loads for
// itself alone (a Python module does) is found as well.
#pragma once

#include <mpi.h>

namespace mastic::interposer {

struct Pmpi {
    decltype(&::PMPI_Allgather) allgather;
    decltype(&::PMPI_Allreduce) allreduce;
    decltype(&::PMPI_Barrier) barrier;
    decltype(&::PMPI_Bcast) bcast;
    decltype(&::PMPI_Comm_call_errhandler) comm_call_errhandler;
    decltype(&::PMPI_Comm_create_keyval) comm_create_keyval;
    decltype(&::PMPI_Comm_free) comm_free;
    decltype(&::PMPI_Comm_get_attr) comm_get_attr;
    decltype(&::PMPI_Comm_rank) comm_rank;
    decltype(&::PMPI_Comm_set_attr) comm_set_attr;
    decltype(&::PMPI_Comm_size) comm_size;
    decltype(&::PMPI_Comm_split) comm_split;
    decltype(&::PMPI_Comm_test_inter) comm_test_inter;
    decltype(&::PMPI_Error_string) error_string;
    decltype(&::PMPI_Finalize) finalize;
    decltype(&::PMPI_Finalized) finalized;
    decltype(&::PMPI_Get_library_version) get_library_version;
    decltype(&::PMPI_Grequest_complete) grequest_complete;
    decltype(&::PMPI_Grequest_start) grequest_start;
    decltype(&::PMPI_Initialized) initialized;
    decltype(&::PMPI_Pack) pack;
    decltype(&::PMPI_Reduce_scatter) reduce_scatter;
    decltype(&::PMPI_Reduce_scatter_block) reduce_scatter_block;
    decltype(&::PMPI_Request_free) request_free;
    decltype(&::PMPI_Request_get_status) request_get_status;
    decltype(&::PMPI_Type_commit) type_commit;
    decltype(&::PMPI_Type_create_hindexed) type_create_hindexed;
    decltype(&::PMPI_Type_free) type_free;
    decltype(&::PMPI_Type_get_envelope) type_get_envelope;
    decltype(&::PMPI_Type_get_extent_x) type_get_extent_x;
    decltype(&::PMPI_Type_size_x) type_size_x;
    decltype(&::PMPI_Unpack) unpack;
};

// Ends the process with a message if there is no MPI library: nothing could be done for the caller.
const Pmpi& pmpi();

// Throws Error(collective) with MPI's text.
void check(int code, const char* call);

}  // namespace mastic::interposer
