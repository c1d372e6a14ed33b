#include <mastic/colocation/grant.hpp>

#include <algorithm>
#include <charconv>

#include <mastic/config/value.hpp>
#include <mastic/core/error.hpp>

namespace mastic::colocation {
namespace {

constexpr auto ask_for_gpus =
    "ask Slurm for GPUs: --gpus-per-node=1, or --gres=gpu:1, shard:4 or mps:50; or use --device cpu";

std::optional<std::size_t> index_of(const std::string& word) {
    std::size_t index = 0;
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, index);
    return error == std::errc() && stop == end ? std::optional(index) : std::nullopt;
}

class Resolver {
  public:
    Resolver(const std::vector<Device>& present, Grant& grant) : present_(present), grant_(grant) {}

    void add(const std::string& word) {
        if (const auto index = index_of(word)) {
            add_number(*index, word);
        } else {
            add_id(word);
        }
    }

    void add_gpu(const Device& gpu) {
        std::vector<Device> parts;
        std::ranges::copy_if(present_, std::back_inserter(parts),
                             [&](const Device& device) { return device.parent == gpu.id; });
        for (const Device& device : parts.empty() ? std::vector{gpu} : parts) {
            add_device(device);
        }
    }

  private:
    void add_number(std::size_t index, const std::string& word) {
        std::size_t gpus = 0;
        for (const Device& device : present_) {
            if (device.kind == DeviceKind::gpu && gpus++ == index) {
                add_gpu(device);
                return;
            }
        }
        throw Error(
            ExitCode::environment,
            grant_.source + " grants GPU " + word + ", but this node shows " + std::to_string(gpus),
            "indices count the GPUs that nvidia-smi shows inside of the job; UUIDs are never ambiguous");
    }

    void add_id(const std::string& word) {
        std::vector<Device> fitting;
        std::ranges::copy_if(present_, std::back_inserter(fitting),
                             [&](const Device& device) { return device.id.starts_with(word); });
        if (fitting.size() != 1) {
            throw Error(
                ExitCode::environment,
                grant_.source + " grants '" + word + "', but " +
                    (fitting.empty() ? "no device of this node has that id" : "several devices begin so"),
                "`nvidia-smi -L` lists the ids of this node");
        }
        fitting.front().kind == DeviceKind::gpu ? add_gpu(fitting.front()) : add_device(fitting.front());
    }

    void add_device(const Device& device) {
        if (std::ranges::count(grant_.devices, device.id, &Device::id) > 0) {
            throw Error(ExitCode::environment, grant_.source + " names " + device.id + " twice",
                        "several ranks on one GPU are what --ranks-per-gpu is for");
        }
        grant_.devices.push_back(device);
    }

    const std::vector<Device>& present_;
    Grant& grant_;
};

// Which variable speaks of this step's GPUs, if one does.
std::string source_of(const Environment& environment) {
    for (const char* name : {"CUDA_VISIBLE_DEVICES", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS"}) {
        if (environment(name)) {
            return name;
        }
    }
    return "";
}

void add_notes(const Environment& environment, Grant& grant) {
    if (environment("SLURM_SHARDS_ON_NODE")) {
        grant.notes.push_back("shards: other jobs may use these GPUs too");
    }
    if (const auto percentage = environment("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE")) {
        grant.notes.push_back("the job has " + *percentage + " % of the threads of these GPUs");
    }
}

}  // namespace

Grant granted_devices(const Environment& environment, const std::vector<Device>& present) {
    Grant grant;
    grant.source = source_of(environment);
    Resolver resolver(present, grant);
    const bool in_slurm = environment("SLURM_JOB_ID").has_value();
    if (!grant.source.empty()) {
        const std::string text = *environment(grant.source);
        for (const std::string& word : config::split_list(text == "NoDevFiles" ? "" : text)) {
            resolver.add(word);
        }
    } else if (!in_slurm) {
        grant.source = "all GPUs of this node";
        std::ranges::for_each(present, [&](const Device& device) {
            if (device.kind == DeviceKind::gpu) {
                resolver.add_gpu(device);
            }
        });
    }
    if (grant.devices.empty()) {
        const bool named = !grant.source.empty() && environment(grant.source).has_value();
        throw Error(ExitCode::environment,
                    named ? grant.source + " is '" + *environment(grant.source) + "': no GPU was granted here"
                    : in_slurm ? "this job was granted no GPU"
                               : "this node has no GPU",
                    in_slurm ? ask_for_gpus : "or share cores: --device cpu");
    }
    add_notes(environment, grant);
    return grant;
}

}  // namespace mastic::colocation
