#include <complex>
#include <type_traits>

#include "program.hpp"

namespace program {

namespace {

template <class Value>
std::vector<Value> contribution(std::size_t count, int rank) {
    std::vector<Value> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = static_cast<Value>(number(i, rank));
    }
    return values;
}

template <class Value>
std::uint64_t digest_of(const std::vector<Value>& values) {
    if constexpr (std::is_same_v<Value, long double>) {
        return digest_of(
            std::vector<double>(values.begin(), values.end()));  // a long double has bytes that say nothing
    } else {
        return digest(values.data(), values.size() * sizeof(Value));
    }
}

// Every function, in place and not, into one digest.
template <class Value>
std::uint64_t reduce(MPI_Datatype type, MPI_Op op, int count, MPI_Comm comm) {
    const int rank = rank_in(comm);
    const int ranks = size_of(comm);
    const auto part = static_cast<std::size_t>(count);
    const auto whole = part * static_cast<std::size_t>(ranks);
    const std::vector<Value> mine = contribution<Value>(whole, rank);
    std::vector<Value> log;
    const auto keep = [&log](const std::vector<Value>& values) {
        log.insert(log.end(), values.begin(), values.end());
    };

    std::vector<Value> result(part, Value(99));
    MPI_Allreduce(mine.data(), result.data(), count, type, op, comm);
    keep(result);
    std::vector<Value> both(mine.begin(), mine.begin() + count);
    MPI_Allreduce(MPI_IN_PLACE, both.data(), count, type, op, comm);
    keep(both);
    MPI_Reduce_scatter_block(mine.data(), result.data(), count, type, op, comm);
    keep(result);
    both = mine;
    MPI_Reduce_scatter_block(MPI_IN_PLACE, both.data(), count, type, op, comm);
    log.insert(log.end(), both.begin(), both.begin() + count);
    const std::vector<int> equal(static_cast<std::size_t>(ranks), count);
    MPI_Reduce_scatter(mine.data(), result.data(), equal.data(), type, op, comm);
    keep(result);
    std::vector<int> unequal = equal;
    if (ranks > 1 && count > 0) {
        unequal.front() -= 1;
        unequal.back() += 1;
    }
    std::vector<Value> longer(part + 1, Value(99));
    MPI_Reduce_scatter(mine.data(), longer.data(), unequal.data(), type, op, comm);
    keep(longer);
    keep(mine);  // still what it was
    return digest_of(log);
}

template <class Value>
void reduce_all(const char* name, MPI_Datatype type, const std::vector<MPI_Op>& ops) {
    for (const int count : {0, 1, 1001, 20'011}) {
        std::uint64_t seen = 0;
        for (const MPI_Op op : ops) {
            seen = seen * 31 + reduce<Value>(type, op, count, MPI_COMM_WORLD);
        }
        print_all(std::string(name) + " " + std::to_string(count), seen);
    }
}

// The same bits on all ranks and each time, of sums that are rounded.
void reproducible_sums() {
    const int rank = rank_in(MPI_COMM_WORLD);
    std::vector<float> values(100'003);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = 1.0F / static_cast<float>(3 * i + static_cast<std::size_t>(rank) + 1);
    }
    std::uint64_t first = 0;
    std::uint64_t same = 1;
    for (int repetition = 0; repetition < 5; ++repetition) {
        std::vector<float> sum = values;
        MPI_Allreduce(MPI_IN_PLACE, sum.data(), static_cast<int>(sum.size()), MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
        std::uint64_t here = digest(sum.data(), sum.size() * sizeof(float));
        std::uint64_t of_first_rank = here;
        MPI_Bcast(&of_first_rank, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        first = repetition == 0 ? here : first;
        same = same != 0 && here == first && here == of_first_rank ? 1 : 0;
    }
    print_all("reproducible", same);
}

// Integers that overflow wrap around.
void overflow() {
    std::vector<int> values(1001, 2'000'000'000);
    MPI_Allreduce(MPI_IN_PLACE, values.data(), 1001, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    print_all("overflow", digest(values.data(), values.size() * sizeof(int)));
    std::vector<unsigned long> large(1001, ~0UL);
    MPI_Allreduce(MPI_IN_PLACE, large.data(), 1001, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    print_all("overflow of unsigned", digest(large.data(), large.size() * sizeof(unsigned long)));
}

}  // namespace

void reductions() {
    const std::vector<MPI_Op> ops{MPI_SUM, MPI_MIN, MPI_PROD};
    const std::vector<MPI_Op> integer_ops{MPI_SUM, MPI_MIN, MPI_MAX, MPI_BXOR};
    reduce_all<float>("float", MPI_FLOAT, ops);
    reduce_all<double>("double", MPI_DOUBLE, {MPI_SUM, MPI_MAX});
    reduce_all<long double>("long double", MPI_LONG_DOUBLE, {MPI_MAX});
    reduce_all<std::complex<float>>("float complex", MPI_C_FLOAT_COMPLEX, {MPI_SUM});
    reduce_all<std::complex<double>>("double complex", MPI_C_DOUBLE_COMPLEX, {MPI_SUM, MPI_PROD});
    reduce_all<std::int8_t>("int8", MPI_INT8_T, integer_ops);
    reduce_all<std::uint8_t>("uint8", MPI_UINT8_T, integer_ops);
    reduce_all<short>("short", MPI_SHORT, integer_ops);
    reduce_all<int>("int", MPI_INT, integer_ops);
    reduce_all<unsigned>("unsigned", MPI_UNSIGNED, integer_ops);
    reduce_all<long>("long", MPI_LONG, integer_ops);
    reduce_all<std::uint64_t>("uint64", MPI_UINT64_T, integer_ops);
    reduce_all<MPI_Aint>("address", MPI_AINT, integer_ops);
    reproducible_sums();
    overflow();
}

}  // namespace program
