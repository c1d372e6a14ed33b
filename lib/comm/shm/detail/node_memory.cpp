#include <mastic/comm/shm/detail/node_memory.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <mastic/comm/together.hpp>
#include <mastic/core/bytes.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>

namespace mastic::comm::detail {
namespace {

// As large as the memory could be; it costs addresses only. All arenas together leave most of 47 bits to others.
std::size_t arena_bytes(const std::string& directory, int ranks) {
    constexpr std::size_t addresses = std::size_t(1) << 44;
    std::size_t most = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) / 2 * page_bytes();
    struct statvfs status {};
    if (statvfs(directory.c_str(), &status) == 0 && status.f_blocks > 0) {
        most = std::min<std::size_t>(most, status.f_blocks * status.f_frsize);
    }
    return std::min(most, addresses / static_cast<std::size_t>(ranks)) / page_bytes() * page_bytes();
}

// A file that grows over the limit ends the process (SIGXFSZ).
std::size_t file_bytes(const NodeLayout& layout, const ShmOptions& options, int ranks) {
    const std::size_t wanted =
        layout.arena() + (options.allocates ? arena_bytes(options.directory, ranks) : 0);
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= wanted) {
        return wanted;
    }
    if (limit.rlim_cur < layout.arena()) {
        throw Error(ExitCode::environment,
                    "the limit on file sizes, " + human(Bytes{limit.rlim_cur}) +
                        ", is too small for shared memory: " + human(Bytes{layout.arena()}) + " are needed",
                    "ulimit -f unlimited");
    }
    return limit.rlim_cur / page_bytes() * page_bytes();
}

// All cycles of the node in an eighth of the room that is left, where that is possible.
std::size_t affordable_cycle(const std::string& directory, int ranks, int lanes) {
    const std::uint64_t cycles = 2 * static_cast<std::uint64_t>(ranks) * static_cast<std::uint64_t>(lanes);
    const std::uint64_t share = free_space(directory).count / 8 / cycles;
    return std::clamp<std::uint64_t>(std::bit_floor(share), shortest_cycle, longest_cycle);
}

template <class Value>
std::string as_bytes(const Value& value) {
    return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

}  // namespace

// Travels as these bytes, then the path.
struct NodeMemory::Greeting {
    std::uint64_t file_bytes = 0;
    std::uint64_t address = 0;  // of its file, in its process
    std::uint64_t probe_address = 0;
    std::uint64_t probe_word = 0;
    std::int64_t process = 0;
    std::uint64_t cycle_bytes = 0;  // what it can afford

    static Greeting from(const std::string& text) {
        Greeting greeting;
        std::memcpy(&greeting, text.data(), sizeof(greeting));
        return greeting;
    }
};

std::shared_ptr<NodeMemory> NodeMemory::create(Group& node, const ShmOptions& options) {
    std::shared_ptr<NodeMemory> memory;
    run_together(node, [&] {
        memory.reset(new NodeMemory(node, options));
        memory->reserve_first_pages();
    });
    const auto greetings = node.allgather_strings(as_bytes(memory->greeting()) + memory->file_.path());
    run_together(node, [&] { memory->meet(greetings); });
    memory->file_.unlink();
    memory->single_copy_ = options.allow_single_copy && memory->agree_on_single_copy(node, greetings);
    if (!memory->single_copy_) {
        run_together(node, [&] {
            for (int lane = 0; lane < options.lanes; ++lane) {
                memory->reserve_cycles(lane);
            }
        });
    }
    return memory;
}

NodeMemory::NodeMemory(Group& node, const ShmOptions& options)
    : rank_(node.rank()),
      size_(node.size()),
      layout_(size_, options.lanes),
      file_(SharedFile::create(options.directory, file_bytes(layout_, options, size_))),
      arena_(file_, layout_.arena(), file_.bytes()),
      cycle_bytes_(affordable_cycle(options.directory, size_, options.lanes)),
      cycles_(static_cast<std::size_t>(options.lanes)) {
    // Its name is random too.
    probe_word_ = std::hash<std::string>{}(file_.path());
}

