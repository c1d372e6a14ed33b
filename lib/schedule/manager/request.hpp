// What a user asks of a manager while it runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mastic::schedule {

struct Request {
    enum class Kind {
        stop,      // a training: its pilots leave, it keeps its checkpoint, nothing comes again
        resize,    // a training: other limits or another weight
        drain,     // nodes: pilots leave them, none comes
        undrain,   // nodes: they may be used again
        shutdown,  // the manager ends; pilots go on
    };
    Kind kind = Kind::stop;
    std::string training = {};
    std::vector<std::string> nodes = {};  // none: all
    int least = 0;                   // 0: as it is
    int most = 0;                    // 0: as it is
    double weight = 0;               // 0: as it is
    std::string by = {};                  // "ana@login1"
    double time_s = 0;               // seconds since 1970
};
const char* to_string(Request::Kind kind);

// "resize fashion to 2..8 nodes, weight 3"
std::string describe(const Request& request);

std::string to_json(const Request& request);
// Throws Error(data) naming `where`.
Request parse_request(std::string_view json, const std::string& where);

struct Answer {
    bool refused = false;
    std::string text;  // what was done, or why not
};

std::string to_json(const Answer& answer);
Answer parse_answer(std::string_view json, const std::string& where);

}  // namespace mastic::schedule
