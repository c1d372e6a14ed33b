// The values after parsing: to print them, to store them with a run, to compare with those of a stored run.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <mastic/config/schema.hpp>

namespace mastic::config {

// Every option with a TOML key as a file that parse reads back to exactly the same values. With origins each
// line ends in a comment on who gave the value: `epochs = 3  # run.toml:2:10`.
std::string to_toml(const Schema& schema, bool with_origins);

// Key -> value as a flag would give it.
std::map<std::string, std::string> values(const Schema& schema);

// The same for equal values of all options but those whose keys begin with one of `without`.
std::string fingerprint(const Schema& schema, const std::vector<std::string>& without);

struct Change {
    std::string key;
    std::string stored;  // as in a file; "" if the stored configuration does not have the key
    std::string now;     // as in a file; "" if this version does not know the key
    OnResume rule = OnResume::free;
    // "train.epochs: 3 -> 5", for messages.
    std::string text() const;
};

// The options whose present value differs from the stored configuration (a file that to_toml wrote, perhaps
// by another version), without those of the rule `ignore`. A key that is not stored counts as having its default. A stored key that this version
// does not know is reported with the rule `free`. Throws Error(usage) naming `name` if the text is not TOML.
std::vector<Change> compare(const Schema& schema, std::string_view stored_toml, const std::string& name);

}  // namespace mastic::config
