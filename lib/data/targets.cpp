#include <mastic/data/targets.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <mastic/core/error.hpp>
#include <mastic/data/element.hpp>

namespace mastic::data {

namespace {

constexpr double largest_class = 1 << 30;

template <class T>
Array array_of(DataType type, Shape shape, const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return make_array(type, std::move(shape), {bytes.begin(), bytes.end()});
}

std::vector<double> numbers_of(const Array& stored) {
    return visit_element_type(stored.type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        std::vector<double> numbers(stored.bytes.size() / sizeof(T));
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            numbers[i] = static_cast<double>(load_element<T>(stored.bytes.data(), i));
        }
        return numbers;
    });
}

std::string shortest(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.10g", number);
    return text;
}

}  // namespace

Array class_targets(const Array& stored, std::int64_t& classes, const std::string& source) {
    if (element_count(stored.sample_shape()) != 1) {
        throw Error(ExitCode::data,
                    source + ": targets of shape " + to_string(stored.shape) +
                        ", but classes need one number per sample",
                    "store class indices (not one-hot rows), or set data.task = \"regress\"");
    }
    const double limit = classes > 0 ? static_cast<double>(classes) : largest_class;
    const auto numbers = numbers_of(stored);
    std::vector<std::int64_t> labels(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (!(numbers[i] >= 0 && numbers[i] < limit) || numbers[i] != std::floor(numbers[i])) {
            throw Error(ExitCode::data,
                        source + ": sample " + std::to_string(i) + " has the label " + shortest(numbers[i]) +
                            ", not a whole number in 0.." + shortest(limit - 1),
                        "number the classes from 0; check data.classes and the label column");
        }
        labels[i] = static_cast<std::int64_t>(numbers[i]);
    }
    if (classes == 0 && !labels.empty()) {
        classes = *std::max_element(labels.begin(), labels.end()) + 1;
    }
    return array_of(DataType::int64, {stored.samples()}, labels);
}

Array value_targets(const Array& stored, const std::string& source) {
    const auto numbers = numbers_of(stored);
    const auto per_sample = static_cast<std::size_t>(element_count(stored.sample_shape()));
    std::vector<float> values(numbers.begin(), numbers.end());
    const auto bad =
        std::find_if_not(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
    if (bad != values.end()) {
        throw Error(ExitCode::data,
                    source + ": the target of sample " +
                        std::to_string(static_cast<std::size_t>(bad - values.begin()) / per_sample) +
                        " is not finite",
                    "remove or repair this sample");
    }
    auto shape = stored.shape;
    if (shape.size() == 1) {
        shape.push_back(1);
    }
    return array_of(DataType::float32, std::move(shape), values);
}

}  // namespace mastic::data
