#include <mastic/data/token_dataset.hpp>

#include <algorithm>
#include <cstring>

#include <mastic/core/error.hpp>
#include <mastic/data/array_dataset.hpp>
#include <mastic/data/element.hpp>

namespace mastic::data {

namespace {

constexpr std::int64_t largest_vocabulary = std::int64_t{1} << 31;

void copy_tokens(const Array& tokens, std::uint64_t first, std::size_t count, std::int64_t* out) {
    visit_integer_type(tokens.type, "tokens", [&](auto tag) {
        using T = typename decltype(tag)::type;
        const std::byte* const from = tokens.bytes.data() + first * sizeof(T);
        for (std::size_t i = 0; i < count; ++i) {
            out[i] = static_cast<std::int64_t>(load_element<T>(from, i));
        }
    });
}

}  // namespace

TokenDataset::TokenDataset(Array tokens, std::int64_t sequence_length, std::int64_t vocabulary,
                           const std::string& source)
    : tokens_(std::move(tokens)), source_(source) {
    find_windows(sequence_length);
    layout_.input_type = DataType::int64;
    layout_.target_shape = layout_.input_shape;
    layout_.classes = find_vocabulary(vocabulary);
    describe();
}

void TokenDataset::find_windows(std::int64_t sequence_length) {
    const auto& shape = tokens_.shape;
    if (shape.size() == 2) {
        const auto length = shape[1] - 1;
        if (length < 1 || shape[0] == 0) {
            throw Error(ExitCode::data, source_ + ": holds no sequences, its shape is " + to_string(shape),
                        "rows need at least two tokens: each predicts the next");
        }
        size_ = static_cast<std::uint64_t>(shape[0]);
        stride_ = static_cast<std::uint64_t>(shape[1]);
        layout_.input_shape = {length};
        return;
    }
    if (shape.size() != 1) {
        throw Error(ExitCode::data,
                    source_ + ": tokens must have one or two dimensions, these are " + to_string(shape),
                    "store a stream (tokens) or windows (samples x tokens)");
    }
    if (sequence_length < 1) {
        throw Error(ExitCode::usage, "a stream of tokens needs data.sequence_length", "for example 128");
    }
    size_ = static_cast<std::uint64_t>(std::max<std::int64_t>(shape[0] - 1, 0) / sequence_length);
    stride_ = static_cast<std::uint64_t>(sequence_length);
    layout_.input_shape = {sequence_length};
    if (size_ == 0) {
        throw Error(ExitCode::data,
                    source_ + ": " + std::to_string(shape[0]) + " tokens are fewer than one sequence of " +
                        std::to_string(sequence_length) + " and its next token",
                    "use a longer file or a smaller data.sequence_length");
    }
}

std::int64_t TokenDataset::find_vocabulary(std::int64_t vocabulary) const {
    const std::int64_t limit = vocabulary > 0 ? vocabulary : largest_vocabulary;
    std::int64_t largest = 0;
    visit_integer_type(tokens_.type, source_, [&](auto tag) {
        using T = typename decltype(tag)::type;
        const std::uint64_t count = tokens_.bytes.size() / sizeof(T);
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto token = static_cast<std::int64_t>(load_element<T>(tokens_.bytes.data(), i));
            if (token < 0 || token >= limit) {
                const bool windows = tokens_.shape.size() == 2;
                throw Error(
                    ExitCode::data,
                    source_ + ": " +
                        (windows ? "sample " + std::to_string(i / stride_) : "token " + std::to_string(i)) +
                        " has the token " + std::to_string(token) + ", outside of 0.." +
                        std::to_string(limit - 1),
                    "raise data.classes, or repair the data");
            }
            largest = std::max(largest, token);
        }
    });
    return vocabulary > 0 ? vocabulary : largest + 1;
}

void TokenDataset::describe() {
    description_ = std::to_string(size_) + " sequences of " + std::to_string(layout_.input_shape[0]) +
                   " tokens, vocabulary " + std::to_string(layout_.classes) + ", from " + source_;
}

void TokenDataset::limit_to(std::uint64_t limit) {
    size_ = std::min(size_, limit);
    describe();
}

void TokenDataset::read(std::span<const std::uint64_t> ids, Batch& batch) const {
    const auto length = static_cast<std::size_t>(layout_.input_shape[0]);
    batch.count = ids.size();
    batch.ids.assign(ids.begin(), ids.end());
    batch.inputs.resize(ids.size() * length * sizeof(std::int64_t));
    batch.targets.resize(batch.inputs.size());
    auto* const inputs = reinterpret_cast<std::int64_t*>(batch.inputs.data());
    auto* const targets = reinterpret_cast<std::int64_t*>(batch.targets.data());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        check_id(ids[i], size_);
        copy_tokens(tokens_, ids[i] * stride_, length, inputs + i * length);
        copy_tokens(tokens_, ids[i] * stride_ + 1, length, targets + i * length);
    }
}

}  // namespace mastic::data
