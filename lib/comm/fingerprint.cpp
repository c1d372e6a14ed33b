#include <mastic/comm/fingerprint.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <sstream>

#include <mastic/core/agreed_error.hpp>
#include <mastic/core/checksum.hpp>

namespace mastic::comm {

namespace {

std::string describe(const OperationFingerprint& operation) {
    return operation.name + ": " + to_string(operation.op) + " of " + std::to_string(operation.count) +
           " x " + to_string(operation.type);
}

std::string joined(std::span<const OperationFingerprint> operations) {
    std::string text;
    for (const auto& operation : operations) {
        text += to_string(operation) + "\n";
    }
    return text;
}

std::uint64_t hash_of_text(const std::string& text) {
    return checksum(std::as_bytes(std::span(text)));
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

std::string entry_of(const std::vector<std::string>& list, std::size_t index) {
    return index < list.size() ? list[index]
                               : "no operation, its list ends after " + std::to_string(list.size());
}

// The rank whose entry is the most frequent one; the lowest such rank.
std::size_t majority_rank(const std::vector<std::vector<std::string>>& lists, std::size_t index) {
    std::map<std::string, int> votes;
    for (const auto& list : lists) {
        ++votes[entry_of(list, index)];
    }
    std::size_t best = 0;
    for (std::size_t rank = 1; rank < lists.size(); ++rank) {
        if (votes[entry_of(lists[rank], index)] > votes[entry_of(lists[best], index)]) {
            best = rank;
        }
    }
    return best;
}

}  // namespace

std::string to_string(const OperationFingerprint& operation) {
    return describe(operation) + " [" + to_hex(hash_of(operation)) + "]";
}

std::uint64_t hash_of(const OperationFingerprint& operation) {
    return hash_of_text(describe(operation));
}

std::uint64_t hash_of(std::span<const OperationFingerprint> operations) {
    return hash_of_text(joined(operations));
}

std::string describe_disagreement(const std::vector<std::vector<std::string>>& lists) {
    std::size_t longest = 0;
    for (const auto& list : lists) {
        longest = std::max(longest, list.size());
    }
    for (std::size_t index = 0; index < longest; ++index) {
        const std::size_t reference = majority_rank(lists, index);
        for (std::size_t rank = 0; rank < lists.size(); ++rank) {
            const std::string ours = entry_of(lists[rank], index);
            const std::string theirs = entry_of(lists[reference], index);
            if (ours != theirs) {
                return "rank " + std::to_string(rank) + " disagrees on operation " + std::to_string(index) +
                       " of " + std::to_string(longest) + "\n  rank " + std::to_string(rank) + ": " + ours +
                       "\n  rank " + std::to_string(reference) + ": " + theirs;
            }
        }
    }
    return "";
}

void check_agreement(Group& group, std::span<const OperationFingerprint> operations) {
    const std::uint64_t hash = hash_of(operations);
    // The minimum of the complement is the complement of the maximum: one reduction tells both.
    std::array<std::int64_t, 2> bounds{std::bit_cast<std::int64_t>(hash), std::bit_cast<std::int64_t>(~hash)};
    group.allreduce(view_of(std::span(bounds)), ReduceOp::min, {.name = "fingerprint of operations"});
    if (bounds[0] == ~bounds[1]) {
        return;
    }
    std::vector<std::vector<std::string>> lists;
    for (const auto& text : group.allgather_strings(joined(operations))) {
        lists.push_back(lines_of(text));
    }
    throw AgreedError(
        ExitCode::collective, describe_disagreement(lists),
        "start all ranks with the same program, model and configuration; nothing has been reduced yet");
}

}  // namespace mastic::comm
