#include <mastic/gradient/flat_gradients.hpp>

#include <torch/torch.h>

#include <mastic/model/tensor_types.hpp>

namespace mastic::gradient {

std::vector<Bucket> plan_buckets_of(const model::NamedTensors& parameters, const BucketOptions& options) {
    std::vector<ParameterInfo> infos;
    for (const auto& [name, tensor] : parameters) {
        infos.push_back({name, static_cast<std::size_t>(tensor.numel()), model::data_type_of(tensor.scalar_type())});
    }
    return plan_buckets(infos, options);
}

FlatGradients::FlatGradients(const model::NamedTensors& parameters, std::span<const Bucket> buckets,
                             const Allocate& allocate)
    : views_(parameters.size()) {
    for (const Bucket& bucket : buckets) {
        const torch::Tensor& first = parameters[bucket.slots.front().parameter].second;
        const auto count = static_cast<std::int64_t>(bucket.count);
        if (first.device().is_cpu()) {
            memory_.push_back(allocate(bucket.count * size_of(bucket.type)));
            flats_.push_back(torch::from_blob(memory_.back().get(), {count}, torch::TensorOptions().dtype(first.scalar_type())));
        } else {
            flats_.push_back(torch::zeros({count}, first.options().requires_grad(false)));
        }
        for (const BucketSlot& slot : bucket.slots) {
            const torch::Tensor& parameter = parameters[slot.parameter].second;
            views_[slot.parameter] =
                flats_.back().narrow(0, static_cast<std::int64_t>(slot.offset), parameter.numel()).view(parameter.sizes());
        }
    }
}

std::uint64_t FlatGradients::bytes() const {
    std::uint64_t bytes = 0;
    for (const torch::Tensor& flat : flats_) {
        bytes += flat.nbytes();
    }
    return bytes;
}

}  // namespace mastic::gradient
