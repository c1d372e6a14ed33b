#include <mastic/core/descriptor.hpp>

#include <cerrno>
#include <utility>

#include <unistd.h>

namespace mastic {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    if (this != &other) {
        close();
        value_ = other.release();
    }
    return *this;
}

int Descriptor::release() {
    return std::exchange(value_, -1);
}

int Descriptor::close() {
    const int closing = release();
    return closing >= 0 && ::close(closing) != 0 ? errno : 0;
}

}  // namespace mastic
