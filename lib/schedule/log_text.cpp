#include <mastic/schedule/log_text.hpp>

#include <cmath>

#include <mastic/core/error.hpp>

namespace mastic::schedule {
namespace {

constexpr std::size_t kept_rows = 1000;

template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? std::optional(value) : std::nullopt;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    return first == text.npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string_view> split(std::string_view line, char separator) {
    std::vector<std::string_view> pieces;
    for (;;) {
        const auto at = line.find(separator);
        pieces.push_back(trimmed(line.substr(0, at)));
        if (at == line.npos) {
            return pieces;
        }
        line.remove_prefix(at + 1);
    }
}

std::vector<std::string_view> words(std::string_view line) {
    std::vector<std::string_view> pieces;
    for (;;) {
        const auto begin = line.find_first_not_of(" \t");
        if (begin == line.npos) {
            return pieces;
        }
        line.remove_prefix(begin);
        const auto end = line.find_first_of(" \t");
        pieces.push_back(line.substr(0, end));
        line.remove_prefix(pieces.back().size());
    }
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
    return parse_whole<std::int64_t>(text);
}

std::optional<double> parse_number(std::string_view text) {
    const auto value = parse_whole<double>(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

LineReader::LineReader(std::string_view text) : rest_(text) {
    rest_.remove_prefix(rest_.starts_with("\xEF\xBB\xBF") ? 3 : 0);
}

bool LineReader::read(std::string_view& line) {
    if (rest_.empty()) {
        return false;
    }
    ++number_;
    const auto end = rest_.find_first_of("\r\n");
    line = trimmed(rest_.substr(0, end));
    if (end == rest_.npos) {
        rest_ = {};
    } else {
        rest_.remove_prefix(end + (rest_.substr(end).starts_with("\r\n") ? 2 : 1));
    }
    return true;
}

void OddRows::add(std::size_t line, const std::string& reason) {
    if (strict_) {
        throw Error(ExitCode::data, source_ + ":" + std::to_string(line) + ": " + reason,
                    "without --strict such rows are counted and listed");
    }
    ++count_;
    if (rows_.size() < kept_rows) {
        rows_.push_back({line, reason});
    }
}

std::string OddRows::text(std::size_t most) const {
    std::string result;
    for (std::size_t i = 0; i < rows_.size() && i < most; ++i) {
        result += source_ + ":" + std::to_string(rows_[i].line) + ": " + rows_[i].reason + "\n";
    }
    if (count_ > most) {
        result += "... and " + std::to_string(count_ - most) + " more odd rows\n";
    }
    return result;
}

}  // namespace mastic::schedule
