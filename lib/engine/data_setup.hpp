// From the options of a training to its data sets and what the network sees of them.
#pragma once

#include <memory>
#include <optional>

#include <mastic/data/augmentation.hpp>
#include <mastic/data/dataset.hpp>
#include <mastic/engine/front/train_options.hpp>
#include <mastic/model/loss.hpp>
#include <mastic/model/network.hpp>

namespace mastic::engine {

std::shared_ptr<const data::Dataset> open_train_data(const DataOptions& options);
// Null if no test data is named. Error(data) if it does not look like the training data.
std::shared_ptr<const data::Dataset> open_test_data(const DataOptions& options, const data::SampleLayout& train);
// Inputs alone, for prediction.
std::shared_ptr<const data::Dataset> open_inputs(const DataOptions& options, const std::string& path);

// None if the options ask for none. Error(usage) if the samples are no images.
std::optional<data::Augmentation> augmentation_of(const TrainOptions& options, const data::SampleLayout& layout);

model::InputSpec input_spec(const data::SampleLayout& layout);
model::LossKind loss_kind(const std::string& option, const data::SampleLayout& layout);

}  // namespace mastic::engine
