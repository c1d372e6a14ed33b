#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/job/blas_core.hpp>

namespace mastic::job {
namespace {

using Names = std::vector<std::string>;

Environment environment_of(std::map<std::string, std::string> variables) {
    return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
}

CpuFeatures cpu_with(CpuVendor vendor, int level) {
    CpuFeatures cpu;
    cpu.x86 = true;
    cpu.vendor = vendor;
    cpu.sse3 = level >= 1;
    cpu.ssse3 = level >= 2;
    cpu.sse41 = level >= 3;
    cpu.avx = level >= 4;
    cpu.avx2_fma = level >= 5;
    cpu.avx512 = level >= 6;
    cpu.avx512_bf16 = level >= 7;
    return cpu;
}

Names names_for(const CpuFeatures& cpu) {
    Names names;
    for (const auto& core : blas_core_candidates(cpu)) {
        names.push_back(core.name);
    }
    return names;
}

TEST(BlasCandidates, AreTheCoresThatTheCpuCanRunFastestFirst) {
    const struct {
        const char* cpu;
        CpuFeatures features;
        Names cores;
    } cases[] = {
        {"Sapphire Rapids",
         cpu_with(CpuVendor::intel, 7),
         {"SkylakeX", "Haswell", "Sandybridge", "Nehalem", "Core2", "Prescott"}},
        {"Skylake server",
         cpu_with(CpuVendor::intel, 6),
         {"SkylakeX", "Haswell", "Sandybridge", "Nehalem", "Core2", "Prescott"}},
        {"Alder Lake (no AVX512)",
         cpu_with(CpuVendor::intel, 5),
         {"Haswell", "Sandybridge", "Nehalem", "Core2", "Prescott"}},
        {"Zen 5",
         cpu_with(CpuVendor::amd, 7),
         {"SkylakeX", "Haswell", "Sandybridge", "Nehalem", "Core2", "Prescott"}},
        {"Zen 3",
         cpu_with(CpuVendor::amd, 5),
         {"Zen", "Haswell", "Sandybridge", "Nehalem", "Core2", "Prescott"}},
        {"Hygon", cpu_with(CpuVendor::other, 5), {"Haswell", "Sandybridge", "Nehalem", "Core2", "Prescott"}},
        {"Ivy Bridge", cpu_with(CpuVendor::intel, 4), {"Sandybridge", "Nehalem", "Core2", "Prescott"}},
        {"Penryn", cpu_with(CpuVendor::intel, 3), {"Nehalem", "Core2", "Prescott"}},
        {"Core 2", cpu_with(CpuVendor::intel, 2), {"Core2", "Prescott"}},
        {"Prescott", cpu_with(CpuVendor::intel, 1), {"Prescott"}},
        {"ARM", CpuFeatures(), {}},
    };
    for (const auto& c : cases) {
        EXPECT_EQ(names_for(c.features), c.cores) << c.cpu;
    }
}

TEST(ChooseBlasCore, TakesTheFastestByTheFeatures) {
    const auto core = choose_blas_core(cpu_with(CpuVendor::amd, 7), environment_of({}));
    EXPECT_EQ(core.name, "SkylakeX");
    EXPECT_EQ(core.reason, "chosen from AVX512");
    EXPECT_FALSE(core.set_by_user);
}

TEST(ChooseBlasCore, RespectsTheUsersChoice) {
    const auto core =
        choose_blas_core(cpu_with(CpuVendor::intel, 7), environment_of({{"OPENBLAS_CORETYPE", "Haswell"}}));
    EXPECT_EQ(core.name, "Haswell");
    EXPECT_TRUE(core.set_by_user);
    EXPECT_THAT(core.reason, testing::HasSubstr("set by you"));
}

TEST(ChooseBlasCore, TreatsAnEmptyVariableAsUnset) {
    EXPECT_EQ(
        choose_blas_core(cpu_with(CpuVendor::intel, 5), environment_of({{"OPENBLAS_CORETYPE", ""}})).name,
        "Haswell");
}

TEST(ChooseBlasCore, SkipsWhatEarlierStartsRejected) {
    const auto core = choose_blas_core(
        cpu_with(CpuVendor::intel, 6),
        environment_of(
            {{"OPENBLAS_CORETYPE", "Haswell"},
             {"MASTIC_BLAS_CORE", "Prescott;SkylakeX=crashed (signal 4);Haswell=wrong sgemm 1x1x1 NN"}}));
    EXPECT_EQ(core.name, "Sandybridge");
    EXPECT_FALSE(core.set_by_user);
}

TEST(ChooseBlasCore, HasNothingLeftIfAllAreRejected) {
    const auto core = choose_blas_core(cpu_with(CpuVendor::intel, 1),
                                       environment_of({{"MASTIC_BLAS_CORE", "Prescott;Prescott=crashed"}}));
    EXPECT_EQ(core.name, "");
    EXPECT_EQ(core.reason, "all rejected");
}

TEST(ChooseBlasCore, LeavesOtherProcessorsToOpenBlas) {
    const auto core = choose_blas_core(CpuFeatures(), environment_of({}));
    EXPECT_EQ(core.name, "");
    EXPECT_EQ(core.reason, "left to OpenBLAS");
}

TEST(BlasTrail, IsReadBackAsWritten) {
    const BlasTrail trail{"Prescott", {{"SkylakeX", "crashed (signal 4)"}, {"Haswell", "no answer in 10 s"}}};
    EXPECT_EQ(trail.text(), "Prescott;SkylakeX=crashed (signal 4);Haswell=no answer in 10 s");
    const auto read = BlasTrail::parse(trail.text());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->own_core, trail.own_core);
    EXPECT_EQ(read->rejected, trail.rejected);
    EXPECT_FALSE(BlasTrail::parse(""));
    EXPECT_FALSE(BlasTrail::parse("Prescott;x"));
}

TEST(DetectCpu, FindsWhatTheKernelFinds) {
    const auto cpu = detect_cpu();
    if (!cpu.x86) {
        GTEST_SKIP() << "not an x86 processor";
    }
    EXPECT_GT(cpu.l2_kib, 0u);
    EXPECT_TRUE(cpu.sse3);
    // Each level includes the ones below.
    EXPECT_TRUE(!cpu.avx512 || cpu.avx2_fma);
    EXPECT_TRUE(!cpu.avx2_fma || cpu.avx);
}

}  // namespace
}  // namespace mastic::job
