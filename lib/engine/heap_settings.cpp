#include <mastic/engine/heap_settings.hpp>

#include <malloc.h>

namespace mastic::engine {

void keep_freed_memory() {
    mallopt(M_MMAP_MAX, 0);         // large blocks come from the heap
    mallopt(M_TRIM_THRESHOLD, -1);  // which never shrinks
    mallopt(M_TOP_PAD, 64 << 20);   // and grows in big steps
}

}  // namespace mastic::engine
