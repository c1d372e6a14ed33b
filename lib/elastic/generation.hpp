// A generation: who takes part in the steps after a certain one, and as which rank. Generations form a chain: each is
// committed by members of the one before.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mastic::elastic {

using GenerationId = std::uint64_t;  // 0: none
using Step = std::int64_t;           // of completed steps: 0 before the first

// One process that takes part.
struct MemberRecord {
    std::string id;                  // 16 hexadecimal digits, of this process only
    std::string host;                // its name
    std::string addresses;           // comm::pack(HostAddresses)
    std::string address = {};        // that of the generation's group
    std::uint16_t service_port = 0;  // for membership and bulk transfers, as long as the process lives
    std::uint16_t data_port = 0;     // for the generation's group: another one in each generation
    std::int64_t joined = 0;         // seconds since 1970

    bool operator==(const MemberRecord&) const = default;
};

struct Generation {
    GenerationId id = 0;
    GenerationId previous = 0;
    // After a loss: the last step that counts. Of a planned change: the switch is not before this step is complete.
    Step step = 0;
    std::string reason = {};              // "lost node3", "node4 joins"; for people
    int limit = 0;                        // most members that somebody asked for; 0: no limit
    std::string network = {};             // of the group: "10.0.0.0/24"
    std::vector<MemberRecord> members{};  // by rank, the longest serving first; none: the run has ended

    // -1: not a member.
    int rank_of(const std::string& member) const;
    bool lists(const std::string& member) const { return rank_of(member) >= 0; }
    bool operator==(const Generation&) const = default;
};

std::string to_json(const Generation& generation);
// Throws Error(io) naming `origin`.
Generation generation_from_json(const std::string& text, const std::string& origin);

// Fills in `network` and each member's `address`. Throws Error(environment) if the members share no network.
using AddressPlan = std::function<void(Generation&)>;
// By comm::choose_network; `wanted` as in comm::TcpOptions.
AddressPlan plan_addresses(const std::string& wanted);

}  // namespace mastic::elastic
