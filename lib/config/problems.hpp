// The mistakes found in one call, collected so that the user sees all of them at once.
#pragma once

#include <string>
#include <vector>

#include <mastic/core/error.hpp>

namespace mastic::config {

class Problems {
  public:
    // "WHERE: MESSAGE". Each hint is shown once.
    void add(const std::string& where, const std::string& message, const std::string& hint = "");
    // The same with an error's own message and hint.
    void add(const std::string& where, const Error& error) { add(where, error.what(), error.hint()); }
    // An error whose message names its place already.
    void add(const Error& error);
    bool empty() const { return messages_.empty(); }
    // Throws one Error(usage) with a line (or more) for each problem, if there are any.
    void throw_if_any(const std::string& default_hint) const;

  private:
    std::vector<std::string> messages_;
    std::vector<std::string> hints_;
};

}  // namespace mastic::config
