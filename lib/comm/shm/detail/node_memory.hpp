// What the ranks of a node share: a file of each, mapped by all, and the permission to copy between processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <mastic/comm/group.hpp>
#include <mastic/comm/shm/detail/node_layout.hpp>
#include <mastic/comm/shm/detail/process_memory.hpp>
#include <mastic/comm/shm/detail/shared_arena.hpp>
#include <mastic/comm/shm/detail/shared_file.hpp>
#include <mastic/comm/shm/shm_node.hpp>

namespace mastic::comm::detail {

class NodeMemory : public std::enable_shared_from_this<NodeMemory> {
  public:
    // Collective, as ShmNode::create.
    static std::shared_ptr<NodeMemory> create(Group& node, const ShmOptions& options);

    int rank() const { return rank_; }
    int size() const { return size_; }
    bool single_copy() const { return single_copy_; }
    const NodeLayout& layout() const { return layout_; }
    const RemoteProcess& process(int rank) const { return peers_[static_cast<std::size_t>(rank)].process; }

    // At this offset in the file of a rank.
    std::byte* at(int rank, std::size_t offset) const {
        return peers_[static_cast<std::size_t>(rank)].data + offset;
    }
    // What a rank sees at `address`, as this process sees it; null if it is not in that rank's arena.
    std::byte* find(int rank, std::uint64_t address, std::uint64_t bytes) const;
    std::shared_ptr<void> allocate(std::size_t bytes);

    // Of each cycle, and of each ring; the same on all ranks.
    std::size_t cycle_bytes() const { return cycle_bytes_; }

    // False, or Error(environment): there is no room. The second time they have nothing to do.
    bool try_to_reserve_cycles(int lane);
    void reserve_cycles(int lane);
    void reserve_ring(int peer, int lane);

  private:
    struct Peer {
        RemoteProcess process;
        std::uint64_t arena_begin = 0;  // addresses in that process
        std::uint64_t arena_end = 0;
        std::byte* data = nullptr;  // its file, here
    };
    struct Greeting;

    NodeMemory(Group& node, const ShmOptions& options);
    void reserve(std::size_t offset, std::size_t bytes);
    [[noreturn]] void throw_no_room(std::size_t bytes) const;
    void reserve_first_pages();
    Greeting greeting() const;
    void meet(const std::vector<std::string>& greetings);
    bool can_read_all(const std::vector<std::string>& greetings) const;
    bool agree_on_single_copy(Group& node, const std::vector<std::string>& greetings) const;

    int rank_;
    int size_;
    NodeLayout layout_;
    SharedFile file_;
    SharedArena arena_;
    std::uint64_t probe_word_;  // what the others try to read
    std::vector<SharedFile> files_of_peers_;
    std::vector<Peer> peers_;  // by rank, this one too
    bool single_copy_ = false;
    std::size_t cycle_bytes_ = shortest_cycle;
    enum class Reserved { not_yet, yes, no_room };
    std::vector<Reserved> cycles_;  // by lane
};

}  // namespace mastic::comm::detail
