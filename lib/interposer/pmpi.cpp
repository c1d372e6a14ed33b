#include <mastic/interposer/pmpi.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <dlfcn.h>

#include <mastic/core/error.hpp>

namespace mastic::interposer {

namespace {

// Those of the ABI that MPICH shares with its relatives (https://www.mpich.org/abi/), and Debian's for MPICH.
constexpr const char* library_names[] = {"libmpi.so.12", "libmpich.so.12"};

// Where the names are: in everybody's scope, or in a library that was loaded for somebody alone.
void* find_library() {
    if (dlsym(RTLD_DEFAULT, "PMPI_Allreduce") != nullptr) {
        return RTLD_DEFAULT;
    }
    for (const char* name : library_names) {
        void* library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
        if (library != nullptr && dlsym(library, "PMPI_Allreduce") != nullptr) {
            return library;
        }
    }
    std::fputs(
        "mastic-pmpi: MPI was called, but there is no MPI library that is compatible with MPICH: "
        "unset LD_PRELOAD for this program\n",
        stderr);
    std::abort();
}

template <class Function>
void find(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    if (function == nullptr) {
        std::fprintf(stderr, "mastic-pmpi: the MPI library has no %s: unset LD_PRELOAD for this program\n",
                     name);
        std::abort();
    }
}

Pmpi find_all() {
    void* library = find_library();
    Pmpi found{};
    find(library, "PMPI_Allgather", found.allgather);
    find(library, "PMPI_Allreduce", found.allreduce);
    find(library, "PMPI_Barrier", found.barrier);
    find(library, "PMPI_Bcast", found.bcast);
    find(library, "PMPI_Comm_call_errhandler", found.comm_call_errhandler);
    find(library, "PMPI_Comm_create_keyval", found.comm_create_keyval);
    find(library, "PMPI_Comm_free", found.comm_free);
    find(library, "PMPI_Comm_get_attr", found.comm_get_attr);
    find(library, "PMPI_Comm_rank", found.comm_rank);
    find(library, "PMPI_Comm_set_attr", found.comm_set_attr);
    find(library, "PMPI_Comm_size", found.comm_size);
    find(library, "PMPI_Comm_split", found.comm_split);
    find(library, "PMPI_Comm_test_inter", found.comm_test_inter);
    find(library, "PMPI_Error_string", found.error_string);
    find(library, "PMPI_Finalize", found.finalize);
    find(library, "PMPI_Finalized", found.finalized);
    find(library, "PMPI_Get_library_version", found.get_library_version);
    find(library, "PMPI_Grequest_complete", found.grequest_complete);
    find(library, "PMPI_Grequest_start", found.grequest_start);
    find(library, "PMPI_Initialized", found.initialized);
    find(library, "PMPI_Pack", found.pack);
    find(library, "PMPI_Reduce_scatter", found.reduce_scatter);
    find(library, "PMPI_Reduce_scatter_block", found.reduce_scatter_block);
    find(library, "PMPI_Request_free", found.request_free);
    find(library, "PMPI_Request_get_status", found.request_get_status);
    find(library, "PMPI_Type_commit", found.type_commit);
    find(library, "PMPI_Type_create_hindexed", found.type_create_hindexed);
    find(library, "PMPI_Type_free", found.type_free);
    find(library, "PMPI_Type_get_envelope", found.type_get_envelope);
    find(library, "PMPI_Type_get_extent_x", found.type_get_extent_x);
    find(library, "PMPI_Type_size_x", found.type_size_x);
    find(library, "PMPI_Unpack", found.unpack);
    return found;
}

}  // namespace

const Pmpi& pmpi() {
    static const Pmpi found = find_all();
    return found;
}

void check(int code, const char* call) {
    if (code == MPI_SUCCESS) {
        return;
    }
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    pmpi().error_string(code, text, &length);
    throw Error(ExitCode::collective, std::string(call) + " failed: " + text);
}

}  // namespace mastic::interposer
