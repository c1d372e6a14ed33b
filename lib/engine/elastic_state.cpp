#include <mastic/engine/elastic_state.hpp>

#include <torch/torch.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include <mastic/core/checksum.hpp>
#include <mastic/core/error.hpp>
#include <mastic/model/initial_weights.hpp>
#include <mastic/model/tensor_types.hpp>

namespace mastic::engine {
namespace {

using Bytes = std::span<const std::byte>;

// Length of the header (8 bytes), header (JSON), contents.
std::shared_ptr<std::string> framed(const nlohmann::json& header) {
    const std::string text = header.dump();
    const std::uint64_t size = text.size();
    auto bytes = std::make_shared<std::string>(reinterpret_cast<const char*>(&size), sizeof size);
    *bytes += text;
    return bytes;
}

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::uint64_t size_of_entries(const checkpoint::State& state) {
    std::uint64_t size = 0;
    for (const checkpoint::StateEntry& entry : state.entries) {
        size += entry.bytes.size();
    }
    return size;
}

[[noreturn]] void throw_damaged() {
    throw Error(ExitCode::collective, "what another member sent is not the state of this training",
                "do all members run the same program with the same configuration?");
}

// Takes a message apart, in order.
class Reader {
  public:
    explicit Reader(Bytes bytes) : rest_(bytes) {
        std::uint64_t size = 0;
        std::memcpy(&size, take(sizeof size).data(), sizeof size);
        const Bytes text = take(size);
        const auto* first = reinterpret_cast<const char*>(text.data());
        header_ = nlohmann::json::parse(first, first + text.size(), nullptr, false);
        if (header_.is_discarded()) {
            throw_damaged();
        }
    }
    const nlohmann::json& header() const { return header_; }
    Bytes take(std::uint64_t count) {
        if (count > rest_.size()) {
            throw_damaged();
        }
        const Bytes taken = rest_.first(count);
        rest_ = rest_.subspan(count);
        return taken;
    }
    void take_into(const torch::Tensor& tensor) {
        const Bytes bytes = take(tensor.nbytes());
        // torch knows no read-only tensors.
        tensor.copy_(torch::from_blob(const_cast<std::byte*>(bytes.data()), tensor.sizes(), tensor.scalar_type()));
    }

  private:
    Bytes rest_;
    nlohmann::json header_;
};

// How a step looks on its way: what it was, and where in the data it ended.
struct StepHeader {
    AppliedStep step;
    data::SamplerPosition position;
};

nlohmann::json to_json(const StepHeader& header) {
    const AppliedStep& step = header.step;
    return {{"samples", step.samples},
            {"learning_rate", step.learning_rate},
            {"loss", step.loss},
            {"global_batch", step.global_batch},
            {"world_size", step.world_size},
            {"epoch", header.position.epoch},
            {"consumed", header.position.consumed}};
}

StepHeader step_header(const nlohmann::json& json) {
    try {
        return {{json.at("samples").get<std::uint64_t>(), json.at("learning_rate").get<double>(), json.at("loss").get<double>(),
                 json.at("global_batch").get<std::uint64_t>(), json.at("world_size").get<std::int64_t>()},
                {json.at("epoch").get<std::uint64_t>(), json.at("consumed").get<std::uint64_t>()}};
    } catch (const nlohmann::json::exception&) {
        throw_damaged();
    }
}

}  // namespace

ElasticState::ElasticState(TrainState& state, const gradient::BucketOptions& buckets, const ArithmeticFacts& arithmetic)
    : state_(state),
      arithmetic_(arithmetic),
      parameters_(model::trainable_parameters(*state.network)),
      buckets_(gradient::plan_buckets_of(parameters_, buckets)) {
    note_buffers();
}

void ElasticState::note_buffers() {
    kept_buffers_.clear();
    for (const torch::Tensor& buffer : state_.network->buffers()) {
        kept_buffers_.push_back(buffer.detach().clone());
    }
}

void ElasticState::roll_back() {
    const torch::NoGradGuard no_grad;
    const std::vector<torch::Tensor> buffers = state_.network->buffers();
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        torch::Tensor buffer = buffers[i];
        buffer.copy_(kept_buffers_[i]);
    }
}

elastic::Blob ElasticState::snapshot() {
    const checkpoint::State view = state_.view(arithmetic_);
    nlohmann::json header = {{"facts", view.facts}, {"entries", nlohmann::json::array()}};
    for (const checkpoint::StateEntry& entry : view.entries) {
        header["entries"].push_back({{"name", entry.name}, {"type", static_cast<int>(entry.type)}, {"shape", entry.shape}});
    }
    const std::uint64_t size = size_of_entries(view);
    // The weights change in the next step, so they are copied.
    const auto head = framed(header);
    const std::shared_ptr<std::byte[]> copy = take_copy(size);
    std::byte* to = copy.get();
    for (const checkpoint::StateEntry& entry : view.entries) {
        std::memcpy(to, entry.bytes.data(), entry.bytes.size());
        to += entry.bytes.size();
    }
    const auto owner = std::make_shared<std::pair<std::shared_ptr<std::string>, std::shared_ptr<std::byte[]>>>(head, copy);
    return {{bytes_of(*head), Bytes(copy.get(), size)}, owner};
}

