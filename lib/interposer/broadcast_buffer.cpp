#include <mastic/interposer/broadcast_buffer.hpp>

#include <mastic/interposer/element.hpp>
#include <mastic/interposer/pmpi.hpp>

namespace mastic::interposer {

namespace {

// Built-in types without gaps. A derived one may go through its bytes in another order even if it covers all of them.
bool is_contiguous(MPI_Datatype type, MPI_Count bytes) {
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = 0;
    MPI_Count lower = 0;
    MPI_Count extent = 0;
    return pmpi().type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
           combiner == MPI_COMBINER_NAMED && pmpi().type_get_extent_x(type, &lower, &extent) == MPI_SUCCESS &&
           lower == 0 && extent == bytes;
}

}  // namespace

BroadcastBuffer::BroadcastBuffer(void* data, int count, MPI_Datatype type)
    : data_(data), count_(count), type_(type) {
    if (count < 0 || type == MPI_DATATYPE_NULL || data == MPI_IN_PLACE) {
        return;
    }
    if (const auto size = size_of_built_in(type)) {
        contiguous_ = true;
        bytes_ = *size * static_cast<std::size_t>(count);
    } else {
        MPI_Count size_of_type = 0;
        if (pmpi().type_size_x(type, &size_of_type) != MPI_SUCCESS || size_of_type < 0) {
            return;
        }
        contiguous_ = is_contiguous(type, size_of_type);
        bytes_ = static_cast<std::size_t>(size_of_type) * static_cast<std::size_t>(count);
    }
    // Addresses in a derived type may be absolute, from a null pointer on (MPI_BOTTOM).
    valid_ = data != nullptr || !contiguous_ || bytes_ == 0;
}

PackedBytes::PackedBytes(const BroadcastBuffer& buffer, MPI_Comm comm)
    : buffer_(buffer),
      comm_(comm),
      copy_(buffer.contiguous() ? nullptr : new std::byte[buffer.bytes()]),
      data_(copy_ ? copy_.get() : static_cast<std::byte*>(buffer.data())) {}

int PackedBytes::pack() const {
    if (!copy_) {
        return MPI_SUCCESS;
    }
    return with_buffer([this](void* data, int count, MPI_Datatype type) {
        int position = 0;
        return pmpi().pack(data, count, type, copy_.get(), static_cast<int>(buffer_.bytes()), &position,
                           comm_);
    });
}

int PackedBytes::unpack() const {
    if (!copy_) {
        return MPI_SUCCESS;
    }
    return with_buffer([this](void* data, int count, MPI_Datatype type) {
        int position = 0;
        return pmpi().unpack(copy_.get(), static_cast<int>(buffer_.bytes()), &position, data, count, type,
                             comm_);
    });
}

// MPICH 4.0 does not pack from MPI_BOTTOM. So the addresses are made relative to something.
template <class Use>
int PackedBytes::with_buffer(const Use& use) const {
    if (buffer_.data() != nullptr) {
        return use(buffer_.data(), buffer_.count(), buffer_.type());
    }
    const int count = buffer_.count();
    const MPI_Aint back_to_zero = -reinterpret_cast<MPI_Aint>(copy_.get());
    MPI_Datatype relative = MPI_DATATYPE_NULL;
    int code = pmpi().type_create_hindexed(1, &count, &back_to_zero, buffer_.type(), &relative);
    if (code != MPI_SUCCESS) {
        return code;
    }
    code = pmpi().type_commit(&relative);
    if (code == MPI_SUCCESS) {
        code = use(copy_.get(), 1, relative);
    }
    pmpi().type_free(&relative);
    return code;
}

}  // namespace mastic::interposer
