#include "program.hpp"

namespace program {

namespace {

int copies = 0;
int deletions = 0;

int copied(MPI_Comm, int, void*, void* value, void* result, int* flag) {
    ++copies;
    *static_cast<void**>(result) = value;
    *flag = 1;
    return MPI_SUCCESS;
}

int deleted(MPI_Comm, int, void*, void*) {
    ++deletions;
    return MPI_SUCCESS;
}

void sum(MPI_Comm comm) {
    std::vector<float> values(10'000, 1);
    MPI_Allreduce(MPI_IN_PLACE, values.data(), 10'000, MPI_FLOAT, MPI_SUM, comm);
    print_all("sum", digest(values.data(), values.size() * sizeof(float)));
}

}  // namespace

// The program's own attributes are copied and deleted as often as without the interposer, and its copies work.
void attributes() {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(copied, deleted, &key, nullptr);
    MPI_Comm first = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_set_attr(first, key, &key);
    sum(first);
    MPI_Comm second = MPI_COMM_NULL;
    MPI_Comm_dup(first, &second);
    sum(second);
    sum(first);
    MPI_Comm_free(&first);
    sum(second);
    MPI_Comm_free(&second);
    MPI_Comm_free_keyval(&key);
    print_all("copies", static_cast<std::uint64_t>(copies));
    print_all("deletions", static_cast<std::uint64_t>(deletions));
}

}  // namespace program
