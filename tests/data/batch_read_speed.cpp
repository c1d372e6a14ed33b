// Not a test: how fast batches of images are read. Prints GB/s of stored 8-bit pixels, best of 20 passes over all batches in
// shuffled order, one thread.
//   batch_read_speed IMAGES LABELS [BATCH]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <mastic/core/error.hpp>
#include <mastic/data/dataset_open.hpp>
#include <mastic/data/distributed_sampler.hpp>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_of_epoch(const mastic::data::Dataset& dataset, std::uint64_t batch_size, std::uint64_t seed) {
    mastic::data::DistributedSampler sampler(dataset.size(), batch_size, seed, true);
    mastic::data::StepPlan plan;
    mastic::data::Batch batch;
    double seconds = 0;
    do {
        sampler.next_into(plan, 0, 1);
        const auto begin = Clock::now();
        dataset.read(plan.ids, batch);
        seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    } while (!plan.last_of_epoch);
    return seconds;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: %s IMAGES LABELS [BATCH]\n", argv[0]);
        return static_cast<int>(mastic::ExitCode::usage);
    }
    try {
        mastic::data::DatasetOptions options;
        options.inputs = argv[1];
        options.targets = argv[2];
        options.mean = {0.2860};
        options.stddev = {0.3530};
        const auto begin = Clock::now();
        const auto dataset = mastic::data::open_dataset(options);
        const double opened = std::chrono::duration<double>(Clock::now() - begin).count();
        const std::uint64_t batch_size = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 128;
        double best = seconds_of_epoch(*dataset, batch_size, 0);
        for (std::uint64_t pass = 1; pass < 20; ++pass) {
            best = std::min(best, seconds_of_epoch(*dataset, batch_size, pass));
        }
        const double bytes = static_cast<double>(dataset->size()) *
                             static_cast<double>(mastic::data::element_count(dataset->layout().input_shape));
        std::printf("%s\nopened in %.2f s; read %.2f GB/s, %.1f us per batch of %llu\n",
                    dataset->description().c_str(), opened, bytes / best / 1e9,
                    best * 1e6 * static_cast<double>(batch_size) / static_cast<double>(dataset->size()),
                    static_cast<unsigned long long>(batch_size));
    } catch (const mastic::Error& error) {
        std::fprintf(stderr, "%s\n", error.full_message().c_str());
        return static_cast<int>(error.code());
    }
}
