// Commands that use the network of a run, in one process.
#include <mastic/engine/engine_commands.hpp>

#include <torch/torch.h>

#include <iostream>

#include <mastic/checkpoint/store.hpp>
#include <mastic/comm/mpi/session.hpp>
#include <mastic/core/error.hpp>
#include <mastic/data/array.hpp>
#include <mastic/engine/accelerator.hpp>
#include <mastic/engine/data_setup.hpp>
#include <mastic/engine/evaluator.hpp>
#include <mastic/engine/network_setup.hpp>
#include <mastic/engine/prediction_file.hpp>
#include <mastic/engine/train_state.hpp>
#include <mastic/job/run_directory.hpp>
#include <mastic/model/export.hpp>

#include <spdlog/spdlog.h>

namespace mastic::engine {
namespace {

checkpoint::Selection selection_of(const std::string& use) {
    if (use == "best") {
        return checkpoint::Selection::best();
    }
    if (use == "newest") {
        return checkpoint::Selection::newest();
    }
    return checkpoint::Selection::at_step(std::stoull(use));
}

// A damaged pin is no reason not to use the newest checkpoint.
bool has_best(const checkpoint::CheckpointStore& store) {
    try {
        return store.best().has_value();
    } catch (const Error& error) {
        spdlog::warn("{}: taking the newest checkpoint", error.what());
        return false;
    }
}

// A run's network with the weights of the chosen checkpoint. The layout comes from the training data, as in training.
struct StoredRun {
    std::shared_ptr<const data::Dataset> train_data;
    TrainState state;
};

StoredRun load_stored_run(const CommandContext& context) {
    const TrainOptions& options = context.options;
    const job::RunDirectory directory{context.invocation.positionals.at(0)};
    const checkpoint::CheckpointStore store(directory.checkpoints());
    std::string use = options.checkpoint.use;
    if (use == "auto") {
        use = has_best(store) ? "best" : "newest";
    }
    const auto restored = store.restore(selection_of(use));
    if (!restored) {
        throw Error(ExitCode::checkpoint, "there is no checkpoint in " + directory.checkpoints().string(),
                    "train first: mastic-train " + directory.config_file().string());
    }
    StoredRun run;
    run.train_data = open_train_data(options.data);
    run.state.network = make_network(options, input_spec(run.train_data->layout()));
    run.state.optimizer = make_optimizer(options, *run.state.network);
    run.state.restore(restored->state);
    spdlog::info("checkpoint of step {} ({})", run.state.step, use);
    return run;
}

void move_to_device(StoredRun& run, const CommandContext& context, int local_rank) {
    const Accelerator accelerator = open_accelerator(context.options.train.device, local_rank, *context.gpus);
    run.state.network->to(accelerator.torch_device);
}

}  // namespace

int evaluate_command(const CommandContext& context) {
    StoredRun run = load_stored_run(context);
    const auto test_data = open_test_data(context.options.data, run.train_data->layout());
    if (!test_data) {
        throw Error(ExitCode::usage, "no test data: data.test_inputs is not set",
                    "name a file with --data.test_inputs and --data.test_targets");
    }
    comm::MpiSession session;
    const auto group = session.make_group({.transport = comm::TransportKind::native});
    move_to_device(run, context, session.local_rank());
    const Evaluator evaluator(test_data, *group, evaluator_options(context.options, run.train_data->layout()));
    const Evaluation evaluation = evaluator.run(*run.state.network);
    if (session.rank() == 0) {
        std::cout << "samples   " << evaluation.samples << "\n";
        for (const auto& [name, value] : evaluation.metrics) {
            std::cout << name << std::string(name.size() < 10 ? 10 - name.size() : 1, ' ') << value << "\n";
        }
        std::cout.flush();
    }
    session.finish(0);
}

int predict_command(const CommandContext& context) {
    const auto& arguments = context.invocation.positionals;
    StoredRun run = load_stored_run(context);
    const data::SampleLayout& layout = run.train_data->layout();
    move_to_device(run, context, 0);
    const auto file = create_prediction_file(arguments.at(2), layout.classes > 0);
    const auto inputs = open_inputs(context.options.data, arguments.at(1));
    if (inputs->layout().input_shape != layout.input_shape) {
        throw Error(ExitCode::data, "the samples in " + arguments[1] + " are " +
                                        data::to_string(inputs->layout().input_shape) + ", those of the training data " +
                                        data::to_string(layout.input_shape),
                    "give inputs only, without a column of labels; data.input_shape reshapes them");
    }
    for_each_output(inputs, {}, evaluator_options(context.options, layout), *run.state.network,
                    [&](const data::Batch& batch, const torch::Tensor& outputs) {
                        const torch::Tensor rows =
                            outputs.cpu().to(torch::kFloat32).reshape({static_cast<std::int64_t>(batch.count), -1}).contiguous();
                        const float* values = rows.data_ptr<float>();
                        file->append({values, values + rows.numel()}, batch.count,
                                     static_cast<std::size_t>(rows.size(1)));
                    });
    file->close();
    std::cout << "wrote " << inputs->size() << " predictions to " << arguments[2] << "\n";
    return 0;
}

int export_command(const CommandContext& context) {
    const auto& arguments = context.invocation.positionals;
    const std::filesystem::path out = arguments.at(1);
    StoredRun run = load_stored_run(context);
    if (out.extension() == ".safetensors") {
        model::export_safetensors(*run.state.network, out);
    } else if (out.extension() == ".pt") {
        model::export_torchscript(*run.state.network, input_spec(run.train_data->layout()), out);
    } else {
        throw Error(ExitCode::usage, "the network cannot be written to " + out.string(),
                    "end the name in .pt (TorchScript) or .safetensors");
    }
    std::cout << "wrote " << out.string() << "\n";
    return 0;
}

}  // namespace mastic::engine
