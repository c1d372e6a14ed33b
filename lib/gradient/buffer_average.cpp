#include <mastic/gradient/buffer_average.hpp>

#include <torch/torch.h>

#include <mastic/gradient/buffer_view.hpp>

namespace mastic::gradient {

BufferAverage::BufferAverage(const std::vector<torch::Tensor>& buffers, comm::Group& group) : group_(group) {
    std::int64_t count = 0;
    for (const torch::Tensor& buffer : buffers) {
        if (buffer.is_floating_point() && group.size() > 1) {
            buffers_.push_back(buffer);
            count += buffer.numel();
        }
    }
    flat_ = torch::zeros({count}, buffers_.empty() ? torch::TensorOptions(torch::kFloat64)
                                                   : buffers_.front().options().dtype(torch::kFloat64).requires_grad(false));
    std::int64_t offset = 0;
    for (const torch::Tensor& buffer : buffers_) {
        slots_.push_back(flat_.narrow(0, offset, buffer.numel()).view(buffer.sizes()));
        offset += buffer.numel();
    }
}

void BufferAverage::start(double weight) {
    if (buffers_.empty()) {
        return;
    }
    torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        slots_[i].copy_(buffers_[i]).mul_(weight);
    }
    request_ = group_.start_allreduce(buffer_view(flat_, DataType::float64), comm::ReduceOp::sum,
                                      {.name = "buffers", .owner = std::make_shared<torch::Tensor>(flat_)});
}

void BufferAverage::finish() {
    if (buffers_.empty()) {
        return;
    }
    request_.wait();
    torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        buffers_[i].copy_(slots_[i]);
    }
}

}  // namespace mastic::gradient
