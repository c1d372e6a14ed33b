// Windows of tokens for next-token prediction: inputs are T tokens, targets the T tokens that follow each of
// them.
#pragma once

#include <mastic/data/array.hpp>

namespace mastic::data {

class TokenDataset final : public Dataset {
  public:
    // `tokens` are integers. Two dimensions (N, T+1): each row is a window. One
    // dimension: a stream, cut so that window k holds tokens k*T .. k*T+T; neighbours share one token, so
    // that every token but the first is predicted once, and a rest shorter than a window is left out.
    // `vocabulary` 0: the largest token + 1. Error(data) names the sample or position of a token outside of
    // it.
    TokenDataset(Array tokens, std::int64_t sequence_length, std::int64_t vocabulary,
                 const std::string& source);

    std::uint64_t size() const override { return size_; }
    const SampleLayout& layout() const override { return layout_; }
    void read(std::span<const std::uint64_t> ids, Batch& batch) const override;
    std::string description() const override { return description_; }
    // Keeps only the first `limit` windows.
    void limit_to(std::uint64_t limit);

  private:
    void find_windows(std::int64_t sequence_length);
    std::int64_t find_vocabulary(std::int64_t vocabulary) const;
    void describe();

    Array tokens_;
    SampleLayout layout_;
    std::string source_;
    std::string description_;
    std::uint64_t size_ = 0;
    std::uint64_t stride_ = 0;  // tokens from one window to the next
};

}  // namespace mastic::data
