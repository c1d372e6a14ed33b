#include "program.hpp"

namespace program {

namespace {

int calls_of_handler = 0;

void count_error(MPI_Comm*, int*, ...) {
    ++calls_of_handler;
}

std::uint64_t class_of(int code) {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    return static_cast<std::uint64_t>(error_class);
}

// Those that MPICH 4.0 notices.
void mistakes(MPI_Comm comm) {
    std::vector<float> a(5000, 1);
    std::vector<float> b(5000, 2);
    const auto say = [](const char* what, int code) { print_all(what, class_of(code)); };
    say("no type", MPI_Allreduce(a.data(), b.data(), 5000, MPI_DATATYPE_NULL, MPI_SUM, comm));
    say("no operation", MPI_Allreduce(a.data(), b.data(), 5000, MPI_FLOAT, MPI_OP_NULL, comm));
    say("operation of other types", MPI_Allreduce(a.data(), b.data(), 5000, MPI_FLOAT, MPI_BAND, comm));
    say("bytes do not add", MPI_Allreduce(a.data(), b.data(), 5000, MPI_BYTE, MPI_SUM, comm));
    say("the same buffer", MPI_Allreduce(a.data(), a.data(), 5000, MPI_FLOAT, MPI_SUM, comm));
    say("no buffer", MPI_Allreduce(a.data(), nullptr, 5000, MPI_FLOAT, MPI_SUM, comm));
    say("in place on the wrong side", MPI_Allreduce(a.data(), MPI_IN_PLACE, 5000, MPI_FLOAT, MPI_SUM, comm));
    say("root too large", MPI_Bcast(a.data(), 5000, MPI_FLOAT, size_of(comm), comm));
    say("root negative", MPI_Bcast(a.data(), 5000, MPI_FLOAT, -1, comm));
    say("negative broadcast", MPI_Bcast(a.data(), -5, MPI_FLOAT, 0, comm));
    say("broadcast of no type", MPI_Bcast(a.data(), 5, MPI_DATATYPE_NULL, 0, comm));
    say("broadcast of nothing", MPI_Bcast(nullptr, 5000, MPI_FLOAT, 0, comm));
    const std::vector<int> negative(static_cast<std::size_t>(size_of(comm)), -1);
    say("negative parts", MPI_Reduce_scatter(a.data(), b.data(), negative.data(), MPI_FLOAT, MPI_SUM, comm));
    print_all("untouched", digest(b.data(), b.size() * sizeof(float)));
    say("and then a sum", MPI_Allreduce(a.data(), b.data(), 5000, MPI_FLOAT, MPI_SUM, comm));
    print_all("of", digest(b.data(), b.size() * sizeof(float)));
}

}  // namespace

void errors() {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    print_all("no communicator", class_of(MPI_Bcast(nullptr, 0, MPI_INT, 0, MPI_COMM_NULL)));
    mistakes(MPI_COMM_WORLD);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    mistakes(MPI_COMM_WORLD);
    print_all("calls of the handler", static_cast<std::uint64_t>(calls_of_handler));
    MPI_Errhandler_free(&handler);
}

}  // namespace program
