// The resident side of staged-vs-resident: an app whose processes keep the model, and sum gradients among each other.
#include <chrono>
#include <cstdio>
#include <vector>

#include <mastic/elastic/app/app.hpp>

#include "bench/staged/perceptron.hpp"

namespace mastic::bench {
namespace {

using Clock = std::chrono::steady_clock;

class Resident : public app::App {
    void declare(config::Schema& schema) override {
        schema.option("bench.steps", steps_, "steps").at_least(1);
    }
    void setup(app::Context& context) override { context.keep("weights", model_.weights()); }
    bool finished(const app::Context& context) const override { return context.steps() >= steps_; }
    void step(app::Context& context) override {
        const auto begin = Clock::now();
        const auto [first, last] = context.part(Perceptron::batch);
        std::vector<float> gradient = model_.gradient(context.steps(), first, last);
        context.allreduce(std::span(gradient));
        model_.update(gradient);
        times_.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    }
    void evaluate(app::Context& context) override {
        if (context.first()) {
            for (const double time : times_) {
                std::printf("step %.3f\n", time);
            }
            std::printf("norm %.9f\n", model_.norm());
        }
    }

    Perceptron model_;
    std::int64_t steps_ = 30;
    std::vector<double> times_;
};

}  // namespace
}  // namespace mastic::bench

int main(int argc, char** argv) {
    mastic::bench::Resident app;
    return mastic::app::run(argc, argv, app);
}
