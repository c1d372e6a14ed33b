#include <cstdio>
#include <filesystem>
#include <new>

#include <spdlog/spdlog.h>

#include <mastic/comm/mpi/session.hpp>
#include <mastic/config/parse.hpp>
#include <mastic/config/requested_text.hpp>
#include <mastic/core/agreed_error.hpp>
#include <mastic/core/environment.hpp>
#include <mastic/core/host_name.hpp>
#include <mastic/core/log.hpp>
#include <mastic/core/version.hpp>
#include <mastic/elastic/app/fixed_run.hpp>
#include <mastic/elastic/app/member_run.hpp>
#include <mastic/job/context.hpp>

namespace mastic::app {
namespace {

config::ProgramInfo describe(const App& app, const char* path) {
    config::ProgramInfo program;
    program.name = std::filesystem::path(path).filename();
    program.one_line = app.description();
    program.version = version();
    program.commands = {{.name = "", .help = "run", .positionals = {}}};
    return program;
}

int failed(const Error& error) {
    spdlog::error("{}", error.full_message());
    return static_cast<int>(error.code());
}

[[noreturn]] void run_fixed(App& app, const AppOptions& options, const config::Schema& schema,
                            const job::JobContext& job, job::SignalWatch& signals) {
    comm::MpiSession session;
    FixedRun run(app, options, schema, job.host, signals, session);
    try {
        session.finish(static_cast<int>(run.run()));
    } catch (const AgreedError& error) {
        session.finish(session.rank() == 0 ? failed(error) : static_cast<int>(error.code()));
    } catch (const Error& error) {
        session.abort(failed(error));
    } catch (const std::bad_alloc&) {
        session.abort(failed(Error(ExitCode::memory, "out of memory")));
    } catch (const std::exception& error) {
        session.abort(failed(Error(ExitCode::environment, error.what())));
    }
}

int run_parsed(int argc, char** argv, App& app, const job::JobContext& job) {
    AppOptions options;
    config::Schema schema;
    declare_app_options(schema, options);
    app.declare(schema);
    const config::ProgramInfo program = describe(app, argv[0]);
    const config::Invocation asked = config::parse(program, schema, argc, argv, config::mastic_variables());
    if (const auto text = config::requested_text(program, schema, asked, [] { return LibraryVersions{{"MPI", comm::mpi_library_version()}}; })) {
        std::fputs(job.rank == 0 ? text->c_str() : "", stdout);
        return 0;
    }
    job::SignalWatch signals;
    if (options.join.empty()) {
        run_fixed(app, options, schema, job, signals);
    }
    options.run_dir = options.join;
    return static_cast<int>(MemberRun(app, options, schema, job.host, signals).run());
}

}  // namespace

int run(int argc, char** argv, App& app) {
    job::JobContext job;
    try {
        job = job::find_job_context(process_environment(), host_name());
        setup_log({.rank = job.rank, .world_size = job.world_size, .file = {}, .level = "info"});
        return run_parsed(argc, argv, app, job);
    } catch (const Error& error) {
        return failed(error);
    } catch (const std::bad_alloc&) {
        return failed(Error(ExitCode::memory, "out of memory"));
    } catch (const std::exception& error) {
        return failed(Error(ExitCode::environment, error.what()));
    }
}

}  // namespace mastic::app
