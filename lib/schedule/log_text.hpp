// Reading logs line by line: what the readers of traces, SWF and sacct share.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mastic::schedule {

std::string_view trimmed(std::string_view text);

// Pieces between separators, blanks around them dropped; as many as there are separators, plus one.
std::vector<std::string_view> split(std::string_view line, char separator);

// Pieces between blanks.
std::vector<std::string_view> words(std::string_view line);

// The whole text must be the number.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_number(std::string_view text);  // finite

// Lines of a text; LF, CRLF or CR ends one, a byte-order mark is skipped, blanks at both ends are dropped.
class LineReader {
  public:
    explicit LineReader(std::string_view text);
    bool read(std::string_view& line);
    std::size_t number() const { return number_; }  // of the line read last, from 1

  private:
    std::string_view rest_;
    std::size_t number_ = 0;
};

// What was skipped in a log, and why; or, when strict, the Error(data) at the first.
class OddRows {
  public:
    OddRows(std::string source, bool strict) : source_(std::move(source)), strict_(strict) {}

    struct Row {
        std::size_t line;
        std::string reason;
    };

    // The row is left out (or repaired, as `reason` says). Only the first rows are kept, all are counted.
    void add(std::size_t line, const std::string& reason);

    std::size_t count() const { return count_; }
    const std::vector<Row>& rows() const { return rows_; }
    const std::string& source() const { return source_; }
    // "LOG:17: REASON" lines, at most `most` of them, then how many more.
    std::string text(std::size_t most) const;

  private:
    std::string source_;
    bool strict_;
    std::size_t count_ = 0;
    std::vector<Row> rows_;
};

}  // namespace mastic::schedule
