// What every command of mastic-train is given.
#pragma once

#include <string>
#include <vector>

#include <mastic/config/program.hpp>
#include <mastic/config/schema.hpp>
#include <mastic/engine/front/train_options.hpp>
#include <mastic/job/blas_core.hpp>
#include <mastic/job/context.hpp>

namespace mastic::engine {

struct GpuSource;  // engine/accelerator.hpp

struct CommandContext {
    const TrainOptions& options;
    const config::Schema& schema;
    const config::Invocation& invocation;
    const job::JobContext& job;
    std::vector<std::string> command_line;
    job::BlasReport blas = {};  // this and the next: the trainer's
    const GpuSource* gpus = nullptr;
};

}  // namespace mastic::engine
