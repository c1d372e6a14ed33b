// Requests as files: any process of the user posts, the manager takes them in the order of posting. It works on every file
// system that all nodes see, and while no manager lives.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <mastic/schedule/manager/request.hpp>

namespace mastic::schedule {

class Inbox {
  public:
    // Both directories exist.
    Inbox(std::filesystem::path requests, std::filesystem::path answers)
        : requests_(std::move(requests)), answers_(std::move(answers)) {}

    // Durable when it returns. The id sorts by time.
    std::string post(const Request& request) const;

    struct Waiting {
        std::string id;
        std::optional<Request> request;  // none: damaged
        std::string problem;             // what is wrong with it
    };
    std::vector<Waiting> waiting() const;

    // Writes the answer, then forgets the request: who dies in between finds both, and answers no second time.
    void answer(const std::string& id, const Answer& answer) const;
    std::optional<Answer> answer_to(const std::string& id) const;
    // Those that nobody has fetched since.
    void forget_answers_before(double time_s) const;

  private:
    std::filesystem::path request_file(const std::string& id) const { return requests_ / (id + ".json"); }
    std::filesystem::path answer_file(const std::string& id) const { return answers_ / (id + ".json"); }

    std::filesystem::path requests_;
    std::filesystem::path answers_;
};

}  // namespace mastic::schedule
