// A causal language model: Vaswani et al. 2017's encoder layers (normalisation after each sub-layer, ReLU) with learned
// positions and a mask. Layer names as in PyTorch's TransformerEncoder.
//
// Inside, activations are (T, B, d): queries, keys and values of all heads are then strided views of one projection,
// and the batched products need no copies.
#include <cmath>
#include <limits>

#include <torch/torch.h>

#include <mastic/core/error.hpp>
#include <mastic/model/networks.hpp>

namespace mastic::model {

namespace nn = torch::nn;

namespace {

// x + y; in the memory of y where that keeps the type. Under autocast y is bfloat16 and the sum must not be: the residual
// stream and the normalisations stay float32.
torch::Tensor add_residual(const torch::Tensor& x, torch::Tensor y) {
    return x.scalar_type() == y.scalar_type() ? y.add_(x) : x + y;
}

class SelfAttention : public nn::Module {
  public:
    SelfAttention(std::int64_t width, std::int64_t heads)
        : heads_(heads),
          in_weight_(register_parameter("in_proj_weight", torch::empty({3 * width, width}))),
          in_bias_(register_parameter("in_proj_bias", torch::zeros({3 * width}))),
          out_(register_module("out_proj", nn::Linear(width, width))) {
        nn::init::xavier_uniform_(in_weight_);
        nn::init::zeros_(out_->bias);
    }

    // x (T, B, d), mask (T, T) added to the scores -> (T, B, d)
    torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& mask, double dropout) {
        const std::int64_t length = x.size(0), width = x.size(2), head_width = width / heads_;
        const auto projected = torch::linear(x, in_weight_, in_bias_).chunk(3, -1);
        // (T, B, d) -> (B * heads, T, d / heads), without a copy
        const auto by_head = [&](const torch::Tensor& t) {
            return t.reshape({length, -1, head_width}).transpose(0, 1);
        };
        const double scale = 1.0 / std::sqrt(static_cast<double>(head_width));
        auto weights =
            torch::baddbmm(mask, by_head(projected[0]), by_head(projected[1]).transpose(1, 2), 1, scale);
        weights = torch::softmax(weights, -1);
        if (dropout > 0.0) {
            weights = torch::dropout(weights, dropout, is_training());
        }
        const auto mixed = torch::bmm(weights, by_head(projected[2]));
        return out_(mixed.transpose(0, 1).reshape({length, -1, width}));
    }

  private:
    std::int64_t heads_;
    torch::Tensor in_weight_, in_bias_;
    nn::Linear out_;
};

class Layer : public nn::Module {
  public:
    Layer(std::int64_t width, std::int64_t heads, double dropout)
        : dropout_(dropout),
          attention_(register_module("self_attn", std::make_shared<SelfAttention>(width, heads))),
          linear1_(register_module("linear1", nn::Linear(width, 4 * width))),
          linear2_(register_module("linear2", nn::Linear(4 * width, width))),
          norm1_(register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({width})))),
          norm2_(register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({width})))) {}

    torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& mask) {
        const auto h = norm1_(add_residual(x, drop(attention_->forward(x, mask, dropout_))));
        return norm2_(add_residual(h, drop(linear2_(drop(linear1_(h).relu_())))));
    }

  private:
    torch::Tensor drop(const torch::Tensor& x) const {
        return dropout_ > 0.0 ? torch::dropout(x, dropout_, is_training()) : x;
    }

    double dropout_;
    std::shared_ptr<SelfAttention> attention_;
    nn::Linear linear1_, linear2_;
    nn::LayerNorm norm1_, norm2_;
};

struct TransformerShape {
    std::int64_t vocabulary, length, width, depth, heads;
};

class Transformer : public Network {
  public:
    Transformer(const TransformerShape& shape, double dropout)
        : length_(shape.length),
          embedding_(register_module("embedding", nn::Embedding(shape.vocabulary, shape.width))),
          position_(register_parameter("position", torch::randn({shape.length, 1, shape.width}) * 0.02)) {
        auto layers = register_module("layers", std::make_shared<nn::Module>());
        for (std::int64_t i = 0; i < shape.depth; ++i) {
            layers_.push_back(layers->register_module(
                std::to_string(i), std::make_shared<Layer>(shape.width, shape.heads, dropout)));
        }
        output_ = register_module("output", nn::Linear(shape.width, shape.vocabulary));
    }

    // (B, T) with T at most the length it was made for -> (B, T, vocabulary)
    torch::Tensor forward(torch::Tensor input) override {
        const std::int64_t length = input.size(1);
        const auto positions = length == length_ ? position_ : position_.narrow(0, 0, length);
        auto x = embedding_(input.t()).add_(positions);
        const auto mask =
            torch::full({length, length}, -std::numeric_limits<double>::infinity(), position_.options())
                .triu(1);
        for (const auto& layer : layers_) {
            x = layer->forward(x, mask);
        }
        return output_(x).transpose(0, 1);
    }

  private:
    std::int64_t length_;
    nn::Embedding embedding_;
    torch::Tensor position_;
    std::vector<std::shared_ptr<Layer>> layers_;
    nn::Linear output_{nullptr};
};

}  // namespace

std::shared_ptr<Network> create_transformer(const ModelOptions& options, const InputSpec& input) {
    if (!input.tokens || input.shape.size() != 1 || input.shape[0] < 1) {
        throw Error(ExitCode::usage,
                    "transformer needs token sequences (T); the data has " +
                        std::string(input.tokens ? "tokens " : "numbers ") + shape_text(input.shape),
                    "use another model.name, for example \"mlp\"");
    }
    require_probability(options.dropout);
    const TransformerShape shape = {.vocabulary = input.outputs,
                                    .length = input.shape[0],
                                    .width = positive_or(options.width, 256, "model.width"),
                                    .depth = positive_or(options.depth, 4, "model.depth"),
                                    .heads = positive_or(options.heads, 8, "model.heads")};
    if (shape.width % shape.heads != 0) {
        throw Error(ExitCode::usage, "model.width " + std::to_string(shape.width) +
                                         " must be a multiple of model.heads " + std::to_string(shape.heads));
    }
    return std::make_shared<Transformer>(shape, options.dropout);
}

}  // namespace mastic::model
