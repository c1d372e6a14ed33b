// Internal to this folder: the small JSON files of a state directory. A struct lists its members once, for both directions:
//   template <class T, class Field> void order_fields(T& order, Field&& field) { field("name", order.name); ... }
//   order_fields(order, Store{json});  order_fields(order, Load{json});
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <mastic/core/error.hpp>

namespace mastic::schedule {

using Json = nlohmann::ordered_json;

inline constexpr int state_format = 1;

struct Store {
    Json& json;

    template <class T>
    void operator()(const char* key, const T& member) const {
        json[key] = member;
    }
};

// Keys that are missing keep their defaults, unknown ones are ignored.
struct Load {
    const Json& json;

    template <class T>
    void operator()(const char* key, T& member) const {
        if (const auto found = json.find(key); found != json.end()) {
            found->get_to(member);
        }
    }
};

// An enumeration up to `last`, stored as what its to_string says.
template <class Enum>
void load_word(const Json& json, const char* key, Enum& value, Enum last) {
    const auto word = json.at(key).get<std::string>();
    for (int i = 0; i <= static_cast<int>(last); ++i) {
        if (word == to_string(static_cast<Enum>(i))) {
            value = static_cast<Enum>(i);
            return;
        }
    }
    throw Error(ExitCode::data, std::string(key) + " '" + word + "' is not known");
}

inline std::string text_of(Json content) {
    content["format"] = state_format;
    return content.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// `load_content` is given the JSON object. Throws Error(data) naming `where`: damaged (with the hint what to do), or written by a
// newer mastic.
template <class LoadContent>
void parse_state(std::string_view text, const std::string& where, LoadContent load_content, const std::string& hint = "") {
    int format = state_format;
    try {
        const Json json = Json::parse(text);
        format = json.at("format").template get<int>();
        if (format <= state_format) {
            load_content(json);
        }
    } catch (const std::exception& error) {
        throw Error(ExitCode::data, where + " is damaged: " + error.what(), hint);
    }
    if (format > state_format) {
        throw Error(ExitCode::data,
                    where + " was written by a newer mastic (format " + std::to_string(format) +
                        ", this one knows " + std::to_string(state_format) + ")",
                    "use that version of mastic-rescale");
    }
}

}  // namespace mastic::schedule
