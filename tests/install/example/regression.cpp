// Logistic regression on made-up data, on ranks of MPI or on members that come and go:
//   mpiexec -n 2 ./regression --run.dir runs/fixed
//   ./regression --elastic.join runs/elastic         in as many terminals as you like, at any time
#include <mastic/core/random.hpp>
#include <mastic/elastic/app/app.hpp>

#include <cmath>
#include <cstdio>
#include <numeric>
using mastic::app::Context;

class Regression : public mastic::app::App {
    static constexpr std::uint64_t samples = 20'000, features = 20;
    std::int64_t steps_ = 500;
    std::vector<double> inputs_, weights_ = std::vector<double>(features);

    void declare(mastic::config::Schema& schema) override {
        schema.option("fit.steps", steps_, "steps of gradient descent").at_least(1);
    }
    void setup(Context& context) override {
        mastic::CounterRandom random(1);
        for (std::uint64_t i = 0; i < samples * features; ++i) {
            inputs_.push_back(random.uniform() - 0.5);
        }
        context.keep("weights", std::span(weights_));
    }
    bool finished(const Context& context) const override { return context.steps() >= steps_; }
    void step(Context& context) override {
        std::vector<double> gradient(features);
        for (auto [i, end] = context.part(samples); i < end; ++i) {
            const double error = 1 / (1 + std::exp(-score(i))) - label(i);
            for (std::uint64_t f = 0; f < features; ++f) {
                gradient[f] += error / samples * inputs_[i * features + f];
            }
        }
        context.allreduce(std::span(gradient));
        for (std::uint64_t f = 0; f < features; ++f) {
            weights_[f] -= 2.0 * gradient[f];
        }
    }
    void evaluate(Context& context) override {
        std::int64_t right = 0;
        for (auto [i, end] = context.part(samples); i < end; ++i) {
            right += (score(i) > 0) == label(i);
        }
        right = context.allreduce(right);
        if (context.first()) {
            std::printf("%ld of %ld right, first weight %.12f\n", long(right), long(samples), weights_[0]);
        }
    }
    double score(std::uint64_t i) const {
        return std::inner_product(weights_.begin(), weights_.end(), &inputs_[i * features], 0.0);
    }
    bool label(std::uint64_t i) const { return inputs_[i * features] > inputs_[i * features + 1]; }
};

int main(int argc, char** argv) {
    Regression app;
    return mastic::app::run(argc, argv, app);
}
