#include <mastic/engine/data_setup.hpp>

#include <mastic/core/error.hpp>
#include <mastic/data/dataset_open.hpp>

namespace mastic::engine {
namespace {

data::DatasetOptions common_options(const DataOptions& options) {
    data::DatasetOptions result;
    result.format = options.format;
    result.input_name = options.input_name;
    result.target_name = options.target_name;
    result.task = options.task;
    result.mean = options.mean;
    result.stddev = options.stddev;
    result.input_shape = options.input_shape;
    result.classes = options.classes;
    result.sequence_length = options.sequence_length;
    return result;
}

}  // namespace

std::shared_ptr<const data::Dataset> open_train_data(const DataOptions& options) {
    if (options.train_inputs.empty() && options.format != "synthetic") {
        throw Error(ExitCode::usage, "no training data: data.train_inputs is not set",
                    "set it in the TOML file or with --data.train_inputs; configs/fashion.toml is an example");
    }
    data::DatasetOptions wanted = common_options(options);
    wanted.inputs = options.train_inputs;
    wanted.targets = options.train_targets;
    wanted.limit = options.limit;
    std::shared_ptr<const data::Dataset> dataset = data::open_dataset(wanted);
    const data::SampleLayout& layout = dataset->layout();
    const std::uint64_t plausible = 1000 + 10 * dataset->size();
    if (options.classes == 0 && layout.input_type != DataType::int64 &&
        static_cast<std::uint64_t>(layout.classes) > plausible) {
        throw Error(ExitCode::data, "the largest label is " + std::to_string(layout.classes - 1) + ", for " +
                                        std::to_string(dataset->size()) + " samples",
                    "labels count from 0; if that many classes are meant, set data.classes");
    }
    return dataset;
}

std::shared_ptr<const data::Dataset> open_test_data(const DataOptions& options, const data::SampleLayout& train) {
    if (options.test_inputs.empty()) {
        return nullptr;
    }
    data::DatasetOptions wanted = common_options(options);
    wanted.inputs = options.test_inputs;
    wanted.targets = options.test_targets;
    wanted.classes = train.classes;
    std::shared_ptr<const data::Dataset> dataset = data::open_dataset(wanted);
    if (dataset->layout().input_shape != train.input_shape || dataset->layout().target_shape != train.target_shape) {
        throw Error(ExitCode::data, "the samples of the test data have another shape than those of the training data",
                    "check data.test_inputs and data.test_targets");
    }
    return dataset;
}

std::shared_ptr<const data::Dataset> open_inputs(const DataOptions& options, const std::string& path) {
    data::DatasetOptions wanted = common_options(options);
    wanted.inputs = path;
    wanted.with_targets = false;
    return data::open_dataset(wanted);
}

std::optional<data::Augmentation> augmentation_of(const TrainOptions& options, const data::SampleLayout& layout) {
    if (options.data.crop == 0 && !options.data.flip) {
        return std::nullopt;
    }
    return data::Augmentation({options.data.crop, options.data.flip, static_cast<std::uint64_t>(options.run.seed)},
                              layout);
}

model::InputSpec input_spec(const data::SampleLayout& layout) {
    model::InputSpec spec;
    spec.shape = layout.input_shape;
    spec.tokens = layout.input_type == DataType::int64;
    spec.outputs = layout.classes > 0 ? layout.classes : data::element_count(layout.target_shape);
    return spec;
}

model::LossKind loss_kind(const std::string& option, const data::SampleLayout& layout) {
    if (option != "auto") {
        return model::parse_loss_kind(option);
    }
    return layout.classes > 0 ? model::LossKind::cross_entropy : model::LossKind::mse;
}

}  // namespace mastic::engine
