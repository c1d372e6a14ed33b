// The peer Gloo, over TCP. Setting: algorithm=ring, ring_chunked, halving_doubling, bcube or new_ring.
// Environment: BENCH_RANK, BENCH_SIZE, BENCH_GLOO_ADDRESS (of this node), BENCH_GLOO_STORE (an empty directory that all
// ranks see).
#include <chrono>

#include <gloo/allreduce.h>
#include <gloo/allreduce_bcube.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <mastic/core/error.hpp>

#include "bench/collective/server.hpp"

namespace {

using namespace mastic;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr) {
        throw Error(ExitCode::environment, std::string(name) + " is not set");
    }
    return value;
}

class GlooSide : public bench::Side {
  public:
    GlooSide() {
        gloo::transport::tcp::attr address;
        address.hostname = variable("BENCH_GLOO_ADDRESS");
        auto device = gloo::transport::tcp::CreateDevice(address);
        gloo::rendezvous::FileStore store(variable("BENCH_GLOO_STORE"));
        context_ = std::make_shared<gloo::rendezvous::Context>(bench::launched_rank(),
                                                               std::stoi(variable("BENCH_SIZE")));
        context_->setTimeout(std::chrono::seconds(120));
        context_->connectFullMesh(store, device);
    }

    int rank() const override { return context_->rank; }
    int size() const override { return context_->size; }
    std::string description() const override { return "Gloo"; }

    void finish() override { context_.reset(); }

    void barrier() override {
        gloo::BarrierOptions options(context_);
        gloo::barrier(options);
    }

    bench::Operation prepare(const bench::Command& command, std::span<float> buffer) override {
        const auto found = command.settings.find("algorithm");
        const std::string name = found == command.settings.end() ? "" : found->second;
        if (command.collective != "allreduce") {
            throw Error(ExitCode::usage, "only allreduce is measured with Gloo");
        }
        return {run_of(name, buffer), {{buffer, 0}}, name};
    }

  private:
    std::function<void()> run_of(const std::string& name, std::span<float> buffer) {
        if (name == "ring") {
            return run_of_class<gloo::AllreduceRing<float>>(buffer);
        }
        if (name == "ring_chunked") {
            return run_of_class<gloo::AllreduceRingChunked<float>>(buffer);
        }
        if (name == "halving_doubling") {
            return run_of_class<gloo::AllreduceHalvingDoubling<float>>(buffer);
        }
        if (name == "bcube") {
            return run_of_class<gloo::AllreduceBcube<float>>(buffer);
        }
        if (name == "new_ring") {
            return [this, buffer] {
                gloo::AllreduceOptions options(context_);
                options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
                options.setOutput(buffer.data(), buffer.size());
                using Sum = void (*)(void*, const void*, const void*, std::size_t);
                options.setReduceFunction(static_cast<Sum>(&gloo::sum<float>));
                gloo::allreduce(options);
            };
        }
        throw Error(ExitCode::usage, "unknown algorithm '" + name + "' of Gloo");
    }

    template <class Algorithm>
    std::function<void()> run_of_class(std::span<float> buffer) {
        const auto algorithm = std::make_shared<Algorithm>(context_, std::vector<float*>{buffer.data()},
                                                           static_cast<int>(buffer.size()));
        return [algorithm] { algorithm->run(); };
    }

    std::shared_ptr<gloo::rendezvous::Context> context_;
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_side(argc, argv, [] { return std::make_unique<GlooSide>(); });
}
