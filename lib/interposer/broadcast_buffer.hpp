// The buffer of a broadcast: any type of MPI, seen as the bytes that travel.
#pragma once

#include <cstddef>
#include <memory>

#include <mpi.h>

namespace mastic::interposer {

class BroadcastBuffer {
  public:
    // As the program gave them. Asks MPI about types that are not built in.
    BroadcastBuffer(void* data, int count, MPI_Datatype type);

    bool valid() const { return valid_; }            // false: MPI would complain, or must say what this is
    std::size_t bytes() const { return bytes_; }     // the same on all ranks, whatever their types
    bool contiguous() const { return contiguous_; }  // they lie at data() in their order
    void* data() const { return data_; }
    int count() const { return count_; }
    MPI_Datatype type() const { return type_; }

  private:
    void* data_;
    int count_;
    MPI_Datatype type_;
    bool valid_ = false;
    bool contiguous_ = false;
    std::size_t bytes_ = 0;
};

// Those bytes in one piece: the buffer itself if it is contiguous, else a copy.
class PackedBytes {
  public:
    // The buffer must stay. `comm` is the one of the broadcast, which hears of errors.
    PackedBytes(const BroadcastBuffer& buffer, MPI_Comm comm);

    std::byte* data() const { return data_; }
    // From and to the buffer. Return MPI's code.
    int pack() const;
    int unpack() const;

  private:
    template <class Use>
    int with_buffer(const Use& use) const;

    const BroadcastBuffer& buffer_;
    MPI_Comm comm_;
    std::unique_ptr<std::byte[]> copy_;
    std::byte* data_;
};

}  // namespace mastic::interposer
