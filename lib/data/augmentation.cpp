#include <mastic/data/augmentation.hpp>

#include <algorithm>

#include <mastic/core/error.hpp>
#include <mastic/core/random.hpp>

namespace mastic::data {

Augmentation::Augmentation(const AugmentationOptions& options, const SampleLayout& layout)
    : options_(options) {
    if (options.crop_padding < 0) {
        throw Error(ExitCode::usage, "data.crop must not be negative");
    }
    if (options.crop_padding == 0 && !options.flip) {
        return;
    }
    if (layout.input_shape.size() != 3 || layout.input_type != DataType::float32) {
        throw Error(ExitCode::usage, "data.crop and data.flip need images (channels, height, width)",
                    "leave them out, or give the shape with data.input_shape");
    }
    channels_ = layout.input_shape[0];
    height_ = layout.input_shape[1];
    width_ = layout.input_shape[2];
    plane_.resize(static_cast<std::size_t>(height_ * width_));
}

void Augmentation::apply(Batch& batch, std::uint64_t epoch) {
    if (plane_.empty()) {
        return;
    }
    const auto epoch_seed = CounterRandom::derive(options_.seed, epoch);
    const auto choices = static_cast<std::uint64_t>(2 * options_.crop_padding + 1);
    const auto image_size = static_cast<std::size_t>(channels_) * plane_.size();
    auto* image = reinterpret_cast<float*>(batch.inputs.data());
    for (std::size_t i = 0; i < batch.count; ++i, image += image_size) {
        CounterRandom random(CounterRandom::derive(epoch_seed, batch.ids[i]));
        const auto down = static_cast<std::int64_t>(random.below(choices)) - options_.crop_padding;
        const auto right = static_cast<std::int64_t>(random.below(choices)) - options_.crop_padding;
        transform(image, down, right, options_.flip && random.below(2) == 1);
    }
}

// The pixel (y, x) of the result is (y + down, x + right) of the original, or zero outside of it; then
// mirrored.
void Augmentation::transform(float* image, std::int64_t down, std::int64_t right, bool mirrored) {
    if (down == 0 && right == 0 && !mirrored) {
        return;
    }
    const std::int64_t first = std::clamp<std::int64_t>(-right, 0, width_);
    const std::int64_t last = std::clamp<std::int64_t>(width_ - right, first, width_);
    for (std::int64_t c = 0; c < channels_; ++c, image += height_ * width_) {
        std::copy_n(image, plane_.size(), plane_.begin());
        for (std::int64_t y = 0; y < height_; ++y) {
            float* const row = image + y * width_;
            std::fill_n(row, width_, 0.0f);
            if (y + down >= 0 && y + down < height_) {
                const float* const from = plane_.data() + (y + down) * width_ + right;
                std::copy(from + first, from + last, row + first);
            }
            if (mirrored) {
                std::reverse(row, row + width_);
            }
        }
    }
}

}  // namespace mastic::data
