// Where generations are committed. A commit succeeds for one process only, wherever it runs: that is what keeps two parts of
// a cut network from both going on.
#pragma once

#include <filesystem>
#include <optional>

#include <mastic/core/descriptor.hpp>
#include <mastic/elastic/generation.hpp>

namespace mastic::elastic {

class GenerationStore {
  public:
    virtual ~GenerationStore() = default;
    virtual std::optional<Generation> newest() const = 0;
    virtual std::optional<Generation> read(GenerationId id) const = 0;
    // False: there is a generation of this id already.
    virtual bool commit(const Generation& generation) = 0;
};

// Files generations/000017.json, mode 0600, below a directory that all members see: written whole under another name, then
// linked to the name, which fails if that exists; on NFS, too.
class DirectoryStore : public GenerationStore {
  public:
    // Makes the directories (0700). Throws Error(io).
    explicit DirectoryStore(const std::filesystem::path& elastic_directory);

    std::optional<Generation> newest() const override;
    std::optional<Generation> read(GenerationId id) const override;
    bool commit(const Generation& generation) override;

    // Members hold a shared lock on a file for as long as their process lives, wherever it runs; so where nobody does, none
    // is alive, and a new process may begin anew. The kernel, or the file server, releases locks of dead processes.
    bool nobody_is_alive();
    void declare_alive();  // throws Error(io)
    // One process at a time may look at that and begin anew: until it has declared itself alive, another one would find nobody.
    bool take_turn_to_found();  // false: another one has it
    void end_turn_to_found();

  private:
    std::filesystem::path file_of(GenerationId id) const;

    std::filesystem::path directory_;
    Descriptor alive_;
    Descriptor founding_;
};

}  // namespace mastic::elastic
