// mastic-mps status and clean: the sessions of this user on this node.
#include <iostream>

#include <nlohmann/json.hpp>

#include <mastic/colocation/command/command_context.hpp>
#include <mastic/colocation/keeper.hpp>
#include <mastic/config/text.hpp>
#include <mastic/report/text_table.hpp>

namespace mastic::colocation {
namespace {

struct SessionView {
    std::string directory;
    SessionKey key;
    std::vector<int> members;
    bool answers = false;
    std::vector<int> servers;
    std::string state;
};

SessionView view_of(const SessionDirectory& directory) {
    SessionView view;
    view.directory = directory.path().string();
    view.key = directory.read_key().value_or(SessionKey{"?", "?", {}});
    for (const ProcessId& member : directory.living_members()) {
        view.members.push_back(member.pid);
    }
    const MpsControl control(directory.mps(), run_command);
    view.answers = control.answers();
    if (view.answers) {
        view.servers = control.servers();
    }
    const auto state = directory.read_state();
    view.state = is_left_over(directory) ? "left over"
                 : !state                ? "starting"
                 : state->ready          ? "ready"
                                         : "failed";
    return view;
}

std::string number_list(const std::vector<int>& numbers) {
    std::vector<std::string> words;
    for (const int number : numbers) {
        words.push_back(std::to_string(number));
    }
    return words.empty() ? "none" : config::join(words, " ");
}

std::string status_text(const std::vector<SessionView>& views) {
    if (views.empty()) {
        return "no session of this user on this node\n";
    }
    report::TextTable table;
    table.header = {"directory", "job", "state", "ranks", "daemon", "servers", "devices"};
    for (const SessionView& view : views) {
        table.rows.push_back({view.directory, view.key.job, view.state, number_list(view.members),
                              view.answers ? "answers" : "does not answer", number_list(view.servers),
                              config::join(view.key.devices, " ")});
    }
    const bool left =
        std::ranges::any_of(views, [](const SessionView& view) { return view.state == "left over"; });
    return to_text(table) + (left ? "`mastic-mps clean` removes what is left over\n" : "");
}

std::string status_json(const std::vector<SessionView>& views) {
    nlohmann::json all = nlohmann::json::array();
    for (const SessionView& view : views) {
        all.push_back({{"directory", view.directory},
                       {"host", view.key.host},
                       {"job", view.key.job},
                       {"devices", view.key.devices},
                       {"state", view.state},
                       {"ranks", view.members},
                       {"daemon_answers", view.answers},
                       {"servers", view.servers}});
    }
    return all.dump(2) + "\n";
}

}  // namespace

int status_command(const CommandContext& context) {
    std::vector<SessionView> views;
    for (const SessionDirectory& directory : SessionDirectory::all(context.environment)) {
        views.push_back(view_of(directory));
    }
    std::cout << (context.invocation.json ? status_json(views) : status_text(views));
    return 0;
}

int clean_command(const CommandContext& context) {
    const bool dry_run = context.invocation.dry_run;
    const auto removed = remove_leftovers(context.environment, dry_run);
    for (const std::string& line : removed) {
        std::cout << (dry_run ? "would remove " : "removed ") << line << "\n";
    }
    if (removed.empty()) {
        std::cout << "nothing is left over\n";
    }
    return 0;
}

}  // namespace mastic::colocation
