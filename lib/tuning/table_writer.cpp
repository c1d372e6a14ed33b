// tuning.json as it is written. What reads it back is table_reader.cpp.
#include <nlohmann/json.hpp>

#include <mastic/tuning/table.hpp>

namespace mastic::tuning {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Machine& machine) {
    return {{"cpu", machine.cpu},         {"cores", machine.cores},
            {"network", machine.network}, {"network_bits_per_s", machine.network_bits_per_second},
            {"mpi", machine.mpi},         {"mastic", machine.mastic}};
}

Json to_json(const LinkFit& link) {
    return {{"transport", comm::to_string(link.transport)},
            {"level", to_string(link.level)},
            {"alpha_us", link.cost.alpha_us},
            {"beta_us_per_byte", link.cost.beta_us_per_byte},
            {"gamma_us_per_byte", link.cost.gamma_us_per_byte},
            {"samples", link.samples},
            {"typical_error", link.typical_error}};
}

Json to_json(const Candidate& candidate) {
    const comm::Choice& choice = candidate.choice;
    return {{"transport", comm::to_string(choice.transport)},
            {"algorithm", choice.algorithm},
            {"hierarchical", choice.hierarchical},
            {"segment_bytes", choice.segment.count},
            {"depth", choice.depth},
            {"verdict", to_string(candidate.verdict)},
            {"median_us", candidate.timing.median_us},
            {"q1_us", candidate.timing.q1_us},
            {"q3_us", candidate.timing.q3_us},
            {"repetitions", candidate.timing.repetitions}};
}

Json to_json(const SizeResult& size) {
    Json candidates = Json::array();
    for (const Candidate& candidate : size.candidates) {
        candidates.push_back(to_json(candidate));
    }
    return {{"bytes", size.bytes.count},
            {"up_to_bytes", size.up_to.count},
            {"candidates", std::move(candidates)}};
}

Json to_json(const CollectiveResult& result) {
    Json sizes = Json::array();
    for (const SizeResult& size : result.sizes) {
        sizes.push_back(to_json(size));
    }
    Json json = {{"collective", comm::to_string(result.collective)}, {"wire", comm::to_string(result.wire)}};
    if (result.memory != comm::MemoryKind::host) {
        json["memory"] = comm::to_string(result.memory);
    }
    json["sizes"] = std::move(sizes);
    return json;
}

Json to_json(const ShapeResult& result) {
    Json collectives = Json::array();
    for (const CollectiveResult& collective : result.collectives) {
        collectives.push_back(to_json(collective));
    }
    return {{"nodes", result.shape.nodes},
            {"ranks_per_node", result.shape.ranks_per_node},
            {"collectives", std::move(collectives)}};
}

Json to_list(const auto& values) {
    Json list = Json::array();
    for (const auto& value : values) {
        list.push_back(to_json(value));
    }
    return list;
}

}  // namespace

std::string TuningTable::to_json() const {
    const Json json = {
        {"format", table_format},    {"created", created},      {"machine", tuning::to_json(machine)},
        {"shapes", to_list(shapes)}, {"links", to_list(links)}, {"notes", notes}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace mastic::tuning
