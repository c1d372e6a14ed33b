#include <mastic/config/value.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <mastic/config/text.hpp>
#include <mastic/core/error.hpp>

namespace mastic::config {
namespace {

[[noreturn]] void reject(const std::string& predicate, const std::string& hint = "") {
    throw Error(ExitCode::usage, predicate, hint);
}

[[noreturn]] void reject_type(const Scalar& scalar, const char* wanted) {
    static constexpr const char* found[] = {"a truth value", "an integer", "a number with a fraction",
                                            "text"};
    reject(describe(scalar) + " is " + found[scalar.index()] + ", not " + wanted);
}

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

template <class Number>
std::from_chars_result parse_number(std::string_view text, Number& number) {
    if (text.starts_with('+') && !text.starts_with("+-")) {
        text.remove_prefix(1);
    }
    auto result = std::from_chars(text.data(), text.data() + text.size(), number);
    if (result.ec == std::errc() && result.ptr != text.data() + text.size()) {
        result.ec = std::errc::invalid_argument;
    }
    return result;
}

template <class Integer>
Integer integer_from_text(std::string_view text) {
    Integer number = 0;
    const auto result = parse_number(trim(text), number);
    if (result.ec == std::errc::result_out_of_range) {
        reject("'" + std::string(text) + "' does not fit into " + std::to_string(8 * sizeof(Integer)) +
               " bits");
    }
    if (result.ec != std::errc()) {
        reject("'" + std::string(text) + "' is not an integer");
    }
    return number;
}

std::string checked_text(std::string text) {
    if (text.find('\0') != std::string::npos) {
        reject("text must not contain a NUL character");
    }
    if (!is_utf8(text)) {
        reject("'" + printable(text) + "' is not valid UTF-8");
    }
    return text;
}

}  // namespace

std::string describe(const Scalar& scalar) {
    if (const auto* text = std::get_if<std::string>(&scalar)) {
        return quote_toml(*text);
    }
    if (const auto* number = std::get_if<double>(&scalar)) {
        return std::isnan(*number) ? "nan" : Codec<double>::to_text(*number);
    }
    if (const auto* number = std::get_if<std::int64_t>(&scalar)) {
        return std::to_string(*number);
    }
    return std::get<bool>(scalar) ? "true" : "false";
}

std::string describe(const Value& value) {
    std::vector<std::string> items;
    for (const Scalar& item : value.items) {
        items.push_back(describe(item));
    }
    return value.is_list ? std::string("[").append(join(items)).append("]") : join(items);
}

std::string quote_toml(std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string quoted = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            quoted += {'\\', c};
        } else if (code < 0x20 || code == 0x7f) {
            quoted += {'\\', 'u', '0', '0', digits[code >> 4], digits[code & 15]};
        } else {
            quoted += c;
        }
    }
    return quoted + '"';
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> pieces;
    if (trim(text).empty()) {
        return pieces;
    }
    for (;;) {
        const std::size_t comma = text.find(',');
        pieces.emplace_back(trim(text.substr(0, comma)));
        if (comma == std::string_view::npos) {
            return pieces;
        }
        text.remove_prefix(comma + 1);
    }
}

const Scalar& single(const Value& value) {
    if (value.is_list) {
        reject(describe(value) + " is a list, where one value is expected");
    }
    return value.items.front();
}

bool Codec<bool>::from_text(std::string_view text) {
    static constexpr std::string_view yes[] = {"true", "yes", "on", "1"};
    static constexpr std::string_view no[] = {"false", "no", "off", "0"};
    if (std::ranges::find(yes, text) != std::end(yes)) {
        return true;
    }
    if (std::ranges::find(no, text) != std::end(no)) {
        return false;
    }
    reject("'" + std::string(text) + "' is neither true nor false");
}

bool Codec<bool>::from_scalar(const Scalar& scalar) {
    if (const auto* flag = std::get_if<bool>(&scalar)) {
        return *flag;
    }
    reject_type(scalar, "true or false");
}

