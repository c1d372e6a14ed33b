// Internal to lib/elastic: generations and members as JSON values.
#pragma once

#include <nlohmann/json.hpp>

#include <mastic/elastic/generation.hpp>

namespace mastic::elastic {

void to_json(nlohmann::json& json, const MemberRecord& member);
void from_json(const nlohmann::json& json, MemberRecord& member);
void to_json(nlohmann::json& json, const Generation& generation);
void from_json(const nlohmann::json& json, Generation& generation);

}  // namespace mastic::elastic
