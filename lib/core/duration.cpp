#include <mastic/core/duration.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

#include <mastic/core/caret.hpp>
#include <mastic/core/error.hpp>

namespace mastic {
namespace {

constexpr const char* slurm_hint = "Slurm's forms are M, M:S, H:M:S, D-H, D-H:M, D-H:M:S and UNLIMITED";
constexpr const char* duration_hint =
    "write seconds (90), a number with a unit (250ms, 30s, 10m, 2h, 1d) or one of Slurm's forms (4:00, 1-12)";

struct TimeUnit {
    std::string_view name;
    double seconds;
};
constexpr std::array<TimeUnit, 4> time_units{{{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}}};

// A text that is read from left to right and knows how to complain about the place where reading stands.
class Reader {
  public:
    Reader(std::string_view text, const char* hint) : text_(text), hint_(hint) { skip_blanks(); }

    bool at_end() const { return position_ == text_.size(); }
    char peek() const { return at_end() ? '\0' : text_[position_]; }
    void advance() { ++position_; }
    std::string_view rest() const { return text_.substr(position_); }
    void skip_blanks() { position_ = std::min(text_.find_first_not_of(" \t\r\n", position_), text_.size()); }

    [[noreturn]] void refuse(const std::string& reason) const { refuse_at(position_, reason); }
    [[noreturn]] void refuse_at(std::size_t position, const std::string& reason) const {
        throw Error(ExitCode::usage,
                    "\"" + std::string(text_) + "\" is not a time: " + reason + with_caret(text_, position),
                    hint_);
    }

    std::string_view take_digits() {
        const auto begin = position_;
        while (std::isdigit(static_cast<unsigned char>(peek())) != 0) {
            advance();
        }
        if (position_ == begin) {
            refuse("a digit is expected here");
        }
        return text_.substr(begin, position_ - begin);
    }

    double take_whole_number() {
        const auto digits = take_digits();
        return number_in(digits);
    }

    double take_decimal_number() {
        const auto begin = position_;
        take_digits();
        if (peek() == '.') {
            advance();
            take_digits();
        }
        return number_in(text_.substr(begin, position_ - begin));
    }

  private:
    static double number_in(std::string_view digits) {
        // Stays infinite if the number does not fit, and is then refused as too long.
        double value = std::numeric_limits<double>::infinity();
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return value;
    }

    std::string_view text_;
    const char* hint_;
    std::size_t position_ = 0;
};

// Equal but for upper and lower case.
bool is_word(std::string_view text, std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                      [](unsigned char a, unsigned char b) { return std::toupper(a) == std::toupper(b); });
}

std::string_view without_blanks_at_end(std::string_view text) {
    return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

Seconds in_range(const Reader& reader, double seconds) {
    if (!(seconds <= longest_span.count())) {
        reader.refuse_at(0, "it is longer than 285 years");
    }
    return Seconds(seconds);
}

// D-H[:M[:S]], H:M:S or M[:S]; a sum of zero is zero here.
Seconds read_slurm_fields(Reader& reader) {
    std::vector<double> fields{reader.take_whole_number()};
    const bool has_days = reader.peek() == '-';
    const std::size_t most_fields = has_days ? 4 : 3;
    while (!reader.at_end() && fields.size() < most_fields) {
        if (reader.peek() != (has_days && fields.size() == 1 ? '-' : ':')) {
            break;
        }
        reader.advance();
        fields.push_back(reader.take_whole_number());
    }
    reader.skip_blanks();
    if (!reader.at_end()) {
        reader.refuse("this is not expected here");
    }
    // The weight of the first field says what all fields are.
    const double first = has_days ? 86400 : fields.size() == 3 ? 3600 : 60;
    double seconds = 0;
    double weight = first;
    for (const double field : fields) {
        seconds += field * weight;
        weight = weight == 86400 ? 3600 : weight / 60;
    }
    return in_range(reader, seconds);
}

double unit_in_seconds(std::string_view name, Reader& reader) {
    for (const auto& unit : time_units) {
        if (is_word(name, unit.name)) {
            return unit.seconds;
        }
    }
    reader.refuse("unknown unit");
}

template <class... Values>
std::string formatted(const char* format, Values... values) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), format, values...);
    return text.data();
}

}  // namespace

std::optional<Seconds> parse_slurm_time(std::string_view text) {
    Reader reader(text, slurm_hint);
    const auto word = without_blanks_at_end(reader.rest());
    if (is_word(word, "UNLIMITED") || is_word(word, "INFINITE")) {
        return std::nullopt;
    }
    const Seconds span = read_slurm_fields(reader);
    return span.count() == 0 ? std::nullopt : std::optional(span);
}

Seconds parse_duration(std::string_view text) {
    Reader reader(text, duration_hint);
    if (reader.rest().find_first_of(":-") != std::string_view::npos) {
        return read_slurm_fields(reader);
    }
    const double number = reader.take_decimal_number();
    const auto unit = without_blanks_at_end(reader.rest());
    if (is_word(unit, "ms")) {
        // Divided, since a product with 0.001 would not always be the nearest number.
        return in_range(reader, number / 1000);
    }
    return in_range(reader, unit.empty() ? number : number * unit_in_seconds(unit, reader));
}

std::string to_string(Seconds span) {
    const double seconds = span.count();
    for (const auto& [name, length] : time_units) {
        const double count = std::round(seconds / length);
        if ((count != 0 || length == 1) && count * length == seconds) {
            return formatted("%.0f", count).append(name);
        }
    }
    const double milliseconds = std::round(seconds * 1000);
    if (milliseconds / 1000 == seconds) {
        return formatted("%.0fms", milliseconds);
    }
    std::array<char, 512> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed);
    return std::string(text.data(), end.ptr) + "s";
}

std::string human(Seconds span) {
    const double seconds = span.count();
    if (seconds < 0) {
        return std::string("-").append(human(-span));
    }
    if (seconds == 0) {
        return "0 s";  // mostly of whole seconds: no claim of microseconds
    }
    if (seconds < 0.0009995) {
        return formatted("%.0f us", seconds * 1e6);
    }
    if (seconds < 0.9995) {
        return formatted(seconds < 0.00995 ? "%.1f ms" : "%.0f ms", seconds * 1e3);
    }
    if (seconds < 59.95) {
        return formatted("%.1f s", seconds);
    }
    if (seconds < 3599.5) {
        const auto rounded = std::llround(seconds);
        return formatted("%lld min %02lld s", rounded / 60, rounded % 60);
    }
    if (seconds < 86370) {
        const auto minutes = std::llround(seconds / 60);
        return formatted("%lld h %02lld min", minutes / 60, minutes % 60);
    }
    if (!std::isfinite(seconds)) {
        return "unlimited";
    }
    const auto hours = std::llround(seconds / 3600);
    return formatted("%lld d %lld h", hours / 24, hours % 24);
}

}  // namespace mastic
