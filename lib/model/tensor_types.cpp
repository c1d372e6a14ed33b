#include <mastic/model/tensor_types.hpp>

#include <torch/torch.h>

#include <array>
#include <utility>

#include <mastic/core/error.hpp>

namespace mastic::model {
namespace {

constexpr std::array<std::pair<DataType, torch::ScalarType>, 10> type_pairs = {{
    {DataType::float32, torch::kFloat32},
    {DataType::float64, torch::kFloat64},
    {DataType::float16, torch::kFloat16},
    {DataType::bfloat16, torch::kBFloat16},
    {DataType::int8, torch::kInt8},
    {DataType::uint8, torch::kUInt8},
    {DataType::int16, torch::kInt16},
    {DataType::int32, torch::kInt32},
    {DataType::int64, torch::kInt64},
    {DataType::boolean, torch::kBool},
}};

}  // namespace

DataType data_type_of(torch::ScalarType type) {
    for (const auto& [ours, theirs] : type_pairs) {
        if (theirs == type) {
            return ours;
        }
    }
    throw Error(ExitCode::usage,
                std::string("tensors of type ") + torch::toString(type) + " are not supported");
}

torch::ScalarType scalar_type_of(DataType type) {
    for (const auto& [ours, theirs] : type_pairs) {
        if (ours == type) {
            return theirs;
        }
    }
    throw Error(ExitCode::usage, std::string("type ") + to_string(type) + " has no tensors");
}

std::span<std::byte> bytes_of(const torch::Tensor& tensor) {
    TORCH_CHECK(tensor.is_contiguous() && tensor.device().is_cpu(), "bytes_of needs a contiguous CPU tensor");
    return {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()};
}

}  // namespace mastic::model
