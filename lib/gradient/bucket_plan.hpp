// Which gradients travel together. Parameters are packed into buckets in backward order (the reverse of their
// registration), so that the first bucket is full while most of the backward pass is still to come.
//
// Method: gradient bucketing of PyTorch DistributedDataParallel (Li et al., VLDB 2020). The order is static, so every
// rank derives the same buckets and the order of starting them needs no agreement at run time.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <mastic/core/bytes.hpp>
#include <mastic/core/data_type.hpp>

namespace mastic::gradient {

struct ParameterInfo {
    std::string name;
    std::size_t count = 0;  // elements
    DataType type = DataType::float32;
};

struct BucketSlot {
    std::size_t parameter = 0;  // index into the parameters given to plan_buckets
    std::size_t offset = 0;     // elements from the start of the bucket
};

struct Bucket {
    DataType type = DataType::float32;
    std::size_t count = 0;          // elements, padding included
    std::vector<BucketSlot> slots;  // in backward order
};

struct BucketOptions {
    // A bucket is closed before it would exceed this; a larger parameter stands alone. Small enough that the last bucket,
    // which nothing hides, is small: resnet18 on 4 nodes at 1 Gbit/s exposed 167 ms of communication a step with 4 MiB, 394
    // with PyTorch's 25. In shared memory both take the same time.
    Bytes capacity{4u << 20};
    Bytes first{1u << 20};      // capacity of the first bucket: small, to start communication early
    std::size_t alignment = 64;  // bytes; each slot starts at a multiple of it (vector loads)
};

// `parameters` in registration order. Parameters of different type never share a bucket.
std::vector<Bucket> plan_buckets(std::span<const ParameterInfo> parameters, const BucketOptions& options = {});

}  // namespace mastic::gradient
