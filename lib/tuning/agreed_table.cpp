#include <mastic/tuning/agreed_table.hpp>

#include <mastic/comm/together.hpp>

namespace mastic::tuning {

TunedSelection agreed_selection(comm::Group& exchange, const std::string& file, const GroupShape& shape, comm::Wire wire) {
    const std::string text = comm::run_on_first(exchange, [&file] { return table_text_of(file); });
    TunedSelection tuned;
    comm::run_together(exchange, [&] {
        const TuningTable table = TuningTable::parse(text, file);
        table.require_machine(this_machine(table.machine.mpi));
        tuned = table.selection_for(shape, wire);
    });
    return tuned;
}

}  // namespace mastic::tuning
