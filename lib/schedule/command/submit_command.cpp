// mastic-rescale submit: trainings for the manager to run.
#include <algorithm>
#include <iostream>

#include <mastic/config/text.hpp>
#include <mastic/core/command.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/schedule/command/desk.hpp>
#include <mastic/schedule/command/order_check.hpp>
#include <mastic/schedule/manager/sweep.hpp>

namespace mastic::schedule {
namespace {

namespace fs = std::filesystem;

// `stop NAME` takes either: a sweep and a training of one name could not be told apart.
bool is_taken(const std::string& name, const std::vector<Training>& present) {
    return std::ranges::any_of(present, [&](const Training& one) { return one.order.sweep == name || one.id == name; });
}

// "rates", or "rates-2" if there is a sweep or a training of that name already.
std::string free_sweep_name(const fs::path& file, const std::vector<Training>& present) {
    const std::string stem = file.stem().string();
    for (int number = 1;; ++number) {
        const std::string name = number == 1 ? stem : stem + "-" + std::to_string(number);
        if (!is_taken(name, present)) {
            return name;
        }
    }
}

std::vector<TrainingOrder> with_sweep(const CommandContext& context, std::vector<TrainingOrder> orders,
                                      const std::vector<Training>& present) {
    const DeskOptions& options = context.options.desk;
    if (options.sweep.empty()) {
        if (options.keep_best > 0) {
            throw Error(ExitCode::usage, "--keep-best without --sweep", "name the file with the trials");
        }
        return orders;
    }
    if (orders.size() != 1) {
        throw Error(ExitCode::usage, "--sweep takes one order", "submit the others by themselves");
    }
    const std::vector<Trial> trials = parse_sweep(read_text_file(options.sweep), options.sweep);
    return sweep_orders(orders[0], trials, free_sweep_name(options.sweep, present), options.keep_best);
}

void refuse_name_of_a_sweep(const std::vector<TrainingOrder>& orders, const std::vector<Training>& present) {
    for (const TrainingOrder& order : orders) {
        if (std::ranges::find(present, order.name, [](const Training& one) { return one.order.sweep; }) != present.end()) {
            throw Error(ExitCode::usage, "there is a sweep " + order.name + " already",
                        "name the training otherwise with --training.name");
        }
    }
}

// Two trainings in one run directory would join each other, or refuse.
void refuse_shared_run(const std::vector<TrainingOrder>& orders, const std::vector<Training>& present) {
    std::vector<std::pair<std::string, std::string>> runs;  // directory, whose
    for (const Training& one : present) {
        if (!has_ended(one.record.state)) {
            runs.emplace_back(one.order.run_directory, "training " + one.id);
        }
    }
    for (const TrainingOrder& order : orders) {
        const auto other =
            std::ranges::find(runs, order.run_directory, [](const auto& run) { return run.first; });
        if (other != runs.end()) {
            throw Error(
                ExitCode::usage,
                order.name + ": the run directory " + order.run_directory + " is that of " + other->second,
                "name another one with --training.run_dir");
        }
        runs.emplace_back(order.run_directory, "order " + order.name);
    }
}

std::vector<TrainingOrder> read_orders(const CommandContext& context, const std::vector<Training>& present) {
    std::vector<TrainingOrder> orders;
    const auto& arguments = context.invocation.positionals;
    const double now_s = seconds_since_1970();
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        orders.push_back(read_training_order(arguments[i], context.schema));
        orders.back().submitted_s = now_s;
    }
    orders = with_sweep(context, std::move(orders), present);
    for (TrainingOrder& order : orders) {
        order = completed(std::move(order), fs::current_path());
    }
    refuse_name_of_a_sweep(orders, present);
    refuse_shared_run(orders, present);
    return orders;
}

std::vector<TrainingOrder> usable_orders(const CommandContext& context, const std::vector<Training>& present) {
    std::vector<TrainingOrder> orders = read_orders(context, present);
    if (!context.options.desk.unchecked) {
        check_orders(orders, context.options.serve.programs(), run_command);
    }
    return orders;
}

std::string described(const TrainingOrder& order) {
    return std::to_string(order.least) + ".." + std::to_string(order.most) + " nodes, " + order.config +
           (order.arguments.empty() ? "" : " " + config::join(order.arguments, " ")) + ", run " +
           order.run_directory;
}

}  // namespace

int submit_command(const CommandContext& context) {
    const std::string path = context.invocation.positionals.at(0);
    if (context.invocation.dry_run) {
        const bool there = fs::exists(fs::path(path) / "state.json");
        for (const TrainingOrder& order :
             usable_orders(context, there ? StateDirectory::open(path).trainings() : std::vector<Training>{})) {
            std::cout << order.name << ": " << described(order) << "\n";
        }
        std::cout << "nothing was submitted\n";
        return 0;
    }
    const StateDirectory state = StateDirectory::create_or_open(path);
    const std::vector<TrainingOrder> orders = usable_orders(context, state.trainings());
    const std::vector<std::string> ids = state.publish(orders);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        std::cout << "submitted " << ids[i] << ": " << described(orders[i]) << "\n";
    }
    std::cout << (state.manager() ? "  how it goes   mastic-rescale status " + path
                                  : "  no manager lives: mastic-rescale serve " + path)
              << "\n";
    return 0;
}

}  // namespace mastic::schedule