std::string Codec<bool>::to_text(const bool& value) {
    return value ? "true" : "false";
}

std::int64_t Codec<std::int64_t>::from_text(std::string_view text) {
    return integer_from_text<std::int64_t>(text);
}

std::int64_t Codec<std::int64_t>::from_scalar(const Scalar& scalar) {
    if (const auto* number = std::get_if<std::int64_t>(&scalar)) {
        return *number;
    }
    reject_type(scalar, "an integer");
}

std::string Codec<std::int64_t>::to_text(const std::int64_t& value) {
    return std::to_string(value);
}

int Codec<int>::from_text(std::string_view text) {
    return integer_from_text<int>(text);
}

int Codec<int>::from_scalar(const Scalar& scalar) {
    const std::int64_t number = Codec<std::int64_t>::from_scalar(scalar);
    if (!std::in_range<int>(number)) {
        reject(std::to_string(number) + " does not fit into 32 bits");
    }
    return static_cast<int>(number);
}

std::string Codec<int>::to_text(const int& value) {
    return std::to_string(value);
}

double Codec<double>::from_text(std::string_view text) {
    double number = 0;
    const auto result = parse_number(trim(text), number);
    if (result.ec == std::errc::result_out_of_range) {
        reject("'" + std::string(text) + "' is beyond the range of a double");
    }
    if (result.ec != std::errc() || std::isnan(number)) {
        reject("'" + std::string(text) + "' is not a number");
    }
    return number;
}

double Codec<double>::from_scalar(const Scalar& scalar) {
    if (const auto* number = std::get_if<double>(&scalar); number != nullptr && !std::isnan(*number)) {
        return *number;
    }
    if (const auto* number = std::get_if<std::int64_t>(&scalar)) {
        return static_cast<double>(*number);
    }
    reject_type(scalar, "a number");
}

std::string Codec<double>::to_text(const double& value) {
    char buffer[32];
    const auto end = std::to_chars(std::begin(buffer), std::end(buffer), value).ptr;
    std::string text(std::begin(buffer), end);
    // TOML tells floats from integers by the point or exponent.
    return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

std::string Codec<std::string>::from_text(std::string_view text) {
    return checked_text(std::string(text));
}

std::string Codec<std::string>::from_scalar(const Scalar& scalar) {
    if (const auto* text = std::get_if<std::string>(&scalar)) {
        return checked_text(*text);
    }
    reject_type(scalar, "text in quotes");
}

std::string Codec<std::string>::to_text(const std::string& value) {
    return value;
}

Bytes Codec<Bytes>::from_text(std::string_view text) {
    return parse_bytes(text);
}

Bytes Codec<Bytes>::from_scalar(const Scalar& scalar) {
    if (const auto* text = std::get_if<std::string>(&scalar)) {
        return parse_bytes(*text);
    }
    if (const auto* number = std::get_if<std::int64_t>(&scalar)) {
        if (*number < 0) {
            reject(std::to_string(*number) + " is negative, not a size");
        }
        return Bytes{static_cast<std::uint64_t>(*number)};
    }
    reject_type(scalar, "a size such as \"25M\" or 4096");
}

std::string Codec<Bytes>::to_text(const Bytes& value) {
    return to_string(value);
}

Seconds Codec<Seconds>::from_text(std::string_view text) {
    return parse_duration(text);
}

Seconds Codec<Seconds>::from_scalar(const Scalar& scalar) {
    if (const auto* text = std::get_if<std::string>(&scalar)) {
        return parse_duration(*text);
    }
    if (std::holds_alternative<bool>(scalar)) {
        reject_type(scalar, "a time such as \"10m\" or a number of seconds");
    }
    const double number = Codec<double>::from_scalar(scalar);
    if (!(number >= 0 && number <= longest_span.count())) {
        reject(describe(scalar) + " is not a time: a number of seconds from 0 to 285 years is needed");
    }
    return Seconds(number);
}

std::string Codec<Seconds>::to_text(const Seconds& value) {
    return to_string(value);
}

}  // namespace mastic::config
