// A data set whose inputs stay as they are stored (8-bit images stay 8-bit) and become float32 when a batch
// is read.
#pragma once

#include <mastic/data/array.hpp>
#include <mastic/data/input_conversion.hpp>

namespace mastic::data {

class ArrayDataset final : public Dataset {
  public:
    // inputs (size, ...); targets (size, *layout.target_shape) of layout.target_type, or none (no bytes: they
    // read as an empty buffer). Error(data) names the first sample whose inputs are not finite as float32.
    ArrayDataset(Array inputs, const Normalization& normalization, Array targets, SampleLayout layout,
                 std::string description);

    std::uint64_t size() const override { return size_; }
    const SampleLayout& layout() const override { return layout_; }
    void read(std::span<const std::uint64_t> ids, Batch& batch) const override;
    std::string description() const override { return description_; }

  private:
    void check_finite() const;

    Array inputs_;
    Array targets_;
    SampleLayout layout_;
    std::string description_;
    InputConversion conversion_;
    std::uint64_t size_;
};

// Error(data) naming `id` and the size of the set.
void check_id(std::uint64_t id, std::uint64_t size);

}  // namespace mastic::data
