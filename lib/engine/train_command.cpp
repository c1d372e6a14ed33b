#include <new>

#include <spdlog/spdlog.h>

#include <mastic/comm/mpi/session.hpp>
#include <mastic/core/agreed_error.hpp>
#include <mastic/report/rank_failure.hpp>
#include <mastic/engine/torch_errors.hpp>
#include <mastic/engine/train_run.hpp>

namespace mastic::engine {

void train_command(const CommandContext& context) {
    // Before everything that takes time, and never given back: a signal during the start stops the first step, a second one
    // during the end changes nothing.
    job::SignalWatch signals;
    comm::MpiSession session;
    TrainRun run(context, session, signals);
    const auto record_failure = [&](const Error& error) {
        run.flush_trace();
        run.recorder().end(static_cast<int>(error.code()));
        spdlog::error("{}", error.full_message());
        try {
            if (run.files() != nullptr) {
                run.files()->failed(error);
            } else if (std::filesystem::exists(run.directory().path())) {
                report::write_rank_failure(run.directory(), {session.rank(), error.code(), error.what()});
            }
        } catch (const std::exception& also) {
            spdlog::error("run.json: {}", also.what());
        }
    };
    try {
        TrainResult result;
        translate_torch_errors([&] { result = run.run(); });
        run.recorder().end(static_cast<int>(result.code));
        session.finish(static_cast<int>(result.code));
    } catch (const AgreedError& error) {
        run.recorder().end(static_cast<int>(error.code()));
        if (session.rank() == 0) {
            record_failure(error);
        }
        session.finish(static_cast<int>(error.code()));
    } catch (const Error& error) {
        record_failure(error);
        session.abort(static_cast<int>(error.code()));
    } catch (const std::bad_alloc&) {
        record_failure(Error(ExitCode::memory, "out of memory", "a smaller batch, micro-batch or model needs less"));
        session.abort(static_cast<int>(ExitCode::memory));
    } catch (const std::exception& error) {
        record_failure(Error(ExitCode::environment, error.what()));
        session.abort(static_cast<int>(ExitCode::environment));
    }
}

}  // namespace mastic::engine
