#include <mastic/gradient/gradient_reducer.hpp>

#include <torch/torch.h>

#include <atomic>

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <mastic/comm/fingerprint.hpp>
#include <mastic/core/error.hpp>
#include <mastic/gradient/buffer_view.hpp>

namespace mastic::gradient {
namespace {

// A bucket at run time.
struct BucketProgress {
    std::string name;           // "bucket 3"
    std::size_t slots = 0;
    std::size_t missing = 0;    // gradients still to come in this step
    comm::Request request{};
    Trace::Clock::time_point start_time{};
};

// Where a parameter's gradient lives.
struct Home {
    std::size_t bucket = 0;
    bool filled = false;  // in this step
};

}  // namespace

struct GradientReducer::Implementation {
    model::NamedTensors parameters;
    comm::Group& group;
    ReducerOptions options;
    Trace& trace;
    std::vector<Bucket> plan;
    std::vector<BucketProgress> buckets;
    std::vector<Home> homes;  // by parameter
    // One set, unless somebody holds those of earlier steps.
    std::vector<std::shared_ptr<FlatGradients>> sets;
    std::shared_ptr<FlatGradients> current;  // of this step
    // autograd keeps accumulators weakly: without an owner the hooks would go with them.
    std::vector<std::shared_ptr<torch::autograd::Node>> accumulators;
    std::vector<std::uintptr_t> hook_keys;
    std::size_t next_to_start = 0;
    bool last_backward = true;
    Seconds reduction_time{0};

    Implementation(model::NamedTensors named, comm::Group& g, const ReducerOptions& o, Trace& t)
        : parameters(std::move(named)), group(g), options(o), trace(t), plan(plan_buckets_of(parameters, options.buckets)) {
        describe_buckets();
        take_free_set();
        attach_hooks();
    }

    void describe_buckets() {
        homes.resize(parameters.size());
        std::vector<comm::OperationFingerprint> agreed;
        for (const Bucket& planned : plan) {
            buckets.push_back({.name = "bucket " + std::to_string(buckets.size()), .slots = planned.slots.size()});
            for (const BucketSlot& slot : planned.slots) {
                homes[slot.parameter].bucket = buckets.size() - 1;
                const auto& [name, tensor] = parameters[slot.parameter];
                agreed.push_back({name, static_cast<std::size_t>(tensor.numel()), planned.type, comm::ReduceOp::sum});
            }
            agreed.push_back({buckets.back().name, planned.count, planned.type, comm::ReduceOp::sum});
        }
        comm::check_agreement(group, agreed);
    }

    void take_free_set() {
        current.reset();
        for (const auto& set : sets) {
            if (set.use_count() == 1) {
                std::atomic_thread_fence(std::memory_order_acquire);  // after whoever read it last, on any thread
                current = set;
                return;
            }
        }
        sets.push_back(std::make_shared<FlatGradients>(
            parameters, plan, [this](std::size_t bytes) { return group.allocate(bytes); }));
        current = sets.back();
    }

    void attach_hooks() {
        using torch::autograd::variable_list;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            auto accumulator = torch::autograd::impl::grad_accumulator(parameters[i].second);
            if (!accumulator) {
                throw Error(ExitCode::usage, "parameter '" + parameters[i].first + "' does not require a gradient");
            }
            hook_keys.push_back(
                accumulator->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(
                    [this, i](const variable_list& outputs, const variable_list&) {
                        gradient_accumulated(i);
                        return outputs;
                    })));
            accumulators.push_back(std::move(accumulator));
        }
    }

    ~Implementation() {
        for (std::size_t i = 0; i < accumulators.size(); ++i) {
            accumulators[i]->del_post_hook(hook_keys[i]);
            parameters[i].second.mutable_grad().reset();
        }
    }

    // The first gradient of a step arrives in memory of autograd's and is copied home; that is cheaper than zeroing the
    // bucket beforehand and adding into it. Later micro-batches add in place.
    void gradient_accumulated(std::size_t i) {
        Home& home = homes[i];
        torch::Tensor& parameter = parameters[i].second;
        if (!home.filled) {
            const torch::Tensor& view = current->view(i);
            view.copy_(parameter.grad());
            parameter.mutable_grad() = view;
            home.filled = true;
        }
        if (last_backward && --buckets[home.bucket].missing == 0 && options.overlap) {
            start_full_buckets();
        }
    }

    // In the agreed order: a full bucket waits for its predecessors.
    void start_full_buckets() {
        while (next_to_start < buckets.size() && buckets[next_to_start].missing == 0) {
            start(next_to_start++);
        }
    }

    void start(std::size_t index) {
        BucketProgress& bucket = buckets[index];
        bucket.start_time = Trace::Clock::now();
        const torch::Tensor& flat = current->flats()[index];
        const comm::BufferView view = buffer_view(flat, plan[index].type);
        bucket.request = group.start_allreduce(view, comm::ReduceOp::sum, {.name = bucket.name, .owner = current});
    }

    void begin() {
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            parameters[i].second.mutable_grad().reset();
            homes[i].filled = false;
        }
        take_free_set();
        for (BucketProgress& bucket : buckets) {
            bucket.missing = bucket.slots;
        }
        next_to_start = 0;
        last_backward = false;
    }

    void fill_the_rest() {
        torch::NoGradGuard no_grad;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            if (!homes[i].filled) {
                current->view(i).zero_();
                parameters[i].second.mutable_grad() = current->view(i);
            }
        }
        while (next_to_start < buckets.size()) {
            start(next_to_start++);
        }
    }

    Seconds finish() {
        fill_the_rest();
        const auto begin_wait = Trace::Clock::now();
        reduction_time = Seconds{0};
        for (BucketProgress& bucket : buckets) {
            if (options.on_wait && !bucket.request.test()) {
                options.on_wait(bucket.name);
            }
            bucket.request.wait();
            const Seconds took = bucket.request.duration();
            reduction_time += took;
            if (trace.enabled()) {
                trace.complete("communication", bucket.name, bucket.start_time,
                               bucket.start_time + std::chrono::duration_cast<Trace::Clock::duration>(took));
            }
        }
        return Trace::Clock::now() - begin_wait;
    }
};

GradientReducer::GradientReducer(model::NamedTensors parameters, comm::Group& group, const ReducerOptions& options,
                                 Trace& trace)
    : implementation_(std::make_unique<Implementation>(std::move(parameters), group, options, trace)) {}
GradientReducer::~GradientReducer() = default;

void GradientReducer::begin() { implementation_->begin(); }
void GradientReducer::expect_last_backward() { implementation_->last_backward = true; }
Seconds GradientReducer::finish() { return implementation_->finish(); }
Seconds GradientReducer::reduction_time() const { return implementation_->reduction_time; }
const std::vector<torch::Tensor>& GradientReducer::flat_gradients() const { return implementation_->current->flats(); }
std::shared_ptr<const FlatGradients> GradientReducer::hold() const { return implementation_->current; }
std::size_t GradientReducer::bucket_count() const { return implementation_->buckets.size(); }

}  // namespace mastic::gradient
