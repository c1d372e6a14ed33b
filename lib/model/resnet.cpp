// resnet18 for small images: He et al. 2016, section 4.2's stem (one 3x3 convolution, no pooling) with the four stages
// of two basic blocks of their ImageNet network. Names as in torchvision, so that its files fit.
#include <torch/torch.h>

#include <mastic/model/blocked_layout.hpp>
#include <mastic/model/networks.hpp>

namespace mastic::model {

namespace nn = torch::nn;

namespace {

nn::Conv2d convolution(std::int64_t from, std::int64_t to, std::int64_t kernel, std::int64_t stride) {
    return nn::Conv2d(nn::Conv2dOptions(from, to, kernel).stride(stride).padding(kernel / 2).bias(false));
}

class BasicBlock : public nn::Module {
  public:
    BasicBlock(std::int64_t from, std::int64_t to, std::int64_t stride)
        : conv1_(register_module("conv1", convolution(from, to, 3, stride))),
          bn1_(register_module("bn1", nn::BatchNorm2d(to))),
          conv2_(register_module("conv2", convolution(to, to, 3, 1))),
          bn2_(register_module("bn2", nn::BatchNorm2d(to))) {
        if (stride != 1 || from != to) {
            downsample_ = register_module(
                "downsample", nn::Sequential(convolution(from, to, 1, stride), nn::BatchNorm2d(to)));
        }
    }

    torch::Tensor forward(const torch::Tensor& x) {
        auto y = bn1_(conv1_(x)).relu_();
        y = bn2_(conv2_(y));
        return y.add_(downsample_.is_empty() ? x : downsample_->forward(x)).relu_();
    }

  private:
    nn::Conv2d conv1_;
    nn::BatchNorm2d bn1_;
    nn::Conv2d conv2_;
    nn::BatchNorm2d bn2_;
    nn::Sequential downsample_{nullptr};
};

class ResNet18 : public Network {
  public:
    ResNet18(const InputSpec& input, std::int64_t width)
        : conv1_(register_module("conv1", convolution(input.shape[0], width, 3, 1))),
          bn1_(register_module("bn1", nn::BatchNorm2d(width))) {
        std::int64_t from = width;
        for (int stage = 0; stage < 4; ++stage) {
            auto layer = register_module("layer" + std::to_string(stage + 1), std::make_shared<nn::Module>());
            const std::int64_t to = width << stage;
            for (int i = 0; i < 2; ++i) {
                const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
                blocks_.push_back(layer->register_module(std::to_string(i),
                                                         std::make_shared<BasicBlock>(from, to, stride)));
                from = to;
            }
        }
        fc_ = register_module("fc", nn::Linear(from, input.outputs));
    }

    torch::Tensor forward(torch::Tensor input) override {
        auto x = bn1_(conv1_(to_blocked(input))).relu_();
        for (const auto& block : blocks_) {
            x = block->forward(x);
        }
        return fc_(to_plain(torch::adaptive_avg_pool2d(x, {1, 1})).flatten(1));
    }

  private:
    nn::Conv2d conv1_;
    nn::BatchNorm2d bn1_;
    std::vector<std::shared_ptr<BasicBlock>> blocks_;
    nn::Linear fc_{nullptr};
};

}  // namespace

std::shared_ptr<Network> create_resnet18(const ModelOptions& options, const InputSpec& input) {
    require_images("resnet18", input, 8);
    return std::make_shared<ResNet18>(input, positive_or(options.width, 64, "model.width"));
}

}  // namespace mastic::model
