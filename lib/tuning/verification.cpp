#include <mastic/tuning/verification.hpp>

#include <cmath>

#include <mastic/report/number_format.hpp>
#include <mastic/report/statistics.hpp>
#include <mastic/report/text_table.hpp>

namespace mastic::tuning {

using comm::Choice;
using comm::Collective;

std::vector<Bytes> held_out_sizes(std::span<const Bytes> measured) {
    std::vector<Bytes> sizes;
    for (std::size_t i = 1; i < measured.size(); ++i) {
        const double middle =
            std::sqrt(static_cast<double>(measured[i - 1].count) * static_cast<double>(measured[i].count));
        const Bytes size{static_cast<std::uint64_t>(middle) / 4 * 4};
        if (size > measured[i - 1] && size < measured[i]) {
            sizes.push_back(size);
        }
    }
    return sizes;
}

Ratio ratio_of(const std::vector<double>& ours, const std::vector<double>& others) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        ratios.push_back(ours[i] / others[i]);
    }
    return {report::median(ratios), report::quantile(ratios, 0.25), report::quantile(ratios, 0.75)};
}

std::string to_string(const Ratio& ratio) {
    return report::fixed(ratio.median, 2) + " (" + report::fixed(ratio.q1, 2) + " to " +
           report::fixed(ratio.q3, 2) + ")";
}

std::string findings_text(std::span<const Finding> findings) {
    report::TextTable table{{"collective", "size", "choice", "time / best", "time / MPI's own", "best", ""},
                            {}};
    for (const Finding& finding : findings) {
        table.rows.push_back({comm::to_string(finding.collective), mastic::to_string(finding.size),
                              comm::to_string(finding.choice), to_string(finding.to_best),
                              to_string(finding.to_default),
                              finding.best == finding.choice ? "the choice" : comm::to_string(finding.best),
                              finding.holds() ? "holds" : "SLOWER"});
    }
    return report::to_text(table);
}

Choice library_default(Collective collective, Bytes size) {
    if (collective == Collective::allreduce) {
        return {.transport = comm::TransportKind::native, .algorithm = "native-blocking"};
    }
    return {.transport = comm::TransportKind::native, .algorithm = "native-pipelined", .segment = size};
}

}  // namespace mastic::tuning
