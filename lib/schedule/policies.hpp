// The policies by name; see policy_kinds() for what they are.
#pragma once

#include <memory>

#include <mastic/schedule/policy.hpp>

namespace mastic::schedule {

std::unique_ptr<Policy> make_oracle(const PolicySettings& settings);
std::unique_ptr<Policy> make_none(const PolicySettings& settings);
std::unique_ptr<Policy> make_fixed(const PolicySettings& settings);
std::unique_ptr<Policy> make_equal_share(const PolicySettings& settings);
std::unique_ptr<Policy> make_greedy(const PolicySettings& settings);

// Liu, Kettimuthu, Papka, Foster, "BFTrainer: low-cost training of neural networks on unfillable supercomputer nodes",
// 2021.
std::unique_ptr<Policy> make_bftrainer(const PolicySettings& settings);
// Ma, Yan, Yang, Foster, Papka, Liu, Kettimuthu, "MalleTrain: deep neural network training on unfillable supercomputer
// nodes", 2024.
std::unique_ptr<Policy> make_malletrain(const PolicySettings& settings);
std::unique_ptr<Policy> make_mastic(const PolicySettings& settings);

}  // namespace mastic::schedule
