#include <mastic/data/input_conversion.hpp>

#include <mastic/core/error.hpp>
#include <mastic/data/array.hpp>
#include <mastic/data/element.hpp>

namespace mastic::data {

namespace {

// The value of every channel, from none, one for all, or one each.
std::vector<double> by_channel(const std::vector<double>& given, std::size_t channels, double otherwise,
                               const char* option) {
    if (given.size() == channels) {
        return given;
    }
    if (given.size() > 1) {
        throw Error(ExitCode::usage,
                    std::string(option) + " has " + std::to_string(given.size()) +
                        " values, the inputs have " + std::to_string(channels) + " channels",
                    "give one value, or one per channel");
    }
    return std::vector<double>(channels, given.empty() ? otherwise : given[0]);
}

}  // namespace

InputConversion::InputConversion(DataType stored, const Shape& sample_shape,
                                 const Normalization& normalization) {
    const auto total = static_cast<std::size_t>(element_count(sample_shape));
    const std::size_t channels = sample_shape.empty() ? 1 : static_cast<std::size_t>(sample_shape[0]);
    per_channel_ = channels == 0 ? 0 : total / channels;
    const auto mean = by_channel(normalization.mean, channels, 0.0, "data.mean");
    const auto stddev = by_channel(normalization.stddev, channels, 1.0, "data.stddev");
    const double unit = normalization.scale && stored == DataType::uint8 ? 1.0 / 255.0 : 1.0;
    for (std::size_t c = 0; c < channels; ++c) {
        if (!(stddev[c] > 0) || !std::isfinite(stddev[c]) || !std::isfinite(mean[c])) {
            throw Error(ExitCode::usage, "data.stddev must be positive, data.mean and data.stddev finite",
                        "compute both over the training inputs, after scaling to [0, 1]");
        }
        factor_.push_back(static_cast<float>(unit / stddev[c]));
        shift_.push_back(static_cast<float>(-mean[c] / stddev[c]));
    }
    convert_ = visit_element_type(
        stored, [](auto tag) -> Function { return &convert_as<typename decltype(tag)::type>; });
}

template <class T>
void InputConversion::convert_as(const InputConversion& self, const std::byte* sample, float* out) {
    if (self.per_channel_ == 1) {
        for (std::size_t i = 0; i < self.factor_.size(); ++i) {
            out[i] = static_cast<float>(load_element<T>(sample, i)) * self.factor_[i] + self.shift_[i];
        }
        return;
    }
    for (std::size_t c = 0; c < self.factor_.size(); ++c) {
        const float factor = self.factor_[c];
        const float shift = self.shift_[c];
        const std::byte* const from = sample + c * self.per_channel_ * sizeof(T);
        float* const to = out + c * self.per_channel_;
        for (std::size_t i = 0; i < self.per_channel_; ++i) {
            to[i] = static_cast<float>(load_element<T>(from, i)) * factor + shift;
        }
    }
}

}  // namespace mastic::data
