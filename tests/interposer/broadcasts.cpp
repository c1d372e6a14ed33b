#include "program.hpp"

namespace program {

namespace {

void broadcast(const std::string& what, std::vector<int> values, int count, MPI_Datatype type, int root) {
    MPI_Bcast(values.data(), count, type, root, MPI_COMM_WORLD);
    print_all(what, digest(values.data(), values.size() * sizeof(int)));
}

std::vector<int> numbers(std::size_t count) {
    std::vector<int> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = number(i, rank_in(MPI_COMM_WORLD));
    }
    return values;
}

void built_in_types(int root) {
    const std::string from = " from " + std::to_string(root);
    for (const int count : {0, 1, 7, 20'001, 1'000'003}) {
        const std::string of = " " + std::to_string(count);
        const auto values = numbers(static_cast<std::size_t>(count) * 2 + 1);
        broadcast("int" + of + from, values, count, MPI_INT, root);
        broadcast("double" + of + from, values, count, MPI_DOUBLE, root);
        broadcast("byte" + of + from, values, count, MPI_BYTE, root);
        broadcast("short and int" + of + from, values, count, MPI_SHORT_INT, root);  // with gaps
        broadcast("2 int" + of + from, values, count, MPI_2INT, root);
    }
}

// The same bytes by other types on each rank: a vector with gaps, integers backwards, a plain array.
void a_type_for_each_rank(int root) {
    constexpr int items = 30'000;
    MPI_Datatype gaps = MPI_DATATYPE_NULL;
    MPI_Type_vector(items, 1, 3, MPI_INT, &gaps);
    MPI_Datatype backwards = MPI_DATATYPE_NULL;
    std::vector<int> places(items);
    for (int i = 0; i < items; ++i) {
        places[static_cast<std::size_t>(i)] = items - 1 - i;
    }
    MPI_Type_create_indexed_block(items, 1, places.data(), MPI_INT, &backwards);
    MPI_Type_commit(&gaps);
    MPI_Type_commit(&backwards);
    const std::string from = " from " + std::to_string(root);
    const auto values = numbers(3 * items);
    broadcast("gaps" + from, values, 1, gaps, root);
    broadcast("backwards" + from, values, 1, backwards, root);
    switch (rank_in(MPI_COMM_WORLD) % 3) {
        case 0:
            broadcast("mixed" + from, values, 1, gaps, root);
            break;
        case 1:
            broadcast("mixed" + from, values, 1, backwards, root);
            break;
        default:
            broadcast("mixed" + from, values, items, MPI_INT, root);
    }
    MPI_Type_free(&gaps);
    MPI_Type_free(&backwards);
}

// Absolute addresses, from MPI_BOTTOM on.
void two_buffers(int root) {
    auto first = numbers(20'000);
    auto second = numbers(10'000);
    MPI_Aint addresses[2];
    MPI_Get_address(first.data(), &addresses[0]);
    MPI_Get_address(second.data(), &addresses[1]);
    const int lengths[] = {20'000, 10'000};
    const MPI_Datatype types[] = {MPI_INT, MPI_INT};
    MPI_Datatype both = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths, addresses, types, &both);
    MPI_Type_commit(&both);
    MPI_Bcast(MPI_BOTTOM, 1, both, root, MPI_COMM_WORLD);
    print_all("two buffers", digest(first.data(), first.size() * sizeof(int)) ^
                                 digest(second.data(), second.size() * sizeof(int)) * 3);
    MPI_Type_free(&both);
}

}  // namespace

void broadcasts() {
    for (const int root : {0, size_of(MPI_COMM_WORLD) - 1}) {
        built_in_types(root);
        a_type_for_each_rank(root);
        two_buffers(root);
    }
}

}  // namespace program
