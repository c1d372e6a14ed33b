#include <mastic/schedule/idle_trace.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

#include <mastic/core/error.hpp>

namespace mastic::schedule {
namespace {

constexpr double latest = 1e10;  // seconds: three centuries

struct Columns {
    std::size_t time;
    std::size_t node;
    std::size_t delta;
    std::size_t count;
};

Columns find_columns(std::string_view header, const std::string& source) {
    const std::vector<std::string_view> names = split(header, ',');
    const auto index = [&](std::string_view name) {
        const auto found = std::ranges::find(names, name);
        if (found == names.end()) {
            throw Error(ExitCode::data, source + ": no column '" + std::string(name) + "' in the header",
                        "a trace of idle nodes starts with the line time_s,node,delta");
        }
        return static_cast<std::size_t>(found - names.begin());
    };
    return {index("time_s"), index("node"), index("delta"), names.size()};
}

class CsvEvents {
  public:
    explicit CsvEvents(OddRows& odd) : odd_(odd) {}

    void add(const std::vector<std::string_view>& cells, const Columns& columns, std::size_t line) {
        if (cells.size() != columns.count) {
            odd_.add(line,
                     std::to_string(cells.size()) + " cells instead of " + std::to_string(columns.count));
            return;
        }
        const auto time = parse_number(cells[columns.time]);
        const auto node = parse_integer(cells[columns.node]);
        const auto delta = parse_integer(cells[columns.delta]);
        if (!time || !node || !delta || (*delta != 1 && *delta != -1) || *node < 0 || *node >= most_nodes ||
            *time > latest) {
            odd_.add(line, "no time, node number and 1 or -1");
        } else if (*time < trace_.end) {
            odd_.add(line, "earlier than the row above");
        } else {
            accept({*time, static_cast<int>(*node), *delta == 1}, line);
        }
    }

    IdleTrace take() { return std::move(trace_); }

  private:
    void accept(const NodeEvent& event, std::size_t line) {
        const auto at = static_cast<std::size_t>(event.node);
        if (idle_.size() <= at) {
            idle_.resize(at + 1);
        }
        if (idle_[at] == event.idle) {
            odd_.add(line, "node " + std::to_string(event.node) +
                               (event.idle ? " is idle already" : " is not idle"));
            return;
        }
        idle_[at] = event.idle;
        trace_.nodes = std::max(trace_.nodes, event.node + 1);
        trace_.end = event.time;
        trace_.events.push_back(event);
    }

    OddRows& odd_;
    IdleTrace trace_;
    std::vector<bool> idle_;
};

void append_number(std::string& text, double value) {
    char buffer[32];
    text.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

}  // namespace

IdleTrace IdleTrace::slice(double from, double to) const {
    IdleTrace part;
    part.nodes = nodes;
    part.end = to - from;
    std::vector<bool> idle(static_cast<std::size_t>(nodes));
    auto event = events.begin();
    for (; event != events.end() && event->time <= from; ++event) {
        idle[static_cast<std::size_t>(event->node)] = event->idle;
    }
    for (int node = 0; node < nodes; ++node) {
        if (idle[static_cast<std::size_t>(node)]) {
            part.events.push_back({0, node, true});
        }
    }
    for (; event != events.end() && event->time < to; ++event) {
        part.events.push_back({event->time - from, event->node, event->idle});
    }
    return part;
}

IdleTrace IdleTrace::first_nodes(int count) const {
    IdleTrace part;
    part.nodes = std::min(count, nodes);
    part.end = end;
    std::ranges::copy_if(events, std::back_inserter(part.events),
                         [count](const NodeEvent& event) { return event.node < count; });
    return part;
}

double IdleTrace::idle_node_seconds() const {
    double sum = 0;
    for (const NodeEvent& event : events) {
        sum += (event.idle ? 1 : -1) * (end - event.time);
    }
    return sum;
}

IdleTrace parse_idle_csv(std::string_view text, OddRows& odd) {
    CsvEvents events(odd);
    std::optional<Columns> columns;
    LineReader lines(text);
    std::string_view line;
    while (lines.read(line)) {
        if (line.empty() || line[0] == '#') {
            continue;
        }
        if (!columns) {
            columns = find_columns(line, odd.source());
        } else {
            events.add(split(line, ','), *columns, lines.number());
        }
    }
    IdleTrace trace = events.take();
    if (trace.events.empty()) {
        throw Error(ExitCode::data, odd.source() + ": no event of an idle node",
                    "a trace of idle nodes starts with the line time_s,node,delta");
    }
    return trace;
}

std::string to_idle_csv(const IdleTrace& trace) {
    std::string text = "time_s,node,delta\n";
    for (const NodeEvent& event : trace.events) {
        append_number(text, event.time);
        text += "," + std::to_string(event.node) + (event.idle ? ",1\n" : ",-1\n");
    }
    return text;
}

}  // namespace mastic::schedule
