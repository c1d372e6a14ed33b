#include "tuning/sample_table.hpp"

namespace mastic::tuning {
namespace {

using comm::Collective;
using comm::TransportKind;

const char* small_algorithm(Collective collective) {
    constexpr const char* names[] = {"recursive-doubling", "binomial", "recursive-halving", "bruck"};
    return names[static_cast<int>(collective)];
}
const char* large_algorithm(Collective collective) {
    return collective == Collective::broadcast ? "chain" : "ring";
}

ShapeResult shape_result(const GroupShape& shape) {
    const TransportKind large = shape.nodes > 1 ? TransportKind::tcp : TransportKind::mpi;
    ShapeResult result{shape, {}};
    for (const Collective collective : comm::collectives) {
        CollectiveResult series{collective, comm::Wire::exact, {}};
        for (const std::uint64_t bytes : {64u, 4096u, 262144u}) {
            const double doubling = 10 + 0.02 * double(bytes), ring = 40 + 0.01 * double(bytes);
            series.sizes.push_back(
                {Bytes{bytes},
                 Bytes{0},
                 {candidate(TransportKind::mpi, small_algorithm(collective), doubling,
                            doubling < ring ? Verdict::chosen : Verdict::dropped),
                  candidate(large, large_algorithm(collective), ring,
                            ring < doubling ? Verdict::chosen : Verdict::measured),
                  candidate(TransportKind::native, "native-pipelined", 2 * doubling, Verdict::dropped)}});
        }
        set_limits(series.sizes);
        result.collectives.push_back(series);
    }
    return result;
}

}  // namespace

Candidate candidate(TransportKind transport, const std::string& algorithm, double median_us,
                    Verdict verdict) {
    return {{.transport = transport, .algorithm = algorithm},
            verdict,
            {median_us, 0.9 * median_us, 1.1 * median_us, 10}};
}

TuningTable sample_table() {
    TuningTable table;
    table.machine = {"Fast CPU 9000", 64, "eth0", 25'000'000'000, "MPICH 4.0.2", "0.1.0"};
    table.created = "2025-01-31T12:00:00Z";
    table.shapes = {shape_result({2, 2}), shape_result({1, 2})};
    table.links = {{TransportKind::tcp, Level::network, {60, 0.008, 0.0001}, 12, 0.05}};
    table.notes = {"1 node x 2 ranks, allgather, 64M: no time left"};
    return table;
}

}  // namespace mastic::tuning
