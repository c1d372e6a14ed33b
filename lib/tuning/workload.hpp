// One collective operation of float32 at one size, that can be run by any choice: with buffers whose result is exactly
// known, and with zeros, whose sum stays zero however often it is taken.
//
// The contributions are small whole numbers: every partial sum is a whole number up to 256, which float32 and both
// 16-bit wires hold exactly. So a result is right or wrong, without a tolerance.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <mastic/comm/device/device.hpp>
#include <mastic/comm/group.hpp>
#include <mastic/comm/plan/algorithms.hpp>
#include <mastic/comm/selection.hpp>
#include <mastic/core/bytes.hpp>

namespace mastic::tuning {

// What rank `rank` of `ranks` puts at element `index`, and the sum of all ranks there.
float contribution(int rank, int ranks, std::size_t index);
float sum_of_contributions(int ranks, std::size_t index);

class Workload {
  public:
    // Collective. `size` of the whole buffer; of reduce-scatter and allgather at least an element for each rank. `device`: where
    // the buffers are, that of the group's options; null: in the host's memory.
    Workload(comm::Group& group, comm::Collective collective, Bytes size,
             std::shared_ptr<comm::Device> device = nullptr);

    void fill();
    void clear();
    // Blocks. After an error of usage, which all ranks get, the group is as it was. A broadcast comes from rank `turn`
    // modulo the ranks: the same root again and again would run ahead of the others, and a rate be measured instead of
    // a time.
    void run(const comm::Choice& choice, int turn = 0);
    bool is_right();  // after fill() and one run() with turn 0

    Bytes bytes() const { return Bytes{whole_.values.size_bytes()}; }

  private:
    // A buffer of the operation: its content on the host, and its place on the device if it is there.
    struct Buffer {
        std::shared_ptr<void> memory;
        std::span<float> values;
        std::shared_ptr<void> on_device;
        comm::BufferView view() const;
    };
    Buffer make_buffer(std::size_t count);
    void upload();
    void download();
    std::size_t part_begin() const { return part_.values.size() * static_cast<std::size_t>(group_.rank()); }

    comm::Group& group_;
    comm::Collective collective_;
    std::shared_ptr<comm::Device> device_;
    std::unique_ptr<comm::CopyStream> stream_;  // null without a device
    Buffer whole_;
    Buffer part_;  // of this rank; empty where the collective has none
};

}  // namespace mastic::tuning
