// Spans of time. Options and Slurm use Slurm's grammar.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace mastic {

using Seconds = std::chrono::duration<double>;

// Both parsers refuse spans above this, so that every span fits into std::chrono::nanoseconds (285 years).
inline constexpr Seconds longest_span{9e9};

// Slurm's time grammar: "M", "M:S", "H:M:S", "D-H", "D-H:M", "D-H:M:S"; "UNLIMITED", "INFINITE" and "0" mean
// no limit (empty result; so does any form that adds up to zero). A lone number is minutes, as in `sbatch -t
// 90`. As in Slurm a field may exceed its usual range: "90:00" is 90 min. Throws Error(usage) with a caret
// under the first wrong character.
std::optional<Seconds> parse_slurm_time(std::string_view text);

// Time options of mastic itself, where seconds are the natural unit: a plain number is *seconds* ("90",
// "0.5"), or a number with a unit "250ms", "30s", "10m", "2h", "1d", or Slurm's forms with ':' or '-'. Throws
// Error(usage) with a caret, as above.
Seconds parse_duration(std::string_view text);

// An exact form that parse_duration reads back, in the largest unit that needs no decimals: 90 s -> "90s",
// 600 s -> "10m", 0.25 s -> "250ms".
std::string to_string(Seconds span);

// For people: "35 us", "820 ms", "12.3 s", "4 min 05 s", "2 h 10 min", "1 d 12 h".
std::string human(Seconds span);

}  // namespace mastic
