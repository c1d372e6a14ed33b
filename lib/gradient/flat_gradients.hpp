// The gradients of all parameters as views in a few flat buckets.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <torch/types.h>

#include <mastic/gradient/bucket_plan.hpp>
#include <mastic/model/network.hpp>

namespace mastic::gradient {

// The buckets of these parameters: the same for all processes that have the same parameters and options.
std::vector<Bucket> plan_buckets_of(const model::NamedTensors& parameters, const BucketOptions& options);

class FlatGradients {
  public:
    using Allocate = std::function<std::shared_ptr<void>(std::size_t bytes)>;

    // Where the parameters are: in memory of `allocate`, or on their device.
    FlatGradients(const model::NamedTensors& parameters, std::span<const Bucket> buckets, const Allocate& allocate);

    const std::vector<torch::Tensor>& flats() const { return flats_; }  // (count) each, by bucket
    const torch::Tensor& view(std::size_t parameter) const { return views_[parameter]; }  // shaped like the parameter

    std::uint64_t bytes() const;

  private:
    std::vector<std::shared_ptr<void>> memory_;
    std::vector<torch::Tensor> flats_;
    std::vector<torch::Tensor> views_;  // by parameter
};

}  // namespace mastic::gradient
