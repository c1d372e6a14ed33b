// How the values of options look as text (flags, environment variables) and in TOML files, for each type that
// an option may have. The readers throw Error(usage) whose message is a predicate about the value ("'12x' is
// not an integer"); whoever knows where the value stood puts the place in front.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <mastic/config/text.hpp>
#include <mastic/core/bytes.hpp>
#include <mastic/core/duration.hpp>

namespace mastic::config {

// A single value as a TOML file gives it, and the value of a key: one scalar or a list of them.
using Scalar = std::variant<bool, std::int64_t, double, std::string>;
struct Value {
    bool is_list = false;
    std::vector<Scalar> items;
};

// As in an error message or a TOML file: `3`, `"text"`, `[1, 2]`.
std::string describe(const Scalar& scalar);
std::string describe(const Value& value);

// A TOML basic string, quotes included.
std::string quote_toml(std::string_view text);

// Codec<T>: from_text reads a flag or variable, from_scalar a TOML value, to_text writes what both read back
// exactly.
//   type_name  what help calls the value        quoted  whether to_text needs quotes in TOML
template <class T>
struct Codec;

#define MASTIC_CONFIG_CODEC(TYPE, TYPE_NAME, QUOTED)        \
    template <>                                             \
    struct Codec<TYPE> {                                    \
        static constexpr const char* type_name = TYPE_NAME; \
        static constexpr bool quoted = QUOTED;              \
        static TYPE from_text(std::string_view text);       \
        static TYPE from_scalar(const Scalar& scalar);      \
        static std::string to_text(const TYPE& value);      \
    }

MASTIC_CONFIG_CODEC(bool, "BOOL", false);
MASTIC_CONFIG_CODEC(int, "INT", false);
MASTIC_CONFIG_CODEC(std::int64_t, "INT", false);
MASTIC_CONFIG_CODEC(double, "FLOAT", false);  // finite or inf, never NaN
MASTIC_CONFIG_CODEC(std::string, "TEXT",
                    true);                   // UTF-8 without NUL, so that it can always be written as TOML
MASTIC_CONFIG_CODEC(Bytes, "SIZE", true);    // "25M" or a plain number of bytes
MASTIC_CONFIG_CODEC(Seconds, "TIME", true);  // "10m", "1:30:00" or a plain number of seconds; finite, >= 0

#undef MASTIC_CONFIG_CODEC

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

// The scalar inside: T itself, or what a vector or optional holds.
template <class T>
struct ElementOf {
    using type = T;
};
template <class T>
struct ElementOf<std::vector<T>> {
    using type = T;
};
template <class T>
struct ElementOf<std::optional<T>> {
    using type = T;
};

template <class T>
concept ScalarType = requires {
    Codec<T>::type_name;
};
template <class T>
concept OptionType =
    ScalarType<typename ElementOf<T>::type> && !std::same_as<T, std::optional<std::string>> &&
    !std::same_as<T, std::optional<bool>>;

// What an optional that is not set is called, in files too: TOML has no null.
inline constexpr std::string_view not_set = "none";

// "a,b,,c" -> "a", "b", "", "c"; blanks around the pieces are dropped; "" has no pieces.
std::vector<std::string> split_list(std::string_view text);

// The only scalar of a value. Throws if it is a list.
const Scalar& single(const Value& value);

template <OptionType T>
T read_text(std::string_view text) {
    using Element = typename ElementOf<T>::type;
    if constexpr (is_vector<T>) {
        T list;
        for (const std::string& piece : split_list(text)) {
            list.push_back(Codec<Element>::from_text(piece));
        }
        return list;
    } else if constexpr (is_optional<T>) {
        return text == not_set ? T() : T(Codec<Element>::from_text(text));
    } else {
        return Codec<T>::from_text(text);
    }
}

// A single TOML value is also read as a list of one.
template <OptionType T>
T read_value(const Value& value) {
    using Element = typename ElementOf<T>::type;
    if constexpr (is_vector<T>) {
        T list;
        for (const Scalar& item : value.items) {
            list.push_back(Codec<Element>::from_scalar(item));
        }
        return list;
    } else if constexpr (is_optional<T>) {
        const Scalar& scalar = single(value);
        const auto* text = std::get_if<std::string>(&scalar);
        return text != nullptr && *text == not_set ? T() : T(Codec<Element>::from_scalar(scalar));
    } else {
        return Codec<T>::from_scalar(single(value));
    }
}

// What read_text reads back: "0.1", "64K", "a,b".
template <OptionType T>
std::string write_text(const T& value) {
    using Element = typename ElementOf<T>::type;
    if constexpr (is_vector<T>) {
        std::vector<std::string> items;
        for (const auto& item : value) {
            items.push_back(Codec<Element>::to_text(item));
        }
        return join(items, ",");
    } else if constexpr (is_optional<T>) {
        return value ? Codec<Element>::to_text(*value) : std::string(not_set);
    } else {
        return Codec<T>::to_text(value);
    }
}

// The right-hand side of a TOML assignment.
template <OptionType T>
std::string write_toml(const T& value) {
    using Element = typename ElementOf<T>::type;
    if constexpr (is_vector<T>) {
        std::vector<std::string> items;
        for (const auto& item : value) {
            items.push_back(write_toml<Element>(item));
        }
        return "[" + join(items) + "]";
    } else if constexpr (is_optional<T>) {
        return value ? write_toml<Element>(*value) : quote_toml(not_set);
    } else {
        return Codec<T>::quoted ? quote_toml(Codec<T>::to_text(value)) : Codec<T>::to_text(value);
    }
}

}  // namespace mastic::config
