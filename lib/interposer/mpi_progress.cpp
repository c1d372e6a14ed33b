#include <mastic/interposer/mpi_progress.hpp>

#include <mastic/interposer/pmpi.hpp>

namespace mastic::interposer {

namespace {

int say_nothing(void*, MPI_Status* status) {
    status->MPI_ERROR = MPI_SUCCESS;
    return MPI_SUCCESS;
}

int free_nothing(void*) {
    return MPI_SUCCESS;
}

int cancel_nothing(void*, int) {
    return MPI_SUCCESS;
}

}  // namespace

MpiProgress::MpiProgress() {
    check(pmpi().grequest_start(say_nothing, free_nothing, cancel_nothing, nullptr, &request_),
          "MPI_Grequest_start");
}

MpiProgress::~MpiProgress() {
    pmpi().grequest_complete(request_);
    pmpi().request_free(&request_);
}

void MpiProgress::advance() {
    int complete = 0;
    pmpi().request_get_status(request_, &complete, MPI_STATUS_IGNORE);
}

}  // namespace mastic::interposer
