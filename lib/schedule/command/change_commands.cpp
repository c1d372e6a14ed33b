// mastic-rescale resize, drain and stop: requests to a manager.
#include <algorithm>
#include <iostream>

#include <spdlog/spdlog.h>

#include <mastic/core/command.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/suggest.hpp>
#include <mastic/job/host_list.hpp>
#include <mastic/schedule/command/desk.hpp>
#include <mastic/schedule/log_text.hpp>
#include <mastic/schedule/slurm_poller.hpp>

namespace mastic::schedule {
namespace {

int node_count(const std::string& text, const char* what) {
    const auto number = parse_integer(text);
    if (!number || *number < 1 || *number > most_nodes_of_a_training) {
        throw Error(ExitCode::usage, std::string(what) + " '" + text + "' is no number of nodes: 1 to " +
                                         std::to_string(most_nodes_of_a_training));
    }
    return static_cast<int>(*number);
}

bool is_given(const CommandContext& context, const char* key) {
    return context.schema.find(key)->origin() == config::Origin::flag;
}

// The trainings of these ids, and of sweeps of these names; "all": those that have not ended.
std::vector<std::string> chosen(const StateDirectory& state, const std::vector<std::string>& names) {
    std::vector<std::string> ids;
    const std::vector<Training> present = state.trainings();
    for (const std::string& name : names) {
        const auto before = ids.size();
        for (const Training& one : present) {
            if ((name == "all" || one.order.sweep == name) && !has_ended(one.record.state)) {
                ids.push_back(one.id);
            }
        }
        if (ids.size() == before && name != "all") {
            ids.push_back(state.require(name).id);
        }
    }
    return ids;
}

// Of the cluster; none: they are not known here.
std::vector<std::string> known_nodes(Seconds patience) {
    std::vector<std::string> names;
    try {
        std::ranges::transform(ask_slurm_nodes(run_command, patience), std::back_inserter(names), &ClusterNode::name);
    } catch (const Error& error) {
        spdlog::warn("{}: whether the cluster has these nodes is not known", error.what());
    }
    return names;
}

// "did you mean n1, n12?", one for each that is like another one.
std::string similar_nodes(const std::vector<std::string>& unknown, const std::vector<std::string>& known) {
    std::vector<std::string> similar;
    for (const std::string& node : unknown) {
        const std::string nearest = nearest_word(node, known);
        if (!nearest.empty() && std::ranges::find(similar, nearest) == similar.end()) {
            similar.push_back(nearest);
        }
    }
    return similar.empty() ? "`sinfo --Node` lists them"
                           : "did you mean " + job::compress_host_list(similar) + "?";
}

// The node that was meant would not be kept free.
void refuse_unknown_nodes(const std::vector<std::string>& named, Seconds patience) {
    const std::vector<std::string> known = known_nodes(patience);
    std::vector<std::string> unknown;
    std::ranges::copy_if(named, std::back_inserter(unknown), [&known](const std::string& node) {
        return std::ranges::find(known, node) == known.end();
    });
    if (!known.empty() && !unknown.empty()) {
        throw Error(ExitCode::usage, "the cluster has no " + job::compress_host_list(unknown), similar_nodes(unknown, known));
    }
}

}  // namespace

int resize_command(const CommandContext& context) {
    const StateDirectory state = open_state(context);
    const auto& arguments = context.invocation.positionals;
    Request request;
    request.kind = Request::Kind::resize;
    request.training = state.require(arguments.at(1)).id;
    if (arguments.size() > 2) {
        request.least = node_count(arguments[2], "MIN");
        request.most = arguments.size() > 3 ? node_count(arguments[3], "MAX") : request.least;
    }
    request.weight = is_given(context, "training.weight") ? context.options.desk.training.weight : 0;
    if (request.least == 0 && request.weight == 0) {
        throw Error(ExitCode::usage, "resize to what?",
                    "mastic-rescale resize STATE_DIR TRAINING MIN MAX, or --training.weight W");
    }
    if (request.least > request.most) {
        throw Error(ExitCode::usage, "MIN is above MAX", "make it smaller");
    }
    return ask(context, state, {request});
}

int drain_command(const CommandContext& context) {
    const StateDirectory state = open_state(context);
    Request request;
    request.kind = context.options.desk.undo ? Request::Kind::undrain : Request::Kind::drain;
    const auto& arguments = context.invocation.positionals;
    if (std::find(arguments.begin() + 1, arguments.end(), "all") == arguments.end()) {
        for (std::size_t i = 1; i < arguments.size(); ++i) {
            const auto nodes = job::expand_host_list(arguments[i]);
            request.nodes.insert(request.nodes.end(), nodes.begin(), nodes.end());
        }
    }
    if (!context.options.desk.undo && !request.nodes.empty()) {
        refuse_unknown_nodes(request.nodes, context.options.serve.polling.patience);
    }
    return ask(context, state, {request});
}

int stop_command(const CommandContext& context) {
    const StateDirectory state = open_state(context);
    const auto& arguments = context.invocation.positionals;
    Request request;
    if (context.options.desk.manager) {
        if (arguments.size() > 1) {
            throw Error(ExitCode::usage, "stop --manager stops no training",
                        "leave " + arguments[1] + " away");
        }
        if (!state.manager()) {
            throw Error(ExitCode::usage, "no manager lives in " + state.path().string());
        }
        request.kind = Request::Kind::shutdown;
        return ask(context, state, {request});
    }
    const std::vector<std::string> ids = chosen(state, {arguments.begin() + 1, arguments.end()});
    if (ids.empty()) {
        throw Error(ExitCode::usage,
                    arguments.size() > 1 ? "no training is left to stop" : "stop which training?",
                    "name trainings or a sweep, `all` for all of them, or --manager for the manager itself");
    }
    std::vector<Request> requests;
    for (const std::string& id : ids) {
        request.training = id;
        requests.push_back(request);
    }
    return ask(context, state, std::move(requests));
}

}  // namespace mastic::schedule
