#include <mastic/comm/shm_method.hpp>

#include <mastic/core/named.hpp>

namespace mastic::comm {

namespace {

constexpr ShmMethodName table[] = {
    {ShmMethod::automatic, "auto", "by size, by where the buffers of all ranks lie, and by what turns out faster"},
    {ShmMethod::one_shot, "one-shot", "shared memory: every rank reads all messages once they are there; for small ones"},
    {ShmMethod::direct, "direct", "shared memory: ranks reduce in place in each other's library-allocated buffers"},
    {ShmMethod::single_copy, "single-copy",
     "shared memory: ranks read and write each other's private buffers through the kernel (CMA)"},
    {ShmMethod::copy, "copy", "shared memory: private buffers are copied through it, piece by piece"},
};

}  // namespace

std::span<const ShmMethodName> shm_methods() {
    return table;
}

const ShmMethodName* find_shm_method(std::string_view name) {
    return find_named(table, name);
}

}  // namespace mastic::comm
