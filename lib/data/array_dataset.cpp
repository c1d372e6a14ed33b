#include <mastic/data/array_dataset.hpp>

#include <algorithm>
#include <cstring>

#include <mastic/core/error.hpp>
#include <mastic/data/element.hpp>

namespace mastic::data {

void check_id(std::uint64_t id, std::uint64_t size) {
    if (id >= size) {
        throw Error(
            ExitCode::data,
            "sample " + std::to_string(id) + " was asked for, the data set has " + std::to_string(size),
            "resume with the data set that the run was started with");
    }
}

ArrayDataset::ArrayDataset(Array inputs, const Normalization& normalization, Array targets,
                           SampleLayout layout, std::string description)
    : inputs_(std::move(inputs)),
      targets_(std::move(targets)),
      layout_(std::move(layout)),
      description_(std::move(description)),
      conversion_(inputs_.type, layout_.input_shape, normalization),
      size_(static_cast<std::uint64_t>(inputs_.samples())) {
    if (is_floating_point(inputs_.type)) {
        check_finite();
    }
}

void ArrayDataset::check_finite() const {
    constexpr std::uint32_t exponent = 0x7F800000;
    const InputConversion as_stored(inputs_.type, layout_.input_shape, {});
    std::vector<float> sample(as_stored.count());
    const std::size_t stride = sample.size() * size_of(inputs_.type);
    for (std::uint64_t id = 0; id < size_; ++id) {
        as_stored.convert(inputs_.bytes.data() + id * stride, sample.data());
        std::uint32_t bad = 0;
        for (const float value : sample) {
            bad |= (std::bit_cast<std::uint32_t>(value) & exponent) == exponent ? 1 : 0;
        }
        if (bad != 0) {
            throw Error(
                ExitCode::data,
                "sample " + std::to_string(id) + " of " + description_ + " has an input that is not finite",
                "remove or repair this sample");
        }
    }
}

void ArrayDataset::read(std::span<const std::uint64_t> ids, Batch& batch) const {
    const std::size_t elements = conversion_.count();
    const std::size_t stride = elements * size_of(inputs_.type);
    const std::size_t target_bytes = size_ == 0 ? 0 : targets_.bytes.size() / size_;
    batch.count = ids.size();
    batch.ids.assign(ids.begin(), ids.end());
    batch.inputs.resize(ids.size() * elements * sizeof(float));
    batch.targets.resize(ids.size() * target_bytes);
    auto* const out = reinterpret_cast<float*>(batch.inputs.data());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        check_id(ids[i], size_);
        conversion_.convert(inputs_.bytes.data() + ids[i] * stride, out + i * elements);
        std::copy_n(targets_.bytes.data() + ids[i] * target_bytes, target_bytes,
                    batch.targets.data() + i * target_bytes);
    }
}

}  // namespace mastic::data
