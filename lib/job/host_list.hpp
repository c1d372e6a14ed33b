// Slurm's host lists: "node[01-03,07],gpu-[1-2]n[3-4]".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mastic::job {

// Grammar: host {"," host}; a host is a sequence of name characters (letters, digits, '-', '_', '.') and
// groups
// "[" range {"," range} "]" with range = N | N-M. Numbers keep the width of N when it is zero-padded. Several
// groups multiply, the last one fastest: the example above is 8 hosts. At most 65,536 hosts. Slurm 22.05 refuses name
// characters after the last group; here "n[1-2]-ib" is allowed. Throws Error(usage) with a caret under the first wrong
// character.
std::vector<std::string> expand_host_list(std::string_view text);

// For lists that Slurm gave: no host for an empty text or one that is not of this grammar.
std::vector<std::string> expand_or_none(std::string_view text);

// A list that expand_host_list turns back into exactly `hosts`, in this order; neighbours with consecutive
// trailing numbers share a group. Not necessarily the shortest list.
std::string compress_host_list(std::span<const std::string> hosts);

}  // namespace mastic::job
