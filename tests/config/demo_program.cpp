#include "demo_program.hpp"

#include <stdexcept>

namespace mastic::config::test {

Demo::Demo() {
    schema.section("train", "the loop");
    schema.option("train.epochs", options.epochs, "passes over the training data").range(1, 1000);
    schema.option("train.seed", options.seed, "of everything random").on_resume(OnResume::refuse);
    schema.option("train.max_steps", options.max_steps, "stop after so many steps").at_least(1).advanced();
    schema.option("train.tags", options.tags, "words for reports").advanced();
    schema.section("optimizer", "the update rule");
    schema.option("optimizer.name", options.optimizer, "which one")
        .choices({"sgd", "adamw"})
        .on_resume(OnResume::refuse);
    schema.option("optimizer.rate", options.rate, "learning rate").above(0).on_resume(OnResume::fork);
    schema.option("optimizer.milestones", options.milestones, "where the rate drops").range(0, 1);
    schema.option("model.layers", options.layers, "widths").at_least(1).on_resume(OnResume::refuse);
    schema.option("data.path", options.data, "training data")
        .metavar("FILE")
        .check([](const std::string& path) { return path.ends_with(".bad") ? path + " is bad" : ""; });
    schema.option("data.shuffle", options.shuffle, "a new order each epoch");
    schema.option("allreduce.bucket-size", options.bucket, "gradients per reduction").at_least(Bytes{1});
    schema.option("checkpoint.interval", options.interval, "time between checkpoints").at_least(Seconds(1));
    schema.flag("fork", options.fork, "start a new line of the run");
    schema.option("resume", options.resume, "auto, never or a directory");
}

Invocation Demo::parse(const std::vector<std::string>& words, const Variables& variables) {
    std::vector<const char*> argv = {"mastic-demo"};
    for (const std::string& word : words) {
        argv.push_back(word.c_str());
    }
    return config::parse(demo_program(), schema, static_cast<int>(argv.size()), argv.data(), variables);
}

std::string Demo::error_of(const std::vector<std::string>& words, const Variables& variables) {
    try {
        parse(words, variables);
    } catch (const Error& error) {
        if (error.code() != ExitCode::usage) {
            throw std::logic_error(std::string("not a usage error: ") + error.what());
        }
        return error.full_message();
    }
    return "no error";
}

const ProgramInfo& demo_program() {
    static const ProgramInfo program = {
        .name = "mastic-demo",
        .one_line = "shows what options can do",
        .version = "1.2.3",
        .description =
            "Trains nothing at all.\n\n.It has a second paragraph - with a \\ and a leading point.",
        .commands = {{"", "train", {}, true},
                     {"status", "show a run", {{"RUN_DIR", "the run's directory", true, false}}, false},
                     {"compare", "compare runs", {{"RUN_DIR", "two or more", true, true}}, false},
                     {"evaluate", "measure a model", {{"RUN_DIR", "", false, false}}, true}},
        .examples = {{"mastic-demo run.toml --train.epochs 3", "three passes"}},
        .exit_codes = {{0, "done"}, {2, "usage or configuration"}},
        .other_variables = {"MASTIC_TRAIN_WRAPPER", "MASTIC_DATA_CACHE_*"},
    };
    return program;
}

}  // namespace mastic::config::test
