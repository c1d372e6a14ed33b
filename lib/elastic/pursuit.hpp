// A newcomer's way to a run that goes on meanwhile: another member's steps, one after the other, and word of the step after which
// a generation begins. Both come in threads of their own: a step takes a while on its way, word of a switch must not.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <mastic/comm/tcp/socket_address.hpp>
#include <mastic/elastic/bulk_client.hpp>
#include <mastic/elastic/secret.hpp>
#include <mastic/elastic/step_log.hpp>

namespace mastic::elastic {

struct PursuitSource {
    comm::SocketAddress address;
    Secret secret;
    std::string member;  // who asks
};

class Pursuit {
  public:
    // Fetches the steps from `first` on, up to a boundary: the step before that, if it is not under way then, waits for
    // fetch_the_last(), so that it does not fill the link while its new group comes together. `is_over` is asked in other threads.
    Pursuit(PursuitSource source, Step first, TimedSocket::Interrupted is_over);
    ~Pursuit();  // breaks off what is under way
    Pursuit(const Pursuit&) = delete;
    Pursuit& operator=(const Pursuit&) = delete;

    struct Boundary {
        GenerationId generation = 0;
        Step after = 0;
    };
    // Asks where this generation begins; the first time only.
    void listen_for(GenerationId generation);
    // The next step in order, once; nothing: none has come within `bound`, or there is word of a boundary that is not told yet.
    // Throws what a fetch has met, Error(collective), when all steps that have come are taken.
    std::optional<Fetched> next_step(Seconds bound);
    std::optional<Boundary> boundary() const;
    void fetch_the_last();
    // The last step that the source is known to have completed; nothing until it has answered.
    std::optional<Step> newest() const;

  private:
    void fetch_steps(BulkClient& client, Step first);
    void ask_for_boundary(BulkClient& client, GenerationId generation);
    template <class Work>
    std::thread start(const Work& work);

    const PursuitSource source_;
    const TimedSocket::Interrupted is_over_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Fetched> steps_;  // at most two: what is not wanted yet stays where it is
    std::optional<Boundary> boundary_;
    std::optional<Step> newest_;
    std::exception_ptr error_;
    bool told_of_boundary_ = false;
    bool wants_the_last_ = false;
    bool stopping_ = false;
    std::thread fetching_;
    std::thread listening_;
};

}  // namespace mastic::elastic
