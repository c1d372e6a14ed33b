// Runs the plans of all ranks in one process, by the rules of plan.hpp and nothing more: steps take turns at random,
// and a stream holds `capacity` elements. With a capacity of 0, an element passes when both ends are at it
// (rendezvous).
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <mastic/comm/plan/plan.hpp>

namespace mastic::comm {

template <class Value>
class Simulator {
  public:
    using Reduce = std::function<Value(Value, Value)>;
    using Round = std::function<Value(Value)>;  // what a send makes of a value, on both ends

    // `buffers`: by rank, all of the same size; changed in place.
    Simulator(const std::vector<Plan>& plans, const BlockLayout& layout,
              std::vector<std::vector<Value>>& buffers, Reduce reduce, Round round, int capacity)
        : layout_(layout),
          buffers_(buffers),
          reduce_(std::move(reduce)),
          round_(std::move(round)),
          capacity_(static_cast<std::size_t>(capacity)) {
        for (const Plan& plan : plans) {
            add_rank(plan);
        }
    }

    // False: all are stuck, and some step is not done.
    bool run(std::uint64_t seed) {
        std::mt19937_64 random(seed);
        for (bool moved = true; moved;) {
            moved = false;
            std::shuffle(queues_.begin(), queues_.end(), random);
            for (Queue& queue : queues_) {
                for (auto turns = random() % 4 + 1; turns > 0 && advance(queue); --turns) {
                    moved = true;
                }
            }
        }
        return std::ranges::all_of(queues_, [&](Queue& queue) { return front(queue) == nullptr; }) &&
               std::ranges::all_of(streams_, [](const auto& stream) { return stream.second.empty(); });
    }

  private:
    // The part of a step that lies in one block, and the part of the step before it on that block.
    struct Part {
        std::size_t begin = 0;  // elements
        std::size_t size = 0;
        std::size_t done = 0;
        const Part* before = nullptr;
    };
    struct Running {
        Action action;
        std::vector<Part> parts;  // in order; fixed once made, since others point into it
        std::size_t current = 0;
    };
    // The steps of one rank that share a stream and a direction.
    struct Queue {
        int rank;
        int peer;
        bool sends;
        std::vector<Running*> steps;
        std::size_t current = 0;
    };

    void add_rank(const Plan& plan) {
        const int rank = ranks_++;
        std::vector<const Part*> last(static_cast<std::size_t>(plan.blocks));
        std::map<std::pair<int, bool>, std::vector<Running*>> by_stream;
        for (const PlanStep& step : plan.steps) {
            Running& running = steps_.emplace_back(Running{step.action, {}});
            running.parts.resize(static_cast<std::size_t>(step.block_count));
            for (int i = 0; i < step.block_count; ++i) {
                const int block = (step.first_block + i) % plan.blocks;
                const Part*& before = last[static_cast<std::size_t>(block)];
                Part& part = running.parts[static_cast<std::size_t>(i)];
                part = {layout_.begin(block), layout_.size(block), 0, before};
                before = &part;
            }
            by_stream[{step.peer, step.action == Action::send}].push_back(&running);
        }
        for (auto& [key, steps] : by_stream) {
            queues_.push_back({rank, key.first, key.second, std::move(steps)});
        }
    }

    // The part that the queue is at; null: it has come to its end.
    static Part* front(Queue& queue) {
        for (; queue.current < queue.steps.size(); ++queue.current) {
            Running& step = *queue.steps[queue.current];
            for (; step.current < step.parts.size(); ++step.current) {
                if (Part& part = step.parts[step.current]; part.done < part.size) {
                    return &part;
                }
            }
        }
        return nullptr;
    }

    // The element that the queue may transfer now.
    Value* ready(Queue& queue) {
        const Part* part = front(queue);
        if (part == nullptr || (part->before != nullptr && part->before->done <= part->done)) {
            return nullptr;
        }
        return &buffers_[static_cast<std::size_t>(queue.rank)][part->begin + part->done];
    }

    bool advance(Queue& queue) {
        Value* element = ready(queue);
        if (element == nullptr) {
            return false;
        }
        if (queue.sends) {
            return capacity_ > 0 ? push(queue, *element) : meet(queue, *element);
        }
        std::deque<Value>& stream = streams_[{queue.peer, queue.rank}];
        if (stream.empty()) {
            return false;
        }
        take(queue, *element, stream.front());
        stream.pop_front();
        return true;
    }

    bool push(Queue& sender, Value& element) {
        std::deque<Value>& stream = streams_[{sender.rank, sender.peer}];
        if (stream.size() >= capacity_) {
            return false;
        }
        element = round_(element);
        stream.push_back(element);
        ++front(sender)->done;
        return true;
    }

    bool meet(Queue& sender, Value& element) {
        const auto receiver = std::ranges::find_if(queues_, [&](const Queue& queue) {
            return !queue.sends && queue.rank == sender.peer && queue.peer == sender.rank;
        });
        Value* into = receiver == queues_.end() ? nullptr : ready(*receiver);
        if (into == nullptr) {
            return false;
        }
        element = round_(element);
        take(*receiver, *into, element);
        ++front(sender)->done;
        return true;
    }

    void take(Queue& receiver, Value& into, Value received) {
        Part* part = front(receiver);
        const bool reduces = receiver.steps[receiver.current]->action == Action::receive_reduce;
        into = reduces ? reduce_(into, received) : received;
        ++part->done;
    }

    BlockLayout layout_;
    std::vector<std::vector<Value>>& buffers_;
    Reduce reduce_;
    Round round_;
    std::size_t capacity_;
    int ranks_ = 0;
    std::deque<Running> steps_;  // of all ranks; never moved
    std::vector<Queue> queues_;
    std::map<std::pair<int, int>, std::deque<Value>> streams_;  // by sender and receiver
};

}  // namespace mastic::comm
