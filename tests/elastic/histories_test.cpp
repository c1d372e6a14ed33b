// The state machines of membership through random histories. The seed of a failing one is in its message;
// MASTIC_ELASTIC_HISTORIES=N runs N of each kind, MASTIC_ELASTIC_SEED=S that one alone.
#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "simulation.hpp"

namespace mastic::test {
namespace {

std::uint64_t number_in(const char* variable, std::uint64_t fallback) {
    const char* text = std::getenv(variable);
    return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

// Runs `history` with one seed after the other.
template <class History>
void for_each_seed(std::uint64_t count, const History& history) {
    const std::uint64_t only = number_in("MASTIC_ELASTIC_SEED", 0);
    const std::uint64_t first = only > 0 ? only : 1;
    const std::uint64_t last = only > 0 ? only : number_in("MASTIC_ELASTIC_HISTORIES", count);
    for (std::uint64_t seed = first; seed <= last && !testing::Test::HasFatalFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Simulation world(seed);
        history(world);
        if (testing::Test::HasFailure()) {
            return;
        }
    }
}

void expect_one_chain(const Simulation& world) {
    GenerationId expected = 1;
    for (const auto& [id, generation] : world.store.all) {
        ASSERT_EQ(id, expected++);
        ASSERT_EQ(generation.previous, id - 1);
        std::set<std::string> ids;
        for (const MemberRecord& member : generation.members) {
            ASSERT_TRUE(ids.insert(member.id).second) << "generation " << id;
        }
    }
}

// All that work are in one generation and have applied the same, and they get further.
void expect_progress_of_one_part(Simulation& world) {
    world.run_for(Seconds(60));
    GenerationId generation = 0;
    std::map<Step, std::uint64_t> results;
    for (const SimulatedProcess* process : world.working()) {
        if (process->doing == SimulatedProcess::Doing::nothing && process->generation.id == 0) {
            // A newcomer of a run in which nobody is left to admit it.
            const Generation newest = *world.store.newest();
            const bool somebody = std::ranges::any_of(newest.members, [&](const MemberRecord& member) {
                const SimulatedProcess* other = world.find(member.id);
                return other->alive && !other->stopped && !other->over &&
                       world.connected(other->number, process->number);
            });
            ASSERT_FALSE(somebody) << process->record.id << " was not admitted";
            continue;
        }
        if (process->generation.id == 0) {
            continue;  // a newcomer under way
        }
        ASSERT_LT(world.now - process->last_progress, Seconds(30))
            << process->record.id << " hangs in generation " << process->generation.id << " at step "
            << process->applied.step << ", doing " << static_cast<int>(process->doing);
        if (generation != 0) {
            ASSERT_LE(
                std::max(generation, process->generation.id) - std::min(generation, process->generation.id),
                1u)
                << process->record.id;
        }
        generation = process->generation.id;
        for (const auto& [step, applied] : process->kept) {
            const auto [entry, is_new] = results.emplace(step, applied.hash);
            ASSERT_EQ(entry->second, applied.hash) << process->record.id << ", step " << step;
        }
    }
}

std::size_t at_work(Simulation& world) {
    return static_cast<std::size_t>(std::ranges::count_if(
        world.working(), [](const SimulatedProcess* process) { return process->generation.id != 0; }));
}

TEST(Histories, JoinsAndLeavesInAnyOrder) {
    for_each_seed(300, [](Simulation& world) {
        world.start_process();
        std::set<int> leavers;
        for (int event = 0; event < 12; ++event) {
            world.run_for(Seconds(world.uniform(0, 4)));
            const auto working = world.working();
            if (world.random.below(3) > 0 || working.size() < 2) {
                world.start_process();
            } else {
                SimulatedProcess& process = *working[world.random.below(working.size())];
                if (process.generation.id != 0 && leavers.size() + 1 < at_work(world)) {
                    process.member.leave(world.now);
                    leavers.insert(process.number);
                }
            }
        }
        expect_progress_of_one_part(world);
        expect_one_chain(world);
        for (const auto& process : world.processes) {
            if (process->over) {
                ASSERT_TRUE(process->left) << process->record.id << ": " << process->last_words;
                leavers.erase(process->number);
            } else {
                ASSERT_NE(process->generation.id, 0u) << process->record.id << " never got in";
            }
        }
        ASSERT_TRUE(leavers.empty()) << "m" << *leavers.begin() << " did not leave";
        ASSERT_TRUE(std::ranges::none_of(world.store.all, [](const auto& entry) {
            return entry.second.reason.find("lost") != std::string::npos;
        }));
    });
}

TEST(Histories, DeathsAtAnyTime) {
    for_each_seed(700, [](Simulation& world) {
        world.start_process();
        for (int event = 0; event < 14; ++event) {
            world.run_for(Seconds(world.uniform(0, 5)));
            const auto working = world.working();
            if (world.random.below(2) == 0 || working.size() < 3) {
                world.start_process();
            } else {
                world.kill(working[world.random.below(working.size())]->number);
            }
        }
        const bool anybody = std::ranges::any_of(
            world.working(), [](const SimulatedProcess* process) { return process->generation.id != 0; });
        expect_progress_of_one_part(world);
        expect_one_chain(world);
        for (const auto& process : world.processes) {
            ASSERT_FALSE(process->over) << process->record.id << " ended: " << process->last_words;
        }
        // Without a cut, whoever is left of the members goes on.
        ASSERT_TRUE(!anybody || at_work(world) > 0);
    });
}

TEST(Histories, EverythingAtOnce) {
    for_each_seed(1000, [](Simulation& world) {
        world.start_process();
        bool cut = false;
        for (int event = 0; event < 16; ++event) {
            world.run_for(Seconds(world.uniform(0, 5)));
            const auto working = world.working();
            const auto some = [&]() -> SimulatedProcess& {
                return *working[world.random.below(working.size())];
            };
            switch (world.random.below(7)) {
                case 0:
                case 1:
                    world.start_process();
                    break;
                case 2:
                    if (working.size() > 2) {
                        world.kill(some().number);
                    }
                    break;
                case 3:
                    if (!working.empty()) {
                        some().member.leave(world.now);
                    }
                    break;
                case 4:
                    if (working.size() > 2) {
                        world.freeze(some().number, true);
                    }
                    break;
                case 5:
                    for (const auto& process : world.processes) {
                        world.freeze(process->number, false);
                    }
                    break;
                default:
                    if (cut) {
                        world.heal();
                    } else {
                        std::set<int> side;
                        for (const auto& process : world.processes) {
                            if (world.random.below(2) == 0) {
                                side.insert(process->number);
                            }
                        }
                        world.cut(side);
                    }
                    cut = !cut;
                    break;
            }
        }
        for (const auto& process : world.processes) {
            world.freeze(process->number, false);
        }
        expect_progress_of_one_part(world);
        expect_one_chain(world);
    });
}

TEST(Histories, AfterACutTheLargerPartGoesOn) {
    for_each_seed(200, [](Simulation& world) {
        for (int i = 0; i < 5; ++i) {
            world.start_process();
            world.run_for(Seconds(8));
        }
        ASSERT_EQ(at_work(world), 5u);
        // Two of five, with the coordinator or without.
        const int second = 1 + static_cast<int>(world.random.below(4));
        const std::set<int> side =
            world.random.below(2) == 0 ? std::set<int>{0, second} : std::set<int>{second, 1 + second % 4};
        world.cut(side);
        world.run_for(Seconds(20));
        ASSERT_EQ(at_work(world), 3u);
        for (const auto& process : world.processes) {
            ASSERT_EQ(process->over, side.contains(process->number)) << process->record.id;
        }
        world.heal();
        expect_progress_of_one_part(world);
        expect_one_chain(world);
    });
}

}  // namespace
}  // namespace mastic::test
