#include <mastic/core/bytes.hpp>

#include <array>
#include <cctype>
#include <cstdio>
#include <limits>
#include <optional>

#include <mastic/core/error.hpp>

namespace mastic {
namespace {

struct SizeUnit {
    char letter;
    unsigned shift;  // one unit is 2^shift bytes
};
constexpr std::array<SizeUnit, 4> size_units{{{'K', 10}, {'M', 20}, {'G', 30}, {'T', 40}}};

[[noreturn]] void refuse(std::string_view text, const std::string& reason) {
    throw Error(ExitCode::usage, "\"" + std::string(text) + "\" is not a size: " + reason,
                "write a number of bytes, or one with K, M, G or T (binary multiples): 4096, 64K, 1.5G");
}

std::string_view trimmed(std::string_view text) {
    const char* blanks = " \t\r\n";
    const auto begin = text.find_first_not_of(blanks);
    return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string_view take_digits(std::string_view& rest) {
    const auto digits = rest.substr(0, rest.find_first_not_of("0123456789"));
    rest.remove_prefix(digits.size());
    return digits;
}

// The power of two that "K", "KB", "KiB", "B" or "" stands for.
std::optional<unsigned> parse_unit(std::string_view unit) {
    std::string upper;
    for (const unsigned char c : unit) {
        upper += static_cast<char>(std::toupper(c));
    }
    if (upper.empty() || upper == "B") {
        return 0;
    }
    for (const auto& [letter, shift] : size_units) {
        const auto suffix = upper.substr(1);
        if (upper[0] == letter && (suffix.empty() || suffix == "B" || suffix == "IB")) {
            return shift;
        }
    }
    return std::nullopt;
}

// floor(0.DIGITS * 2^shift) in exact decimal arithmetic; nothing if it is not whole.
std::optional<std::uint64_t> scaled_fraction(std::string digits, unsigned shift) {
    std::uint64_t whole = 0;
    for (unsigned bit = 0; bit < shift; ++bit) {
        int carry = 0;
        for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
            const int doubled = (*digit - '0') * 2 + carry;
            *digit = static_cast<char>('0' + doubled % 10);
            carry = doubled / 10;
        }
        whole = whole * 2 + static_cast<unsigned>(carry);
    }
    const bool exact = digits.find_first_not_of('0') == digits.npos;
    return exact ? std::optional(whole) : std::nullopt;
}

// COUNT / 2^shift as a decimal number without rounding; a multiple of 2^shift has no decimals.
std::string exact_quotient(std::uint64_t count, unsigned shift) {
    std::string text = std::to_string(count >> shift);
    const std::uint64_t mask = (std::uint64_t{1} << shift) - 1;
    std::uint64_t rest = count & mask;
    if (rest != 0) {
        text += '.';
    }
    for (; rest != 0; rest &= mask) {
        rest *= 10;
        text += static_cast<char>('0' + (rest >> shift));
    }
    return text;
}

}  // namespace

Bytes parse_bytes(std::string_view text) {
    std::string_view rest = trimmed(text);
    const auto digits = take_digits(rest);
    if (digits.empty()) {
        refuse(text, "a number is expected first");
    }
    std::string_view decimals;
    if (rest.starts_with('.')) {
        rest.remove_prefix(1);
        decimals = take_digits(rest);
        if (decimals.empty()) {
            refuse(text, "digits are expected after the point");
        }
    }
    const auto shift = parse_unit(rest);
    if (!shift) {
        refuse(text, "unknown unit \"" + std::string(rest) + "\"");
    }
    constexpr auto limit = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t whole = 0;
    for (const char c : digits) {
        const auto digit = static_cast<unsigned>(c - '0');
        if (whole > (limit - digit) / 10) {
            refuse(text, "it is 2^64 bytes or more");
        }
        whole = whole * 10 + digit;
    }
    if (whole > limit >> *shift) {
        refuse(text, "it is 2^64 bytes or more");
    }
    const auto fraction = scaled_fraction(std::string(decimals), *shift);
    if (!fraction) {
        refuse(text, "it is not a whole number of bytes");
    }
    return {(whole << *shift) + *fraction};
}

std::string to_string(Bytes size) {
    std::string shortest = std::to_string(size.count);
    for (const auto& [letter, shift] : size_units) {
        if (size.count >> shift == 0) {
            break;
        }
        const auto candidate = exact_quotient(size.count, shift) + letter;
        if (candidate.size() <= shortest.size()) {
            shortest = candidate;
        }
    }
    return shortest;
}

std::string human(Bytes size) {
    static constexpr std::array names{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (size.count < 1024) {
        return std::to_string(size.count) + " B";
    }
    std::size_t unit = 0;
    auto value = static_cast<double>(size.count);
    for (; value >= 1023.5; ++unit) {
        value /= 1024;
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), value < 99.95 ? "%.1f %s" : "%.0f %s", value, names[unit]);
    return text.data();
}

}  // namespace mastic
