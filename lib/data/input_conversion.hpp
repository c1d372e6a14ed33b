// Turns one stored sample into float32: value * factor + shift, by channel.
#pragma once

#include <cstddef>
#include <vector>

#include <mastic/core/data_type.hpp>
#include <mastic/data/dataset.hpp>

namespace mastic::data {

struct Normalization {
    bool scale = true;  // 8-bit images to [0, 1]
    std::vector<double>
        mean;  // one for all, or one per channel (the first extent of the sample); after scaling
    std::vector<double> stddev;  // likewise
};

class InputConversion {
  public:
    // Error(usage) if mean or stddev do not fit the channels, or a deviation is not positive.
    InputConversion(DataType stored, const Shape& sample_shape, const Normalization& normalization);

    // Elements of one sample.
    std::size_t count() const { return factor_.size() * per_channel_; }
    // `out` has room for count() values.
    void convert(const std::byte* sample, float* out) const { convert_(*this, sample, out); }

  private:
    using Function = void (*)(const InputConversion&, const std::byte*, float*);
    template <class T>
    static void convert_as(const InputConversion& self, const std::byte* sample, float* out);

    std::vector<float> factor_;  // (channels)
    std::vector<float> shift_;   // (channels)
    std::size_t per_channel_ = 1;
    Function convert_ = nullptr;
};

}  // namespace mastic::data
