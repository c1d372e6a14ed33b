#include <mastic/schedule/manager/live_history.hpp>

#include <algorithm>
#include <array>
#include <optional>

#include <mastic/schedule/span_recorder.hpp>

namespace mastic::schedule {
namespace {

constexpr int samples_of_time = 600;

// Names as numbers, in order of appearance.
class Numbers {
  public:
    explicit Numbers(std::vector<std::string>& names) : names_(names) {}

    int of(const std::string& name) {
        const auto [found, is_new] = numbers_.try_emplace(name, static_cast<int>(names_.size()));
        if (is_new) {
            names_.push_back(name);
        }
        return found->second;
    }

  private:
    std::vector<std::string>& names_;
    std::map<std::string, int> numbers_;
};

struct NodeNow {
    bool idle = false;                    // somebody could use it, or we do
    std::optional<NodeSpan::Kind> pilot;  // starting, computing; of `unused` it leaves
    JobId job = -1;
    double since = 0;

    bool given() const { return idle || pilot; }
    NodeSpan::Kind kind() const { return pilot.value_or(NodeSpan::Kind::unused); }
};

// Samples/s of one node, from the fewest nodes at which it was measured; the best of equals.
std::map<std::string, double> rates_of_one_node(const std::vector<Event>& events) {
    std::map<std::string, std::pair<int, double>> fewest;
    for (const Event& event : events) {
        if (event.kind != EventKind::progress || event.to < 1 || !(event.rate > 0)) {
            continue;
        }
        auto& [nodes, rate] = fewest.try_emplace(event.training, event.to, 0.0).first->second;
        if (event.to < nodes) {
            nodes = event.to;
            rate = 0;
        }
        rate = event.to == nodes ? std::max(rate, event.rate) : rate;
    }
    std::map<std::string, double> rates;
    for (const auto& [training, measured] : fewest) {
        rates[training] = measured.second / measured.first;
    }
    return rates;
}

// Walks through the events once.
class Walk {
  public:
    Walk(LiveHistory& history, const std::vector<Event>& events, std::vector<int> watched, double end)
        : history_(history),
          node_numbers_(history.nodes),
          job_numbers_(history.jobs),
          rates_(rates_of_one_node(events)),
          recorder_(std::move(watched), 0, end),
          every_(std::max(1.0, end / samples_of_time)) {}

    void take(const Event& event) {
        advance(std::max(now_, event.time_s - history_.begin_s));
        if (!event.node.empty()) {
            change_node(event);
        }
        switch (event.kind) {
            case EventKind::progress:
                progress(event);
                break;
            case EventKind::decision:
                decision(event);
                break;
            case EventKind::training_ended:
                history_.result.finished += event.text.starts_with("done") ? 1 : 0;
                break;
            default:
                break;
        }
    }

    void finish(double end) {
        advance(end);
        sample();
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            const NodeNow before = nodes_[i];
            record(static_cast<int>(i), before, nodes_[i]);
        }
        history_.trace.nodes = static_cast<int>(nodes_.size());
        history_.trace.end = end;
        history_.result.spans = recorder_.finish(end);
    }

    const std::vector<double>& filled_s() const { return filled_s_; }

  private:
    void advance(double until) {
        while (next_sample_ <= until) {
            account(next_sample_);
            sample();
            next_sample_ += every_;
        }
        account(until);
    }

    void account(double until) {
        NodeSeconds& seconds = history_.result.nodes;
        const double passed = until - now_;
        seconds.computing += passed * of_kind(NodeSpan::Kind::computing);
        seconds.starting += passed * of_kind(NodeSpan::Kind::starting);
        seconds.unused += passed * of_kind(NodeSpan::Kind::unused);
        seconds.given = seconds.computing + seconds.starting + seconds.unused;
        now_ = until;
    }

    int& of_kind(NodeSpan::Kind kind) { return counts_[static_cast<std::size_t>(kind)]; }

    void sample() {
        const int held = of_kind(NodeSpan::Kind::computing) + of_kind(NodeSpan::Kind::starting);
        history_.result.samples.push_back(
            {now_, history_.result.progress, held + of_kind(NodeSpan::Kind::unused), held});
    }