void NodeMemory::reserve(std::size_t offset, std::size_t bytes) {
    if (!file_.reserve(offset, bytes)) {
        throw_no_room(bytes);
    }
}

void NodeMemory::throw_no_room(std::size_t bytes) const {
    const std::string directory = file_.path().substr(0, file_.path().rfind('/'));
    throw Error(ExitCode::environment,
                "no room for shared memory in " + directory + ": " + human(Bytes{bytes}) +
                    " more are needed, " + human(free_space(directory)) + " are free",
                "enlarge it: mount -o remount,size=1G " + directory + "; in Docker --shm-size=1g");
}

void NodeMemory::reserve_first_pages() {
    reserve(0, layout_.slot(layout_.lanes(), 0));
}

bool NodeMemory::try_to_reserve_cycles(int lane) {
    Reserved& reserved = cycles_[static_cast<std::size_t>(lane)];
    if (reserved == Reserved::not_yet) {
        const bool both = file_.reserve(layout_.cycle_in(lane), cycle_bytes_) &&
                          file_.reserve(layout_.cycle_out(lane), cycle_bytes_);
        reserved = both ? Reserved::yes : Reserved::no_room;
    }
    return reserved == Reserved::yes;
}

void NodeMemory::reserve_cycles(int lane) {
    if (!try_to_reserve_cycles(lane)) {
        throw_no_room(2 * cycle_bytes_);
    }
}

void NodeMemory::reserve_ring(int peer, int lane) {
    reserve(layout_.ring_data(peer, lane), cycle_bytes_);
}

NodeMemory::Greeting NodeMemory::greeting() const {
    const auto address_of = [](const void* data) { return reinterpret_cast<std::uint64_t>(data); };
    return {file_.bytes(), address_of(file_.data()), address_of(&probe_word_), probe_word_, getpid(),
            cycle_bytes_};
}

void NodeMemory::meet(const std::vector<std::string>& greetings) {
    files_of_peers_.reserve(greetings.size());
    for (int rank = 0; rank < size_; ++rank) {
        const std::string& text = greetings[static_cast<std::size_t>(rank)];
        const Greeting greeting = Greeting::from(text);
        cycle_bytes_ = std::min<std::size_t>(cycle_bytes_, greeting.cycle_bytes);
        std::byte* data = file_.data();
        if (rank != rank_) {
            files_of_peers_.push_back(SharedFile::open(text.substr(sizeof(greeting)), greeting.file_bytes));
            data = files_of_peers_.back().data();
        }
        peers_.push_back({{static_cast<pid_t>(greeting.process), rank},
                          greeting.address + layout_.arena(),
                          greeting.address + greeting.file_bytes,
                          data});
    }
}

bool NodeMemory::can_read_all(const std::vector<std::string>& greetings) const {
    return std::ranges::all_of(greetings, [](const std::string& text) {
        const Greeting greeting = Greeting::from(text);
        return process_holds(static_cast<pid_t>(greeting.process), greeting.probe_address,
                             greeting.probe_word);
    });
}

bool NodeMemory::agree_on_single_copy(Group& node, const std::vector<std::string>& greetings) const {
    const auto agreed = [&] {
        const auto answers = node.allgather_strings(can_read_all(greetings) ? "yes" : "no");
        return std::ranges::all_of(answers, [](const std::string& answer) { return answer == "yes"; });
    };
    if (agreed()) {
        return true;
    }
    permit_siblings();
    node.allgather_strings("permitted");  // all have
    return agreed();
}

std::byte* NodeMemory::find(int rank, std::uint64_t address, std::uint64_t bytes) const {
    const Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (address < peer.arena_begin || address > peer.arena_end || bytes > peer.arena_end - address) {
        return nullptr;
    }
    return peer.data + layout_.arena() + (address - peer.arena_begin);
}

std::shared_ptr<void> NodeMemory::allocate(std::size_t bytes) {
    void* data = arena_.allocate(bytes);
    if (data == nullptr) {
        return nullptr;
    }
    return {data,
            [memory = shared_from_this(), bytes](void* freed) { memory->arena_.release(freed, bytes); }};
}

}  // namespace mastic::comm::detail
