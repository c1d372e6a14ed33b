#include <mastic/engine/batch_tensors.hpp>

#include <torch/torch.h>

#include <mastic/model/loss.hpp>
#include <mastic/model/tensor_types.hpp>

namespace mastic::engine {
namespace {

torch::Tensor view(const std::vector<std::byte>& bytes, std::size_t count, const data::Shape& shape, DataType type) {
    std::vector<int64_t> sizes{static_cast<int64_t>(count)};
    sizes.insert(sizes.end(), shape.begin(), shape.end());
    // torch knows no read-only tensors.
    return torch::from_blob(const_cast<std::byte*>(bytes.data()), sizes, torch::TensorOptions().dtype(model::scalar_type_of(type)));
}

}  // namespace

torch::Tensor network_input(const torch::Tensor& inputs, const std::string& precision) {
    return precision == "float64" && inputs.is_floating_point() ? inputs.to(torch::kFloat64) : inputs;
}

BatchTensors on_device(const BatchTensors& batch, torch::Device device, std::int64_t classes) {
    if (device.is_cpu()) {
        return batch;
    }
    if (classes > 0) {
        model::check_classes(batch.targets, classes);
    }
    return {batch.inputs.to(device), batch.targets.to(device)};
}

BatchTensors tensors_of(const data::Batch& batch, const data::SampleLayout& layout) {
    return {view(batch.inputs, batch.count, layout.input_shape, layout.input_type),
            view(batch.targets, batch.count, layout.target_shape, layout.target_type)};
}

}  // namespace mastic::engine
