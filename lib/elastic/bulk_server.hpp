// Gives other members what the step log keeps: a thread per connection, at a limited rate over all of them.
#pragma once

#include <atomic>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include <mastic/core/descriptor.hpp>
#include <mastic/elastic/step_log.hpp>
#include <mastic/elastic/token_bucket.hpp>

namespace mastic::elastic {

class BulkServer {
  public:
    // `rate` in bytes per second; 0: no limit.
    BulkServer(StepLog& log, Bytes rate) : log_(log), bucket_(rate) {}
    ~BulkServer();  // breaks off what is under way
    BulkServer(const BulkServer&) = delete;
    BulkServer& operator=(const BulkServer&) = delete;

    // A connection that has proved the secret, and its first request.
    void serve(Descriptor connection, std::string first_request);

  private:
    struct Transfer {
        std::thread thread;
        std::atomic<bool> over{false};
    };
    void run(Descriptor connection, std::string request);
    void pace(std::size_t bytes);
    void join_finished();

    StepLog& log_;
    std::mutex mutex_;
    TokenBucket bucket_;  // guarded by mutex_
    std::list<Transfer> transfers_;
    std::atomic<bool> stopping_{false};
};

}  // namespace mastic::elastic
