// mlp, lenet and vgg-like: layers in a row.
#include <torch/torch.h>

#include <mastic/core/error.hpp>
#include <mastic/model/blocked_layout.hpp>
#include <mastic/model/networks.hpp>

namespace mastic::model {

namespace nn = torch::nn;

namespace {

nn::Conv2d convolution_3x3(std::int64_t from, std::int64_t to, std::int64_t padding) {
    return nn::Conv2d(nn::Conv2dOptions(from, to, 3).padding(padding));
}

torch::Tensor halve(const torch::Tensor& images) {
    return torch::max_pool2d(images, {2, 2}, {2, 2});
}

// Fully connected layers with ReLU and dropout between them.
class Dense : public nn::Module {
  public:
    Dense(const std::vector<std::int64_t>& sizes, double dropout) : dropout_(dropout) {
        for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
            layers_.push_back(register_module(std::to_string(i), nn::Linear(sizes[i], sizes[i + 1])));
        }
    }

    // (B, sizes.front()) -> (B, sizes.back())
    torch::Tensor forward(torch::Tensor x) {
        for (std::size_t i = 0; i + 1 < layers_.size(); ++i) {
            x = layers_[i](x).relu_();
            if (dropout_ > 0.0) {
                x = torch::dropout(x, dropout_, is_training());
            }
        }
        return layers_.back()(x);
    }

  private:
    double dropout_;
    std::vector<nn::Linear> layers_;
};

class Mlp : public Network {
  public:
    Mlp(const std::vector<std::int64_t>& sizes, double dropout)
        : layers_(register_module("layers", std::make_shared<Dense>(sizes, dropout))) {}

    torch::Tensor forward(torch::Tensor input) override { return layers_->forward(input.flatten(1)); }

  private:
    std::shared_ptr<Dense> layers_;
};

class LeNet : public Network {
  public:
    explicit LeNet(const InputSpec& input)
        : conv1_(register_module("conv1", convolution_3x3(input.shape[0], 32, 0))),
          conv2_(register_module("conv2", convolution_3x3(32, 64, 0))),
          fc1_(register_module("fc1", nn::Linear(64 * pooled(input.shape[1]) * pooled(input.shape[2]), 128))),
          fc2_(register_module("fc2", nn::Linear(128, input.outputs))) {}

    torch::Tensor forward(torch::Tensor input) override {
        auto x = conv1_(to_blocked(input)).relu_();
        x = halve(conv2_(x).relu_());
        return fc2_(fc1_(to_plain(x).flatten(1)).relu_());
    }

  private:
    // Each convolution without padding takes two pixels.
    static std::int64_t pooled(std::int64_t extent) { return (extent - 4) / 2; }

    nn::Conv2d conv1_, conv2_;
    nn::Linear fc1_, fc2_;
};

class VggLike : public Network {
  public:
    VggLike(const InputSpec& input, std::int64_t width, double dropout) {
        const std::int64_t channels[] = {input.shape[0], 64, 64, 128, 128, 256, 256};
        for (std::size_t i = 0; i + 1 < std::size(channels); ++i) {
            features_.push_back(register_module("conv" + std::to_string(i + 1),
                                                convolution_3x3(channels[i], channels[i + 1], 1)));
        }
        const std::int64_t features = 256 * (input.shape[1] / 8) * (input.shape[2] / 8);
        classifier_ = register_module(
            "classifier", std::make_shared<Dense>(
                              std::vector<std::int64_t>{features, width, width, input.outputs}, dropout));
        // He et al. 2015: without normalisation layers, torch's default would shrink the signal at each of nine layers.
        for (torch::Tensor& parameter : parameters()) {
            if (parameter.dim() > 1) {
                nn::init::kaiming_normal_(parameter, 0.0, torch::kFanIn, torch::kReLU);
            } else {
                nn::init::zeros_(parameter);
            }
        }
    }

    torch::Tensor forward(torch::Tensor input) override {
        auto x = to_blocked(input);
        for (std::size_t i = 0; i < features_.size(); ++i) {
            x = features_[i](x).relu_();
            x = i % 2 == 1 ? halve(x) : x;
        }
        return classifier_->forward(to_plain(x).flatten(1));
    }

  private:
    std::vector<nn::Conv2d> features_;
    std::shared_ptr<Dense> classifier_;
};

}  // namespace

std::shared_ptr<Network> create_mlp(const ModelOptions& options, const InputSpec& input) {
    if (input.tokens || input.shape.empty()) {
        throw Error(ExitCode::usage,
                    "mlp needs numbers as input; the data has " + std::string(input.tokens ? "tokens " : "") +
                        shape_text(input.shape),
                    "use model.name = \"transformer\" for tokens");
    }
    require_probability(options.dropout);
    std::vector<std::int64_t> sizes = {c10::multiply_integers(input.shape)};
    for (const std::int64_t size : options.hidden) {
        if (size < 1) {
            throw Error(ExitCode::usage,
                        "model.hidden must hold positive sizes, not " + std::to_string(size));
        }
        sizes.push_back(size);
    }
    sizes.push_back(input.outputs);
    return std::make_shared<Mlp>(sizes, options.dropout);
}

std::shared_ptr<Network> create_lenet(const ModelOptions&, const InputSpec& input) {
    require_images("lenet", input, 6);
    return std::make_shared<LeNet>(input);
}

std::shared_ptr<Network> create_vgg(const ModelOptions& options, const InputSpec& input) {
    require_images("vgg-like", input, 8);
    require_probability(options.dropout);
    return std::make_shared<VggLike>(input, positive_or(options.width, 4096, "model.width"), options.dropout);
}

}  // namespace mastic::model
