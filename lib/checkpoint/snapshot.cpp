#include <mastic/checkpoint/snapshot.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <mastic/core/bytes.hpp>
#include <mastic/core/error.hpp>

namespace mastic::checkpoint {
namespace {

constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;
constexpr std::uint64_t alignment = 64;  // each entry begins on its own cache line

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

void Snapshot::Free::operator()(std::byte* memory) const {
    std::free(memory);
}

void Snapshot::reserve(std::uint64_t bytes) {
    if (bytes <= capacity_) {
        return;
    }
    memory_.reset();
    capacity_ = 0;
    const std::uint64_t size = round_up(bytes, huge_page);
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(huge_page, size)));
    if (memory_ == nullptr) {
        throw Error(ExitCode::memory, "no memory for the copy of a state of " + human(Bytes{bytes}),
                    "ask Slurm for more memory (--mem)");
    }
    madvise(memory_.get(), size, MADV_HUGEPAGE);  // fewer page faults; only a hint
    std::memset(memory_.get(), 0, size);
    capacity_ = size;
}

void Snapshot::run(const std::vector<Copy>& copies) {
    for (const Copy& copy : copies) {
        std::memcpy(copy.to, copy.from, copy.count);
    }
}

// Cuts the copies into `parts` lists of about the same number of bytes.
std::vector<std::vector<Snapshot::Copy>> Snapshot::share_out(const std::vector<Copy>& copies, std::size_t parts) {
    std::uint64_t total = 0;
    for (const Copy& copy : copies) {
        total += copy.count;
    }
    const std::uint64_t share = round_up(total / parts + 1, alignment);
    std::vector<std::vector<Copy>> lists(parts);
    std::size_t part = 0;
    std::uint64_t room = share;
    for (Copy rest : copies) {
        while (rest.count > 0) {
            const std::uint64_t now = std::min(rest.count, room);
            lists[part].push_back({rest.to, rest.from, now});
            rest = {rest.to + now, rest.from + now, rest.count - now};
            room -= now;
            if (room == 0 && part + 1 < parts) {
                ++part;
                room = share;
            }
        }
    }
    return lists;
}

void Snapshot::prepare(const State& state) {
    state_ = source_ = State{};
    copies_.clear();
    std::uint64_t needed = 0;
    for (const StateEntry& entry : state.entries) {
        check_entry(entry);
        needed += round_up(entry.bytes.size(), alignment);
    }
    reserve(needed);
    source_ = state;
    State copied = state;
    std::byte* place = memory_.get();
    for (StateEntry& entry : copied.entries) {
        copies_.push_back({place, entry.bytes.data(), entry.bytes.size()});
        entry.bytes = {place, entry.bytes.size()};
        entry.owner = nullptr;
        place += round_up(entry.bytes.size(), alignment);
    }
    state_ = std::move(copied);
}

void Snapshot::copy(int threads) {
    const auto lists = share_out(copies_, static_cast<std::size_t>(std::max(1, threads)));
    {
        std::vector<std::jthread> helpers;
        for (std::size_t part = 1; part < lists.size(); ++part) {
            helpers.emplace_back([&list = lists[part]] { run(list); });
        }
        run(lists.front());
    }
    copies_.clear();
    source_ = State{};
}

}  // namespace mastic::checkpoint
