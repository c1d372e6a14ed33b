#include <mastic/data/synthetic_dataset.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include <mastic/core/error.hpp>
#include <mastic/core/random.hpp>
#include <mastic/data/array.hpp>
#include <mastic/data/array_dataset.hpp>

namespace mastic::data {

namespace {

constexpr std::size_t noise_table_size = 1 << 16;
enum Stream : std::uint64_t { noise_stream = 1, prototype_stream, sample_stream };

// Box-Muller.
std::vector<float> normal_numbers(std::size_t count, CounterRandom random) {
    std::vector<float> numbers(count);
    for (auto& number : numbers) {
        const double radius = std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
        number = static_cast<float>(radius * std::cos(2.0 * std::numbers::pi * random.uniform()));
    }
    return numbers;
}

class SyntheticDataset : public Dataset {
  public:
    explicit SyntheticDataset(const SyntheticOptions& options)
        : options_(options),
          input_count_(static_cast<std::size_t>(element_count(options.layout.input_shape))),
          target_count_(static_cast<std::size_t>(element_count(options.layout.target_shape))) {}

    std::uint64_t size() const override { return options_.size; }
    const SampleLayout& layout() const override { return options_.layout; }
    std::string description() const override {
        return std::to_string(size()) + " synthetic samples " + to_string(layout().input_shape) + ", seed " +
               std::to_string(options_.seed);
    }

    void read(std::span<const std::uint64_t> ids, Batch& batch) const override {
        const std::size_t input_bytes = input_count_ * size_of(layout().input_type);
        const std::size_t target_bytes = target_count_ * size_of(layout().target_type);
        batch.count = ids.size();
        batch.ids.assign(ids.begin(), ids.end());
        batch.inputs.resize(ids.size() * input_bytes);
        batch.targets.resize(ids.size() * target_bytes);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            check_id(ids[i], size());
            CounterRandom random(CounterRandom::derive(seed_of(sample_stream), options_.first_id + ids[i]));
            fill(random, batch.inputs.data() + i * input_bytes, batch.targets.data() + i * target_bytes);
        }
    }

  protected:
    virtual void fill(CounterRandom& random, std::byte* inputs, std::byte* targets) const = 0;

    std::uint64_t seed_of(Stream stream) const { return CounterRandom::derive(options_.seed, stream); }

    SyntheticOptions options_;
    std::size_t input_count_;
    std::size_t target_count_;
};

class SyntheticValues : public SyntheticDataset {
  public:
    explicit SyntheticValues(const SyntheticOptions& options)
        : SyntheticDataset(options),
          noise_(normal_numbers(noise_table_size, CounterRandom(seed_of(noise_stream)))) {}

  protected:
    // A random stretch of one table of noise: as fast as a copy.
    void add_noise(CounterRandom& random, float scale, float* out) const {
        std::size_t at = random.below(noise_table_size);
        for (std::size_t i = 0; i < input_count_; ++i) {
            out[i] += scale * noise_[at];
            at = (at + 1) % noise_table_size;
        }
    }

  private:
    std::vector<float> noise_;
};

class SyntheticClasses final : public SyntheticValues {
  public:
    explicit SyntheticClasses(const SyntheticOptions& options)
        : SyntheticValues(options),
          prototypes_(normal_numbers(static_cast<std::size_t>(options.layout.classes) * input_count_,
                                     CounterRandom(seed_of(prototype_stream)))) {}

  private:
    void fill(CounterRandom& random, std::byte* inputs, std::byte* targets) const override {
        const auto label =
            static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(layout().classes)));
        std::memcpy(targets, &label, sizeof label);
        auto* const out = reinterpret_cast<float*>(inputs);
        std::copy_n(prototypes_.data() + static_cast<std::size_t>(label) * input_count_, input_count_, out);
        add_noise(random, options_.noise, out);
    }

    std::vector<float> prototypes_;  // (classes, inputs)
};

class SyntheticRegression final : public SyntheticValues {
  public:
    explicit SyntheticRegression(const SyntheticOptions& options)
        : SyntheticValues(options),
          weights_(normal_numbers(target_count_ * input_count_, CounterRandom(seed_of(prototype_stream)))) {}

  private:
    void fill(CounterRandom& random, std::byte* inputs, std::byte* targets) const override {
        auto* const in = reinterpret_cast<float*>(inputs);
        auto* const out = reinterpret_cast<float*>(targets);
        std::fill_n(in, input_count_, 0.0f);
        add_noise(random, 1.0f, in);
        const float unit = 1.0f / std::sqrt(static_cast<float>(input_count_));
        for (std::size_t t = 0; t < target_count_; ++t) {
            float sum = 0;
            for (std::size_t i = 0; i < input_count_; ++i) {
                sum += weights_[t * input_count_ + i] * in[i];
            }
            out[t] = sum * unit;
        }
    }

    std::vector<float> weights_;  // (targets, inputs)
};

class SyntheticTokens final : public SyntheticDataset {
  public:
    explicit SyntheticTokens(const SyntheticOptions& options)
        : SyntheticDataset(options),
          successor_(random_permutation(static_cast<std::uint64_t>(options.layout.classes),
                                        CounterRandom(seed_of(prototype_stream)))) {}

  private:
    void fill(CounterRandom& random, std::byte* inputs, std::byte* targets) const override {
        auto* const in = reinterpret_cast<std::int64_t*>(inputs);
        auto* const out = reinterpret_cast<std::int64_t*>(targets);
        std::uint64_t token = random.below(successor_.size());
        for (std::size_t i = 0; i < input_count_; ++i) {
            in[i] = static_cast<std::int64_t>(token);
            token = random.uniform() < 0.9 ? successor_[token] : random.below(successor_.size());
            out[i] = static_cast<std::int64_t>(token);
        }
    }

    std::vector<std::uint64_t> successor_;
};

}  // namespace

std::unique_ptr<Dataset> make_synthetic_dataset(const SyntheticOptions& options) {
    const auto& layout = options.layout;
    if (layout.input_type == DataType::int64 && layout.target_type == DataType::int64 && layout.classes > 0 &&
        layout.input_shape == layout.target_shape) {
        return std::make_unique<SyntheticTokens>(options);
    }
    if (layout.input_type == DataType::float32 && layout.target_type == DataType::int64 &&
        layout.classes > 0 && layout.target_shape.empty()) {
        return std::make_unique<SyntheticClasses>(options);
    }
    if (layout.input_type == DataType::float32 && layout.target_type == DataType::float32 &&
        layout.classes == 0) {
        return std::make_unique<SyntheticRegression>(options);
    }
    throw Error(ExitCode::usage, "no synthetic data has this layout",
                "use float32 inputs with classes, float32 inputs with float32 targets, or tokens");
}

}  // namespace mastic::data
