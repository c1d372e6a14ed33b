#include <mastic/engine/trainer_program.hpp>

#include <map>

#include <mastic/core/argument_pointers.hpp>
#include <mastic/engine/accelerator.hpp>
#include <mastic/engine/engine_commands.hpp>
#include <mastic/engine/front/program.hpp>
#include <mastic/engine/heap_settings.hpp>
#include <mastic/engine/torch_errors.hpp>
#include <mastic/engine/versions.hpp>

namespace mastic::engine {
namespace {

int train(const CommandContext& context) {
    if (!context.options.elastic.join.empty()) {
        return elastic_command(context);
    }
    train_command(context);
}

job::BlasReport choose_blas(const std::vector<std::string>& command_line) {
    return job::ensure_blas_core(argument_pointers(command_line).data());
}

int command(const CommandContext& asked, const GpuSource& gpus) {
    using Command = int (*)(const CommandContext&);
    static const std::map<std::string, Command> commands = {
        {"", train}, {"evaluate", evaluate_command}, {"predict", predict_command}, {"export", export_command}};
    CommandContext context = asked;
    context.blas = choose_blas(context.command_line);
    context.gpus = &gpus;
    int code = 0;
    translate_torch_errors([&] { code = commands.at(context.invocation.command)(context); });
    return code;
}

}  // namespace

int run_trainer(int argc, char** argv) {
    return run_trainer(argc, argv, cuda_gpus());
}

int run_trainer(int argc, char** argv, const GpuSource& gpus) {
    keep_freed_memory();
    return run_mastic_train(argc, argv, {[](const auto&) { return library_versions(); },
                                         [&gpus](const CommandContext& context) { return command(context, gpus); }});
}

}  // namespace mastic::engine
