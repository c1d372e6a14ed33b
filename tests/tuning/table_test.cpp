#include <gtest/gtest.h>

#include <random>

#include <nlohmann/json.hpp>

#include <mastic/tuning/table.hpp>

#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"
#include "tuning/sample_table.hpp"

namespace mastic::tuning {
namespace {

using comm::Collective;
using comm::TransportKind;
using comm::Wire;
using Json = nlohmann::ordered_json;
using test::expect_error;

// The sample as JSON, changed, and what the reader says about it.
void expect_refused(std::string_view part, const std::function<void(Json&)>& change) {
    Json json = Json::parse(sample_table().to_json());
    change(json);
    expect_error(ExitCode::data, part, [&] { TuningTable::parse(json.dump(), "t.json"); });
}

Json& first_size(Json& json) {
    return json["shapes"][0]["collectives"][0]["sizes"][0];
}

TEST(TuningTable, ComesBackFromItsFile) {
    const test::TempDir dir;
    const TuningTable table = sample_table();
    table.save(dir / "tuning.json");
    EXPECT_EQ(TuningTable::load(dir / "tuning.json"), table);
    EXPECT_EQ(dir.names(), std::vector<std::string>{"tuning.json"});
}

TEST(TuningTable, KeysCarryTheirUnits) {
    Json json = Json::parse(sample_table().to_json());
    EXPECT_EQ(json["format"], 1);
    EXPECT_EQ(first_size(json)["bytes"], 64);
    EXPECT_TRUE(first_size(json).contains("up_to_bytes"));
    EXPECT_TRUE(first_size(json)["candidates"][0].contains("segment_bytes"));
    EXPECT_TRUE(first_size(json)["candidates"][0].contains("median_us"));
}

// Tables without such rows stay as they were, for programs that do not know them.
TEST(TuningTable, DeviceMemoryHasRowsOfItsOwn) {
    TuningTable table = sample_table();
    EXPECT_EQ(table.to_json().find("memory"), std::string::npos);
    CollectiveResult series = table.shapes[0].collectives[0];
    series.memory = comm::MemoryKind::device;
    for (SizeResult& size : series.sizes) {
        size.candidates.resize(1);
        size.candidates.front().verdict = Verdict::chosen;
    }
    set_limits(series.sizes);
    table.shapes[0].collectives.push_back(series);
    EXPECT_EQ(TuningTable::parse(table.to_json(), "t.json"), table);
    const auto selection = table.selection_for(table.shapes[0].shape).selection;
    const auto algorithm = [&](comm::MemoryKind memory) {
        return selection->find(Collective::allreduce, Bytes{1u << 30}, memory)->algorithm;
    };
    EXPECT_EQ(algorithm(comm::MemoryKind::host), "ring");
    EXPECT_EQ(algorithm(comm::MemoryKind::device), "recursive-doubling");
    EXPECT_EQ(cost_samples(table.shapes).size(), cost_samples(sample_table().shapes).size());
}

TEST(TuningTable, NamesFileAndKeyOfWhatIsWrong) {
    expect_refused("collectives[0].memory is not 'device'",
                   [](Json& json) { json["shapes"][0]["collectives"][0]["memory"] = "disk"; });
    expect_refused("t.json: format is 2, and this program reads 1", [](Json& json) { json["format"] = 2; });
    expect_refused("t.json: machine.cores", [](Json& json) { json["machine"]["cores"] = -1; });
    expect_refused("machine has no key 'cpu'", [](Json& json) { json["machine"].erase("cpu"); });
    expect_refused("has the unknown key 'speed'", [](Json& json) { json["machine"]["speed"] = 1; });
    expect_refused("shapes[0].collectives[0].collective is an unknown collective operation 'alreduce'",
                   [](Json& json) { json["shapes"][0]["collectives"][0]["collective"] = "alreduce"; });
    expect_refused("candidates[0].algorithm 'rung' is unknown for allreduce over mpi",
                   [](Json& json) { first_size(json)["candidates"][0]["algorithm"] = "rung"; });
    expect_refused("did you mean 'mpi'?",
                   [](Json& json) { first_size(json)["candidates"][0]["transport"] = "mpj"; });
    expect_refused("is no choice",
                   [](Json& json) { first_size(json)["candidates"][0]["transport"] = "auto"; });
    expect_refused("sizes[1].up_to_bytes does not ascend",
                   [](Json& json) { json["shapes"][0]["collectives"][0]["sizes"][1]["up_to_bytes"] = 1; });
    expect_refused("median outside of its quartiles",
                   [](Json& json) { first_size(json)["candidates"][0]["q1_us"] = 1e9; });
    expect_refused("not exactly one that is chosen",
                   [](Json& json) { first_size(json)["candidates"][0]["verdict"] = "measured"; });
    expect_refused("is none of chosen",
                   [](Json& json) { first_size(json)["candidates"][0]["verdict"] = "best"; });
    expect_refused("median_us is not a number",
                   [](Json& json) { first_size(json)["candidates"][0]["median_us"] = "1"; });
    expect_refused("sizes is empty",
                   [](Json& json) { json["shapes"][0]["collectives"][0]["sizes"] = Json::array(); });
    expect_refused("is there twice", [](Json& json) { json["shapes"].push_back(json["shapes"][0]); });
    expect_refused("only an allreduce may round",
                   [](Json& json) { json["shapes"][0]["collectives"][1]["wire"] = "bfloat16"; });
    expect_error(ExitCode::data, "t.json is not JSON",
                 [] { TuningTable::parse("{\"format\": 1,", "t.json"); });
    expect_error(ExitCode::data, "has no key 'format'", [] { TuningTable::parse("[]", "t.json"); });
    expect_error(ExitCode::io, "missing.json", [] { TuningTable::load("missing.json"); });
}

TEST(TuningTable, RefusesOtherHardwareAndSaysWhatDiffers) {
    const TuningTable table = sample_table();
    Machine here = table.machine;
    EXPECT_NO_THROW(table.require_machine(here));
    here.mpi = "MPICH 9";
    EXPECT_NO_THROW(table.require_machine(here));
    here.cpu = "Slow CPU";
    expect_error(ExitCode::environment, "CPU: Fast CPU 9000 there, Slow CPU here",
                 [&] { table.require_machine(here); });
    expect_error(ExitCode::environment, "mastic-tune run", [&] { table.require_machine(here); });
}

TEST(SelectionFor, TakesTheRowsOfTheShape) {
    const TunedSelection tuned = sample_table().selection_for({2, 2});
    EXPECT_EQ(tuned.note, "rows of 2 nodes x 2 ranks");
    EXPECT_EQ(tuned.selection->find(Collective::allreduce, Bytes{64})->algorithm, "recursive-doubling");
    EXPECT_EQ(tuned.selection->find(Collective::allreduce, Bytes{1u << 30})->algorithm, "ring");
    EXPECT_EQ(tuned.selection->find(Collective::allreduce, Bytes{1u << 30})->transport, TransportKind::tcp);
    EXPECT_EQ(tuned.selection->rows().size(), 8u);  // neighbours of one choice are one row
}

TEST(SelectionFor, FallsBackToTheNearestShapeThenToTheModelThenToNothing) {
    const TuningTable table = sample_table();
    EXPECT_EQ(table.selection_for({3, 2}).note, "no rows of 3 nodes x 2 ranks: those of 2 nodes x 2 ranks");
    const TunedSelection predicted = table.selection_for({4, 1});
    EXPECT_NE(predicted.note.find("predicted by the cost model"), std::string::npos) << predicted.note;
    EXPECT_EQ(predicted.selection->find(Collective::broadcast, Bytes{64})->transport, TransportKind::tcp);
    const TunedSelection none = table.selection_for({2000, 1});
    EXPECT_EQ(none.selection, nullptr);
    EXPECT_NE(none.note.find("built-in"), std::string::npos) << none.note;
}

TEST(SelectionFor, AWireIsTakenForReductionsOnlyAndOnlyWhenAskedFor) {
    TuningTable table = sample_table();
    CollectiveResult rounded{Collective::allreduce, Wire::bfloat16, table.shapes[0].collectives[0].sizes};
    for (SizeResult& size : rounded.sizes) {
        size.candidates = {candidate(TransportKind::tcp, "rabenseifner", 1, Verdict::chosen)};
        size.candidates[0].choice.wire = Wire::bfloat16;
    }
    table.shapes[0].collectives.push_back(rounded);
    const TunedSelection exact = table.selection_for({2, 2});
    for (const comm::SelectionRow& row : exact.selection->rows()) {
        EXPECT_EQ(row.choice.wire, Wire::exact);
    }
    const TunedSelection tuned = table.selection_for({2, 2}, Wire::bfloat16);
    EXPECT_EQ(tuned.selection->find(Collective::allreduce, Bytes{64})->algorithm, "rabenseifner");
    EXPECT_EQ(tuned.selection->find(Collective::allreduce, Bytes{64})->wire, Wire::bfloat16);
    EXPECT_EQ(tuned.selection->find(Collective::broadcast, Bytes{64})->wire, Wire::exact);
    const TunedSelection unmeasured = table.selection_for({1, 2}, Wire::bfloat16);
    EXPECT_NE(unmeasured.note.find("was not measured"), std::string::npos) << unmeasured.note;
    EXPECT_EQ(unmeasured.selection->find(Collective::allreduce, Bytes{64})->wire, Wire::bfloat16);
}

// a takes 10 and 40 us, b 20 and 20 us at 1K and 16K: equal at 4K.
TEST(SetLimits, ChangesTheChoiceWhereTheTimesCross) {
    const auto at = [](std::uint64_t bytes, double a, double b) {
        return SizeResult{
            Bytes{bytes},
            Bytes{0},
            {candidate(TransportKind::mpi, "recursive-doubling", a,
                       a < b ? Verdict::chosen : Verdict::measured),
             candidate(TransportKind::mpi, "ring", b, b < a ? Verdict::chosen : Verdict::measured)}};
    };
    std::vector<SizeResult> sizes = {at(1024, 10, 20), at(16384, 40, 20)};
    set_limits(sizes);
    EXPECT_NEAR(double(sizes[0].up_to.count), 4096, 2);
    EXPECT_EQ(sizes[1].up_to.count, 16384u);
    sizes[1].candidates.erase(sizes[1].candidates.begin());
    set_limits(sizes);
    EXPECT_NEAR(double(sizes[0].up_to.count), 4096, 2);  // half way, in logarithms
}

TEST(CostSamples, AreThePlansOfUniformShapes) {
    const auto samples = cost_samples(sample_table().shapes);
    EXPECT_EQ(samples.size(), 4u * 3 * 2);  // only of 1 x 2; native has no plan
    for (const CostSample& sample : samples) {
        EXPECT_EQ(sample.level, Level::node);
        EXPECT_EQ(sample.ranks, 2);
    }
}

TEST(TuningTableFuzz, DamagedFilesAreErrorsAndNeverCrash) {
    const std::string good = sample_table().to_json();
    std::mt19937 random(20250131);
    const auto below = [&random](std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
    };
    const std::string alphabet = "{}[]\",:0123456789.-eE truefalsn\\u\xff\x01";
    int refused = 0;
    for (int i = 0; i < 2000; ++i) {
        std::string text = good;
        for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
            const std::size_t at = below(text.size());
            switch (below(5)) {
                case 0:
                    text[at] = alphabet[below(alphabet.size())];
                    break;
                case 1:
                    text.erase(at, 1 + below(40));
                    break;
                case 2:
                    text.insert(at, text.substr(below(text.size()), below(60)));
                    break;
                case 3:
                    text.insert(at, std::string(1 + below(300), alphabet[below(alphabet.size())]));
                    break;
                default:
                    text.resize(at + 1);
                    break;
            }
        }
        try {
            // What is still a table stays usable.
            TuningTable::parse(text, "t.json").selection_for({2, 2});
        } catch (const Error& error) {
            ++refused;
            EXPECT_EQ(error.code(), ExitCode::data) << error.what();
        }
    }
    EXPECT_GT(refused, 1500);
}

}  // namespace
}  // namespace mastic::tuning
