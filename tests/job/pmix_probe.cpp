// What one process sees through PMIx, and what it gets from the others, on one line. Started by the cluster's tests.
#include <cstdio>

#include <mastic/core/error.hpp>
#include <mastic/job/pmix_client.hpp>

int main() {
    try {
        const auto client = mastic::job::PmixClient::connect(mastic::process_environment());
        if (!client) {
            std::puts("no PMIx");
            return 0;
        }
        const mastic::job::PmixPlace& place = client->place();
        client->put("mastic.word", "from " + std::to_string(place.rank));
        client->fence(mastic::Seconds(20));
        std::string line = "rank " + std::to_string(place.rank) + " of " + std::to_string(place.world_size) + ", local " +
                           std::to_string(place.local_rank) + " of " + std::to_string(place.local_peers.size()) + ", node " +
                           std::to_string(place.node_index) + " of";
        for (const std::string& node : place.nodes) {
            line += " " + node;
        }
        for (int rank = 0; rank < place.world_size; ++rank) {
            line += ", " + client->get(rank, "mastic.word");
        }
        std::puts(line.c_str());
    } catch (const mastic::Error& error) {
        std::fprintf(stderr, "%s\n", error.full_message().c_str());
        return static_cast<int>(error.code());
    }
}
