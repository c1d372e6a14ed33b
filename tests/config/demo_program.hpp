// A small program with an option of every type, as the tests of this folder use it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mastic/config/parse.hpp>
#include <mastic/config/program.hpp>
#include <mastic/config/schema.hpp>

namespace mastic::config::test {

struct DemoOptions {
    int epochs = 10;
    std::int64_t seed = 1;
    double rate = 0.1;
    bool shuffle = true;
    std::string optimizer = "sgd";
    std::string data = "data/train.idx";
    Bytes bucket{25u << 20};
    Seconds interval{600};
    std::vector<std::string> tags;
    std::vector<double> milestones = {0.5, 0.75};
    std::vector<std::int64_t> layers = {128, 10};
    std::optional<std::int64_t> max_steps;
    bool fork = false;
    std::string resume = "auto";
};

// Options and the schema that fills them; not copyable, since the schema points into the options.
class Demo {
  public:
    Demo();
    // Throws what config::parse throws. The words follow the program's name.
    Invocation parse(const std::vector<std::string>& words, const Variables& variables = {});
    // The message of the Error(usage) that parse throws; "no error" if it throws none.
    std::string error_of(const std::vector<std::string>& words, const Variables& variables = {});

    DemoOptions options;
    Schema schema;
};

const ProgramInfo& demo_program();

}  // namespace mastic::config::test
