// Averages a vector over all ranks, while the calling thread computes something else:  mpiexec -n 4 ./average
#include <mastic/comm/mpi/session.hpp>
#include <mastic/core/error.hpp>

#include <cstdio>
#include <span>

int main() {
    using namespace mastic::comm;
    MpiSession session;
    const auto group = session.make_group({});  // shared memory, TCP or the MPI library, whatever fits this machine

    constexpr std::size_t count = 1'000'000;
    const auto memory = group->allocate(count * sizeof(float));  // reduced in place by all ranks of a node
    const std::span<float> values(static_cast<float*>(memory.get()), count);
    for (float& value : values) {
        value = static_cast<float>(group->rank());
    }

    const Request average = group->start_allreduce(view_of(values), ReduceOp::average, {.name = "values"});
    // ... compute here: a thread of the library does the rest ...
    try {
        average.wait();
    } catch (const mastic::Error& error) {  // a rank is lost or late: says which
        std::fprintf(stderr, "%s\n", error.full_message().c_str());
        session.abort(static_cast<int>(error.code()));
    }
    if (group->rank() == 0) {
        std::printf("%s\naverage %.2f\n", group->description().c_str(), static_cast<double>(values[0]));
    }
    session.finish(0);
}
