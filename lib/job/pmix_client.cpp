#include <mastic/job/pmix_client.hpp>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <sstream>

#include <pmix.h>

#include <mastic/core/checked_cast.hpp>
#include <mastic/core/error.hpp>
#include <mastic/job/host_list.hpp>

namespace mastic::job {
namespace {

constexpr const char* how_to_start = "start the program with srun --mpi=pmix, or with mpiexec";

[[noreturn]] void fail(ExitCode code, const std::string& what, pmix_status_t status) {
    throw Error(code, "PMIx: " + what + ": " + PMIx_Error_string(status), how_to_start);
}

// Owns a value that PMIx_Get has made.
class Value {
  public:
    explicit Value(pmix_value_t* value) : value_(value) {}
    ~Value() {
        if (value_ != nullptr) {
            PMIX_VALUE_RELEASE(value_);
        }
    }
    Value(const Value&) = delete;
    Value& operator=(const Value&) = delete;

    int number() const {
        switch (value_->type) {
            case PMIX_UINT16:
                return value_->data.uint16;
            case PMIX_UINT32:
                return checked_cast<int>(value_->data.uint32, "a number of PMIx");
            case PMIX_INT:
                return value_->data.integer;
            default:
                fail(ExitCode::environment, "a number has an unknown type", PMIX_ERR_TYPE_MISMATCH);
        }
    }
    std::string text() const {
        if (value_->type != PMIX_STRING) {
            fail(ExitCode::environment, "a text has an unknown type", PMIX_ERR_TYPE_MISMATCH);
        }
        return value_->data.string;
    }

  private:
    pmix_value_t* value_;
};

// A fence whose answer may come after nobody waits for it any more.
struct FenceAnswer {
    std::mutex mutex;
    std::condition_variable came;
    std::optional<pmix_status_t> status;
};

void take_fence_answer(pmix_status_t status, void* data) {
    const std::unique_ptr<std::shared_ptr<FenceAnswer>> answer(static_cast<std::shared_ptr<FenceAnswer>*>(data));
    const std::lock_guard lock((*answer)->mutex);
    (*answer)->status = status;
    (*answer)->came.notify_all();
}

class Client : public PmixClient {
  public:
    Client() {
        if (const auto status = PMIx_Init(&self_, nullptr, 0); status != PMIX_SUCCESS) {
            fail(ExitCode::environment, "the launcher does not answer", status);
        }
        place_.rank = checked_cast<int>(self_.rank, "the rank in PMIx");
        place_.world_size = job_number(PMIX_JOB_SIZE);
        place_.local_rank = own_number(PMIX_LOCAL_RANK);
        std::istringstream peers(job_text(PMIX_LOCAL_PEERS));
        for (std::string peer; std::getline(peers, peer, ',');) {
            place_.local_peers.push_back(std::stoi(peer));
        }
        place_.nodes = expand_host_list(job_text(PMIX_NODE_LIST));
        place_.node_index = own_number(PMIX_NODEID);
    }
    ~Client() override { PMIx_Finalize(nullptr, 0); }

    const PmixPlace& place() const override { return place_; }

    void put(const std::string& key, const std::string& value) override {
        pmix_value_t content{};
        content.type = PMIX_STRING;
        content.data.string = const_cast<char*>(value.c_str());  // copied by the call
        if (const auto status = PMIx_Put(PMIX_GLOBAL, key.c_str(), &content); status != PMIX_SUCCESS) {
            fail(ExitCode::collective, "cannot publish " + key, status);
        }
    }

    void fence(Seconds timeout) override {
        if (const auto status = PMIx_Commit(); status != PMIX_SUCCESS) {
            fail(ExitCode::collective, "cannot publish", status);
        }
        bool collect = true;
        pmix_info_t info;
        PMIX_INFO_CONSTRUCT(&info);
        PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
        const auto answer = std::make_shared<FenceAnswer>();
        auto passed = std::make_unique<std::shared_ptr<FenceAnswer>>(answer);
        const pmix_proc_t everybody = process(PMIX_RANK_WILDCARD);
        auto status = PMIx_Fence_nb(&everybody, 1, &info, 1, take_fence_answer, passed.get());
        if (status == PMIX_SUCCESS) {
            passed.release();  // now the answer's
            std::unique_lock lock(answer->mutex);
            answer->came.wait_for(lock, timeout, [&] { return answer->status.has_value(); });
            status = answer->status.value_or(PMIX_ERR_TIMEOUT);
        } else if (status == PMIX_OPERATION_SUCCEEDED) {
            status = PMIX_SUCCESS;  // at once, without an answer
        }
        PMIX_INFO_DESTRUCT(&info);
        if (status != PMIX_SUCCESS) {
            fail(ExitCode::collective, "not all processes have come within " + human(timeout), status);
        }
    }

    std::string get(int rank, const std::string& key) override {
        const pmix_proc_t other = process(checked_cast<pmix_rank_t>(rank, "rank"));
        pmix_value_t* found = nullptr;
        if (const auto status = PMIx_Get(&other, key.c_str(), nullptr, 0, &found); status != PMIX_SUCCESS) {
            fail(ExitCode::collective, "rank " + std::to_string(rank) + " has not published " + key, status);
        }
        return Value(found).text();
    }

  private:
    pmix_proc_t process(pmix_rank_t rank) const {
        pmix_proc_t process;
        PMIX_LOAD_PROCID(&process, self_.nspace, rank);
        return process;
    }

    Value told(const pmix_proc_t& about, const char* key) const {
        pmix_value_t* found = nullptr;
        if (const auto status = PMIx_Get(&about, key, nullptr, 0, &found); status != PMIX_SUCCESS) {
            fail(ExitCode::environment, std::string("the launcher does not tell ") + key, status);
        }
        return Value(found);
    }
    int own_number(const char* key) const { return told(self_, key).number(); }
    int job_number(const char* key) const { return told(process(PMIX_RANK_WILDCARD), key).number(); }
    std::string job_text(const char* key) const { return told(process(PMIX_RANK_WILDCARD), key).text(); }

    pmix_proc_t self_{};
    PmixPlace place_;
};

}  // namespace

std::unique_ptr<PmixClient> PmixClient::connect(const Environment& environment) {
    if (!environment("PMIX_NAMESPACE")) {
        return nullptr;
    }
    return std::make_unique<Client>();
}

bool PmixClient::available() {
    return true;
}

}  // namespace mastic::job
