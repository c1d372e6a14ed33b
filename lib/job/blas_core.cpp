#include <mastic/job/blas_core.hpp>

#include <algorithm>

namespace mastic::job {

std::string BlasTrail::text() const {
    std::string line = own_core;
    for (const auto& [core, why] : rejected) {
        line.append(";").append(core).append("=").append(why);
    }
    return line;
}

std::optional<BlasTrail> BlasTrail::parse(std::string_view text) {
    BlasTrail trail;
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find(';', begin), text.size());
        const auto item = text.substr(begin, end - begin);
        const auto equals = item.find('=');
        if (begin == 0) {
            trail.own_core = item;
        } else if (equals == item.npos) {
            return std::nullopt;
        } else {
            trail.rejected.emplace_back(item.substr(0, equals), item.substr(equals + 1));
        }
        begin = end + 1;
    }
    return trail.own_core.empty() ? std::nullopt : std::optional(trail);
}

std::vector<BlasCore> blas_core_candidates(const CpuFeatures& cpu) {
    const struct {
        bool usable;
        const char* core;
        const char* reason;
    } known[] = {
        {cpu.avx512, "SkylakeX", "chosen from AVX512"},
        {cpu.avx2_fma && !cpu.avx512 && cpu.vendor == CpuVendor::amd, "Zen", "chosen from AVX2 of AMD"},
        {cpu.avx2_fma, "Haswell", "chosen from AVX2"},
        {cpu.avx, "Sandybridge", "chosen from AVX"},
        {cpu.sse41, "Nehalem", "chosen from SSE4.1"},
        {cpu.ssse3, "Core2", "chosen from SSSE3"},
        {cpu.sse3, "Prescott", "chosen from SSE3"},
    };
    std::vector<BlasCore> candidates;
    for (const auto& entry : known) {
        if (cpu.x86 && entry.usable) {
            candidates.push_back({entry.core, entry.reason, false});
        }
    }
    return candidates;
}

BlasCore choose_blas_core(const CpuFeatures& cpu, const Environment& environment) {
    const auto requested = environment("OPENBLAS_CORETYPE");
    const auto trail = BlasTrail::parse(environment("MASTIC_BLAS_CORE").value_or(""));
    // With our trail beside it, the core in the environment is our own.
    if (requested && !requested->empty() && !trail) {
        return {*requested, "OPENBLAS_CORETYPE set by you", true};
    }
    const auto candidates = blas_core_candidates(cpu);
    if (candidates.empty()) {
        return {"", "left to OpenBLAS", false};
    }
    for (const auto& candidate : candidates) {
        const auto is_it = [&](const auto& entry) { return entry.first == candidate.name; };
        if (!trail || std::none_of(trail->rejected.begin(), trail->rejected.end(), is_it)) {
            return candidate;
        }
    }
    return {"", "all rejected", false};
}

}  // namespace mastic::job
