#include <mastic/report/number_format.hpp>

#include <array>
#include <charconv>
#include <cmath>

namespace mastic::report {
namespace {

std::string not_finite(double value) {
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

std::string print(double value, std::chars_format format, int precision) {
    std::array<char, 400> buffer;
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, precision).ptr;
    return std::string(buffer.data(), end);
}

// "1e-05" -> "1e-5", "1e+06" -> "1e6".
std::string short_exponent(std::string text) {
    const auto mark = text.find('e');
    if (mark == std::string::npos) {
        return text;
    }
    const bool negative = text[mark + 1] == '-';
    const auto digits = text.find_first_not_of("+-0", mark + 1);
    return text.substr(0, mark + 1) + (negative ? "-" : "") + text.substr(digits);
}

std::string with_groups(std::string digits) {
    const std::size_t start = digits.starts_with('-') ? 1 : 0;
    for (std::size_t at = digits.size(); at > start + 3;) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

}  // namespace

std::string grouped(std::int64_t value) {
    return with_groups(std::to_string(value));
}

std::string fixed(double value, int decimals) {
    return std::isfinite(value) ? print(value, std::chars_format::fixed, decimals) : not_finite(value);
}

std::string significant(double value, int digits) {
    if (!std::isfinite(value)) {
        return not_finite(value);
    }
    if (std::abs(value) >= std::pow(10.0, digits) && std::abs(value) < 1e15) {
        return with_groups(print(value, std::chars_format::fixed, 0));
    }
    return short_exponent(print(value, std::chars_format::general, digits));
}

std::string scaled(double value) {
    if (!std::isfinite(value)) {
        return not_finite(value);
    }
    static constexpr std::array<const char*, 5> suffixes{"", "k", "M", "G", "T"};
    std::size_t power = 0;
    // 999.5 would be printed as 1000 with three digits.
    while (std::abs(value) >= 999.5 && power + 1 < suffixes.size()) {
        value /= 1000;
        ++power;
    }
    return significant(value, 3) + suffixes[power];
}

std::string percent(double share, int decimals) {
    return std::isfinite(share) ? fixed(share * 100, decimals) + " %" : not_finite(share);
}

bool is_share(const std::string& metric_name) {
    return metric_name.ends_with("accuracy");
}

std::string metric_value(const std::string& metric_name, double value) {
    return is_share(metric_name) ? percent(value, 2) : significant(value);
}

}  // namespace mastic::report
