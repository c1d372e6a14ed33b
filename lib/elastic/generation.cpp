#include <mastic/elastic/generation.hpp>

#include <algorithm>

#include <mastic/comm/tcp/host_addresses.hpp>
#include <mastic/comm/tcp/network_choice.hpp>
#include <mastic/core/error.hpp>
#include <mastic/elastic/generation_json.hpp>

namespace mastic::elastic {

int Generation::rank_of(const std::string& member) const {
    const auto found = std::ranges::find(members, member, &MemberRecord::id);
    return found == members.end() ? -1 : static_cast<int>(found - members.begin());
}

void to_json(nlohmann::json& json, const MemberRecord& member) {
    json = {{"id", member.id},
            {"host", member.host},
            {"addresses", member.addresses},
            {"address", member.address},
            {"service_port", member.service_port},
            {"data_port", member.data_port},
            {"joined", member.joined}};
}

void from_json(const nlohmann::json& json, MemberRecord& member) {
    json.at("id").get_to(member.id);
    json.at("host").get_to(member.host);
    json.at("addresses").get_to(member.addresses);
    json.at("address").get_to(member.address);
    json.at("service_port").get_to(member.service_port);
    json.at("data_port").get_to(member.data_port);
    json.at("joined").get_to(member.joined);
}

void to_json(nlohmann::json& json, const Generation& generation) {
    json = {{"id", generation.id},          {"previous", generation.previous},
            {"step", generation.step},      {"reason", generation.reason},
            {"limit", generation.limit},    {"network", generation.network},
            {"members", generation.members}};
}

void from_json(const nlohmann::json& json, Generation& generation) {
    json.at("id").get_to(generation.id);
    json.at("previous").get_to(generation.previous);
    json.at("step").get_to(generation.step);
    json.at("reason").get_to(generation.reason);
    json.at("limit").get_to(generation.limit);
    json.at("network").get_to(generation.network);
    json.at("members").get_to(generation.members);
}

std::string to_json(const Generation& generation) {
    return nlohmann::json(generation).dump(2) + "\n";
}

Generation generation_from_json(const std::string& text, const std::string& origin) {
    try {
        return nlohmann::json::parse(text).get<Generation>();
    } catch (const nlohmann::json::exception& error) {
        throw Error(ExitCode::io, origin + " is no generation: " + error.what(),
                    "was it written by another version, or changed by hand?");
    }
}

AddressPlan plan_addresses(const std::string& wanted) {
    return [wanted](Generation& generation) {
        if (generation.members.empty()) {
            return;
        }
        std::vector<comm::HostAddresses> hosts;
        for (const MemberRecord& member : generation.members) {
            hosts.push_back(comm::unpack_host_addresses(member.addresses));
        }
        const comm::NetworkChoice choice = comm::choose_network(hosts, wanted);
        generation.network = choice.network;
        for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
            generation.members[rank].address = hosts[rank].addresses[choice.address[rank]].address.host();
        }
    };
}

}  // namespace mastic::elastic
