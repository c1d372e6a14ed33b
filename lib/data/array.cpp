#include <mastic/data/array.hpp>

#include <mastic/core/error.hpp>

namespace mastic::data {

std::int64_t element_count(const Shape& shape) {
    std::int64_t count = 1;
    for (const auto extent : shape) {
        count *= extent;
    }
    return count;
}

Array make_array(DataType type, Shape shape, std::vector<std::byte> bytes) {
    auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    return {type, std::move(shape), std::span(*owner), owner};
}

std::string to_string(const Shape& shape) {
    std::string text;
    for (const auto extent : shape) {
        text += text.empty() ? "" : "x";
        text += std::to_string(extent);
    }
    return text.empty() ? "scalar" : text;
}

std::uint64_t byte_count(const Shape& shape, std::size_t element_size, const std::string& source) {
    constexpr std::uint64_t largest = std::uint64_t{1} << 62;
    std::uint64_t bytes = element_size;
    bool fits = true;
    for (const auto extent : shape) {
        if (extent < 0) {
            throw Error(ExitCode::data,
                        source + ": its header has a negative dimension (" + to_string(shape) + ")",
                        "the file is damaged: fetch or write it again");
        }
        const bool overflows = __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes);
        fits = fits && !overflows && bytes <= largest;
    }
    if (!fits) {
        throw Error(ExitCode::data,
                    source + ": its header promises " + to_string(shape) + " elements, more than 2^62 bytes",
                    "the file is damaged: fetch or write it again");
    }
    return bytes;
}

}  // namespace mastic::data
