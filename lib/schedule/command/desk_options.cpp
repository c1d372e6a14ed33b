#include <mastic/schedule/command/desk_options.hpp>

namespace mastic::schedule {

void declare_desk_options(config::Schema& schema, DeskOptions& options) {
    declare_training_order(schema, options.training);
    schema
        .option("sweep", options.sweep,
                "submit: a trial for each line of FILE, which has further arguments of mastic-train")
        .metavar("FILE");
    schema
        .option("keep-best", options.keep_best,
                "submit: of a sweep's trials, run only so many to the end; 0: all")
        .at_least(0);
    schema.flag("unchecked", options.unchecked,
                "submit: without asking mastic-train whether it would take the configuration and finds its data");
    schema.flag("watch", options.watch, "status: again every 2 s, until Ctrl-C");
    schema.flag("undo", options.undo, "drain: use the nodes again");
    schema.flag("manager", options.manager, "stop: end the manager; the pilots go on");
    schema.option("wait", options.wait, "resize, drain, stop: so long for the manager's answer");
}

}  // namespace mastic::schedule
