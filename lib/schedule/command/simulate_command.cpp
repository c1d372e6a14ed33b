// mastic-rescale simulate: what would filling the idle nodes of this log have gained?
#include <algorithm>
#include <iostream>
#include <optional>

#include <spdlog/spdlog.h>
#include <nlohmann/json.hpp>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/core/named.hpp>
#include <mastic/schedule/command/command_context.hpp>
#include <mastic/schedule/log_file.hpp>
#include <mastic/schedule/simulation_report.hpp>

namespace mastic::schedule {
namespace {

constexpr std::size_t shown_odd_rows = 20;
constexpr int shown_nodes = 32;
constexpr double shown_span_s = 6 * 3600;
constexpr int samples = 600;

std::vector<NamedCurve> curves_of(const RescaleOptions& options) {
    if (options.curves.empty()) {
        return typical_curves(options.most);
    }
    const LogFile file(options.curves);
    return parse_curves(file.text(), options.curves);
}

SiteLog read_log(const CommandContext& context) {
    const RescaleOptions& options = context.options;
    SiteLog log = read_site_log(context.invocation.positionals.at(0), options.site_log());
    const double begin = options.log_begin.count();
    if (log.trace.end <= 0) {
        throw Error(ExitCode::data,
                    context.invocation.positionals.at(0) + ": all events are at one time, so nothing can be replayed");
    }
    const double end = options.log_length.count() > 0 ? begin + options.log_length.count() : log.trace.end;
    if (begin >= log.trace.end) {
        throw Error(ExitCode::usage, "--log.begin is behind the end of the log",
                    "the log has " + human(Seconds(log.trace.end)));
    }
    if (begin > 0 || end < log.trace.end) {
        log.trace = log.trace.slice(begin, std::min(end, log.trace.end));
    }
    return log;
}

void tell_oddities(const SiteLog& log) {
    if (log.odd.count() > 0) {
        std::cerr << log.odd.text(shown_odd_rows);
        spdlog::warn("{} odd rows were left out", log.odd.count());
    }
    if (!log.note.empty()) {
        spdlog::warn("{}", log.note);
    }
}

// Nodes evenly over the machine, of those that are idle within the middle of the log.
void watch(const IdleTrace& trace, ReplayOptions& options) {
    const double span = std::min(shown_span_s, trace.end);
    options.watch_from_s = (trace.end - span) / 2;
    options.watch_to_s = options.watch_from_s + span;
    std::vector<int> nodes;
    for (const NodeEvent& event : trace.slice(options.watch_from_s, options.watch_to_s).events) {
        nodes.push_back(event.node);
    }
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    const std::size_t step = std::max<std::size_t>(1, nodes.size() / shown_nodes);
    for (std::size_t i = 0; i < nodes.size() && options.watched.size() < shown_nodes; i += step) {
        options.watched.push_back(nodes[i]);
    }
}

std::string decision_line(const PolicyKind& kind, const DecisionRecord& record) {
    return nlohmann::ordered_json{{"policy", kind.name}, {"time_s", record.time}, {"job", record.job},
                                  {"from", record.from}, {"to", record.to},       {"reason", record.reason}}
               .dump() +
           "\n";
}

void simulate(const CommandContext& context, SimulationReport& report, std::string* decisions) {
    const IdleTrace& trace = report.log->trace;
    ReplayOptions options;
    options.sample_every_s = std::max(1.0, trace.end / samples);
    watch(trace, options);
    for (const std::string& name : context.options.policies) {
        const PolicyKind& kind = require_named(policy_kinds(), name, "policy");
        if (decisions != nullptr) {
            options.on_decision = [&kind, decisions](const DecisionRecord& record) {
                *decisions += decision_line(kind, record);
            };
        }
        spdlog::info("replaying {}", name);
        report.runs.push_back(run_policy(trace, *report.settings, kind, options));
    }
    compare_with_oracle(report.runs);
}

void check(const RescaleOptions& options) {
    if (options.least > options.most) {
        throw Error(ExitCode::usage, "simulate.least is above simulate.most", "make it smaller");
    }
    if (options.policies.empty()) {
        throw Error(ExitCode::usage, "no policy to simulate", "name some with --simulate.policies");
    }
}

// Before a replay of minutes. The log itself is what an operator cannot make again.
void check_outputs(const CommandContext& context) {
    const RescaleOptions& options = context.options;
    const auto& arguments = context.invocation.positionals;
    const std::string page = arguments.size() > 1 ? arguments[1] : "";
    for (const std::string& output : {page, options.log_write, options.decisions, options.json}) {
        if (output.empty()) {
            continue;
        }
        std::error_code none;
        if (std::filesystem::equivalent(output, arguments[0], none)) {
            throw Error(ExitCode::usage, output + " is the log itself", "name another file for the output");
        }
        if (!context.invocation.dry_run) {
            require_writable_place(output);
        }
    }
}

}  // namespace

int simulate_command(const CommandContext& context) {
    const RescaleOptions& options = context.options;
    check(options);
    check_outputs(context);
    SimulationSettings settings = options.simulation();
    settings.workload.curves = curves_of(options);
    const SiteLog log = read_log(context);
    tell_oddities(log);
    const std::filesystem::path name = context.invocation.positionals[0];
    if (context.invocation.dry_run) {
        std::cout << name.filename().string() << ": " << log.format << ", " << describe(log.trace) << "; "
                  << log.odd.count() << " odd rows; nothing was replayed or written\n";
        return 0;
    }
    SimulationReport report{name.filename().string(), &log, &settings, {}};
    std::string decisions;
    simulate(context, report, options.decisions.empty() ? nullptr : &decisions);
    std::cout << simulation_text(report);
    if (!options.log_write.empty()) {
        write_file_atomically(options.log_write, to_idle_csv(log.trace));
    }
    if (!options.decisions.empty()) {
        write_file_atomically(options.decisions, decisions);
    }
    if (!options.json.empty()) {
        write_file_atomically(options.json, simulation_json(report));
    }
    const auto& arguments = context.invocation.positionals;
    if (arguments.size() > 1) {
        write_file_atomically(arguments[1], simulation_page(report));
        std::cout << "wrote " << arguments[1] << ": open it in a browser\n";
    }
    return 0;
}

}  // namespace mastic::schedule
