// Internal to lib/elastic: bulk transfers. A request is a frame of JSON behind the word "bulk"; the answer is a frame, and
// for data as many chunks as it takes: XXH3 of the bytes (8 bytes), then the bytes.
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include <mastic/elastic/step_log.hpp>

namespace mastic::elastic {

inline constexpr std::size_t chunk_bytes = std::size_t{256} << 10;
inline constexpr const char* bulk_word = "bulk ";
inline constexpr Seconds long_poll{0.5};  // how long a server waits for what is not there yet

inline std::string encode_request(const BulkRequest& request) {
    return bulk_word + nlohmann::json{{"what", static_cast<int>(request.what)},
                                      {"member", request.member},
                                      {"step", request.step},
                                      {"offset", request.offset},
                                      {"known", request.known}}
                           .dump();
}

// Throws nlohmann::json::exception.
inline BulkRequest decode_request(const std::string& text) {
    const auto json = nlohmann::json::parse(text.substr(std::string(bulk_word).size()));
    return {static_cast<BulkRequest::What>(json.at("what").get<int>()), json.at("member").get<std::string>(),
            json.at("step").get<Step>(), json.at("offset").get<std::uint64_t>(),
            json.at("known").get<GenerationId>()};
}

}  // namespace mastic::elastic
