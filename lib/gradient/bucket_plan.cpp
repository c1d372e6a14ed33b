#include <mastic/gradient/bucket_plan.hpp>

namespace mastic::gradient {

std::vector<Bucket> plan_buckets(std::span<const ParameterInfo> parameters, const BucketOptions& options) {
    std::vector<Bucket> buckets;
    for (std::size_t i = parameters.size(); i-- > 0;) {
        const ParameterInfo& parameter = parameters[i];
        const std::size_t element = size_of(parameter.type);
        const std::size_t step = std::max<std::size_t>(1, options.alignment / element);
        const std::size_t padded = (parameter.count + step - 1) / step * step;
        const Bytes capacity = buckets.size() == 1 ? options.first : options.capacity;
        const bool fits = !buckets.empty() && buckets.back().type == parameter.type &&
                          (buckets.back().count + padded) * element <= capacity.count;
        if (!fits) {
            buckets.push_back({parameter.type, 0, {}});
        }
        Bucket& bucket = buckets.back();
        bucket.slots.push_back({i, bucket.count});
        bucket.count += padded;
    }
    return buckets;
}

}  // namespace mastic::gradient
