#include <mastic/engine/engine_commands.hpp>

#include <csignal>
#include <new>

#include <spdlog/spdlog.h>

#include <mastic/comm/mpi/session.hpp>
#include <mastic/core/agreed_error.hpp>
#include <mastic/report/rank_failure.hpp>
#include <mastic/engine/elastic_run.hpp>
#include <mastic/engine/torch_errors.hpp>
#include <mastic/engine/train_run.hpp>

namespace mastic::engine {
namespace {

// The last words of a run that fails, and its code. `rank`: -1 for a member of an elastic run that does not lead it.
int record_failure(TrainStages& run, int rank, const Error& error) {
    run.flush_trace();
    run.recorder().end(static_cast<int>(error.code()));
    spdlog::error("{}", error.full_message());
    try {
        if (run.files() != nullptr) {
            run.files()->failed(error);
        } else if (rank >= 0 && std::filesystem::exists(run.directory().path())) {
            report::write_rank_failure(run.directory(), {rank, error.code(), error.what()});
        }
    } catch (const std::exception& also) {
        spdlog::error("run.json: {}", also.what());
    }
    return static_cast<int>(error.code());
}

// Nobody reads what is said any more (a terminal was closed, srun's daemon died): that ends no training.
void survive_lost_readers() {
    std::signal(SIGPIPE, SIG_IGN);
}

Error out_of_memory() {
    return Error(ExitCode::memory, "out of memory", "a smaller batch, micro-batch or model needs less");
}

}  // namespace

int elastic_command(const CommandContext& context) {
    survive_lost_readers();
    job::SignalWatch signals;
    ElasticRun run(context, signals);
    try {
        TrainResult result;
        translate_torch_errors([&] { result = run.run(); });
        run.recorder().end(static_cast<int>(result.code));
        return static_cast<int>(result.code);
    } catch (const Error& error) {
        return record_failure(run, -1, error);
    } catch (const std::bad_alloc&) {
        return record_failure(run, -1, out_of_memory());
    }
}

void train_command(const CommandContext& context) {
    // Before everything that takes time, and never given back: a signal during the start stops the first step, a second one
    // during the end changes nothing.
    job::SignalWatch signals;
    survive_lost_readers();
    comm::MpiSession session;
    TrainRun run(context, session, signals);
    try {
        TrainResult result;
        translate_torch_errors([&] { result = run.run(); });
        run.recorder().end(static_cast<int>(result.code));
        session.finish(static_cast<int>(result.code));
    } catch (const AgreedError& error) {
        run.recorder().end(static_cast<int>(error.code()));
        if (session.rank() == 0) {
            record_failure(run, 0, error);
        }
        session.finish(static_cast<int>(error.code()));
    } catch (const Error& error) {
        session.abort(record_failure(run, session.rank(), error));
    } catch (const std::bad_alloc&) {
        session.abort(record_failure(run, session.rank(), out_of_memory()));
    } catch (const std::exception& error) {
        session.abort(record_failure(run, session.rank(), Error(ExitCode::environment, error.what())));
    }
}

}  // namespace mastic::engine
