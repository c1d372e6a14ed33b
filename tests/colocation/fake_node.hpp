// A node with GPUs that are not there: the fake NVML and the fake control daemon, in directories of their own.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include <mastic/core/command.hpp>

#include "support/temp_dir.hpp"

namespace mastic::test {

inline const std::string two_gpus =
    "gpu GPU-bbbb 00000000:AF:00.0 81920 0 0 A100\n"  // as NVML may list them: not in the order of the bus
    "gpu GPU-aaaa 00000000:3B:00.0 81920 0 0 A100\n";

class FakeNode {
  public:
    explicit FakeNode(const std::string& gpus = two_gpus);
    ~FakeNode();  // ends what is left, so that a failed test leaves nothing

    // Variables for the programs started here; "" takes one away.
    void set(const std::string& name, const std::string& value) { variables_[name] = value; }
    void leave_as_it_is(const std::string& name) { variables_.erase(name); }

    // "env ... mastic-mps ARGUMENTS"
    std::vector<std::string> command(const std::vector<std::string>& arguments) const;
    CommandResult mps(const std::vector<std::string>& arguments) const;
    // Without waiting for it; `further` variables in front.
    pid_t start(const std::vector<std::string>& arguments,
                const std::map<std::string, std::string>& further = {}) const;

    std::vector<std::string> journal() const;        // what the fake daemon has written
    std::vector<std::string> session_names() const;  // directories of sessions
    std::filesystem::path session(std::size_t i) const { return base() / session_names().at(i); }
    std::vector<pid_t> daemons() const;    // control daemons and servers
    std::vector<pid_t> processes() const;  // all that were started here and live
    bool all_gone() const { return session_names().empty() && daemons().empty(); }

    const TempDir& directory() const { return directory_; }
    std::filesystem::path base() const { return directory_ / "s"; }

  private:
    TempDir directory_;
    std::map<std::string, std::string> variables_;
};

// Polls until it is true; false after `limit`.
bool eventually(const std::function<bool()>& done, Seconds limit = Seconds(60));

// The exit code, or minus the signal; kills the process after `limit`.
int wait_for_exit(pid_t child, Seconds limit = Seconds(60));

}  // namespace mastic::test