void ElasticState::expect_snapshot() {
    const std::lock_guard lock(copy_mutex_);
    constexpr std::uint64_t most = std::uint64_t{2} << 30;  // more takes so long that the newcomer would think nobody answers
    const std::uint64_t size = state_bytes_;
    if (size > 0 && size <= most && (copy_.size != size || copy_.bytes.use_count() > 1)) {
        copy_ = {std::shared_ptr<std::byte[]>(new std::byte[size]()), size};  // zeroed, so touched
    }
}

// One that nobody reads any more.
std::shared_ptr<std::byte[]> ElasticState::take_copy(std::uint64_t size) {
    const std::lock_guard lock(copy_mutex_);
    state_bytes_ = size;
    if (copy_.size != size || copy_.bytes.use_count() > 1) {
        copy_ = {std::shared_ptr<std::byte[]>(new std::byte[size]), size};
    }
    return copy_.bytes;
}

void ElasticState::load(elastic::Step, std::span<const std::byte> snapshot) {
    if (const auto use = std::exchange(on_newcomer_, {})) {
        use();
    }
    try {
        Reader reader(snapshot);
        checkpoint::State stored;
        stored.facts = reader.header().at("facts");
        for (const nlohmann::json& described : reader.header().at("entries")) {
            const auto type = static_cast<DataType>(described.at("type").get<int>());
            const std::vector<std::int64_t> shape = described.at("shape");
            std::uint64_t bytes = size_of(type);
            for (const std::int64_t extent : shape) {
                bytes *= static_cast<std::uint64_t>(extent);
            }
            stored.entries.push_back(checkpoint::whole_entry(described.at("name"), type, shape, reader.take(bytes)));
        }
        state_.restore(stored);
    } catch (const nlohmann::json::exception&) {
        throw_damaged();
    }
    note_buffers();
}

elastic::Blob ElasticState::record(std::shared_ptr<const gradient::FlatGradients> gradients, const AppliedStep& step) {
    note_buffers();
    if (state_bytes_ == 0) {
        state_bytes_ = size_of_entries(state_.view(arithmetic_));
    }
    const auto head = framed(to_json({step, state_.position}));
    struct Owner {
        std::shared_ptr<std::string> head;
        std::shared_ptr<const gradient::FlatGradients> gradients;
        std::vector<torch::Tensor> on_host;  // gradients and buffers: themselves, or copies of a device's
    };
    auto owner = std::make_shared<Owner>(head, std::move(gradients));
    std::vector<Bytes> pieces = {bytes_of(*head)};
    for (const auto* tensors : {&owner->gradients->flats(), &std::as_const(kept_buffers_)}) {
        for (const torch::Tensor& tensor : *tensors) {
            owner->on_host.push_back(tensor.cpu());
            pieces.push_back(model::bytes_of(owner->on_host.back()));
        }
    }
    return {std::move(pieces), std::move(owner)};
}

void ElasticState::apply(elastic::Step step, std::span<const std::byte> reduced) {
    if (step != state_.step + 1) {
        throw_damaged();
    }
    if (!received_) {
        received_ = std::make_unique<gradient::FlatGradients>(parameters_, buckets_, [](std::size_t bytes) {
            return std::shared_ptr<void>(std::make_unique<std::byte[]>(bytes));
        });
    }
    const torch::NoGradGuard no_grad;
    Reader reader(reduced);
    const auto [applied, position] = step_header(reader.header());
    for (const torch::Tensor& flat : received_->flats()) {
        reader.take_into(flat);
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        torch::Tensor parameter = parameters_[i].second;
        parameter.mutable_grad() = received_->view(i);
    }
    for (const torch::Tensor& buffer : state_.network->buffers()) {
        reader.take_into(buffer);
    }
    state_.optimizer->set_learning_rate(applied.learning_rate);
    state_.optimizer->step();
    for (const auto& [name, tensor] : parameters_) {
        torch::Tensor parameter = tensor;
        parameter.mutable_grad().reset();
    }
    state_.samples += applied.samples;
    state_.position = position;
    state_.step = step;
    note_buffers();
    if (on_step_of_others_) {
        on_step_of_others_(applied);
    }
}

std::uint64_t ElasticState::fingerprint() const {
    auto sum = static_cast<std::uint64_t>(state_.step);
    for (const auto& [name, tensor] : parameters_) {
        sum = checksum(model::bytes_of(tensor.detach().cpu().contiguous()), sum);
    }
    return sum;
}

}  // namespace mastic::engine
