// Random crop after zero padding, and random horizontal flip, of batches of float32 images. What happens to a
// sample is a function of (seed, epoch, id) alone: the same on any rank, for any number of ranks, after any
// resume.
#pragma once

#include <cstdint>
#include <vector>

#include <mastic/data/dataset.hpp>

namespace mastic::data {

struct AugmentationOptions {
    std::int64_t crop_padding = 0;  // pixels of zeros on each side before the crop back to size; 0: no crop
    bool flip = false;              // half of the images, left to right
    std::uint64_t seed = 0;
};

class Augmentation {
  public:
    // Error(usage) if something is asked for and the inputs are not float32 (channels, height, width).
    Augmentation(const AugmentationOptions& options, const SampleLayout& layout);

    // In place. Not for several threads at once.
    void apply(Batch& batch, std::uint64_t epoch);

  private:
    void transform(float* image, std::int64_t down, std::int64_t right, bool mirrored);

    AugmentationOptions options_;
    std::int64_t channels_ = 0;
    std::int64_t height_ = 0;
    std::int64_t width_ = 0;
    std::vector<float> plane_;  // (height, width): the original of the channel at work
};

}  // namespace mastic::data