    void change_node(const Event& event) {
        const auto number = static_cast<std::size_t>(node_numbers_.of(event.node));
        if (number >= nodes_.size()) {
            nodes_.resize(number + 1);
            filled_s_.resize(number + 1);
        }
        NodeNow& node = nodes_[number];
        const NodeNow before = node;
        switch (event.kind) {
            case EventKind::node_idle:
                node.idle = true;
                break;
            case EventKind::node_taken:
                node.idle = false;
                break;
            case EventKind::pilot_started:
                node.pilot = NodeSpan::Kind::starting;
                break;
            case EventKind::pilot_joined:
                node.pilot = NodeSpan::Kind::computing;
                break;
            case EventKind::pilot_leaving:
                node.pilot = node.pilot ? std::optional(NodeSpan::Kind::unused) : std::nullopt;
                break;
            case EventKind::pilot_ended:
                history_.result.departures += before.pilot && before.pilot != NodeSpan::Kind::unused ? 1 : 0;
                node.pilot.reset();
                break;
            default:
                return;
        }
        node.job = node.pilot && !event.training.empty() ? job_numbers_.of(event.training)
                   : node.pilot                          ? node.job
                                                         : -1;
        record(static_cast<int>(number), before, node);
    }

    void record(int number, const NodeNow& before, NodeNow& node) {
        if (before.given()) {
            --of_kind(before.kind());
            const bool filled = before.kind() != NodeSpan::Kind::unused;
            filled_s_[static_cast<std::size_t>(number)] += filled ? now_ - before.since : 0;
        }
        if (before.given() != node.given()) {
            history_.trace.events.push_back({now_, number, node.given()});
        }
        node.since = now_;
        if (node.given()) {
            ++of_kind(node.kind());
            recorder_.set(number, now_, node.kind(), node.job);
        } else {
            recorder_.clear(number, now_);
        }
    }

    void progress(const Event& event) {
        std::int64_t& done = samples_[event.training];
        if (const auto rate = rates_.find(event.training); rate != rates_.end() && event.samples > done) {
            history_.result.progress += static_cast<double>(event.samples - done) / rate->second;
        }
        done = std::max(done, event.samples);
    }

    void decision(const Event& event) {
        ++history_.result.decisions;
        history_.result.rescales += event.from != event.to ? 1 : 0;
    }

    LiveHistory& history_;
    Numbers node_numbers_;
    Numbers job_numbers_;
    std::map<std::string, double> rates_;
    std::map<std::string, std::int64_t> samples_;  // done, by training
    SpanRecorder recorder_;
    double every_;
    double now_ = 0;
    double next_sample_ = 0;
    std::vector<NodeNow> nodes_;
    std::array<int, 3> counts_ = {};  // of nodes that are given, by what they do
    std::vector<double> filled_s_;    // by node
};

LiveHistory walk(const std::vector<Event>& events, double now_s, std::vector<int> watched,
                 std::vector<double>* filled_s) {
    LiveHistory history;
    history.begin_s = events.empty() ? now_s : events.front().time_s;
    const double end = std::max(1.0, now_s - history.begin_s);
    Walk walk(history, events, std::move(watched), end);
    for (const Event& event : events) {
        if (event.time_s <= now_s) {  // a clock that was wrong
            walk.take(event);
        }
    }
    walk.finish(end);
    if (filled_s != nullptr) {
        *filled_s = walk.filled_s();
    }
    return history;
}

}  // namespace

LiveHistory live_history(const std::vector<Event>& events, double now_s, std::size_t shown_nodes) {
    std::vector<double> filled_s;
    walk(events, now_s, {}, &filled_s);
    std::vector<int> longest(filled_s.size());
    for (std::size_t i = 0; i < longest.size(); ++i) {
        longest[i] = static_cast<int>(i);
    }
    std::ranges::stable_sort(longest, std::greater{},
                             [&](int node) { return filled_s[static_cast<std::size_t>(node)]; });
    longest.resize(std::min(longest.size(), shown_nodes));
    std::ranges::sort(longest);
    return walk(events, now_s, std::move(longest), nullptr);
}

}  // namespace mastic::schedule
