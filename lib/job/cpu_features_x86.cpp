#include <fstream>
#include <string>

#include <cpuid.h>

#include <mastic/job/cpu_features.hpp>

namespace mastic::job {
namespace {

CpuVendor vendor() {
    if (__builtin_cpu_is("intel")) {
        return CpuVendor::intel;
    }
    return __builtin_cpu_is("amd") ? CpuVendor::amd : CpuVendor::other;
}

std::size_t reported_l2_kib() {
    constexpr unsigned leaf = 0x80000006;
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid(leaf, &eax, &ebx, &ecx, &edx) != 0 ? ecx >> 16 : 0;
}

// From /sys, where "index2" usually is the L2; its size reads "1024K".
std::size_t kernel_l2_kib() {
    constexpr int most_caches = 8;
    for (int index = 0; index < most_caches; ++index) {
        const auto folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
        int level = 0;
        std::size_t size = 0;
        char unit = '\0';
        std::ifstream(folder + "/level") >> level;
        std::ifstream(folder + "/size") >> size >> unit;
        if (level == 2 && unit == 'K') {
            return size;
        }
    }
    return 0;
}

}  // namespace

CpuFeatures detect_cpu() {
    __builtin_cpu_init();
    CpuFeatures cpu;
    cpu.x86 = true;
    cpu.vendor = vendor();
    cpu.sse3 = __builtin_cpu_supports("sse3") != 0;
    cpu.ssse3 = __builtin_cpu_supports("ssse3") != 0;
    cpu.sse41 = __builtin_cpu_supports("sse4.1") != 0;
    cpu.avx = __builtin_cpu_supports("avx") != 0;
    cpu.avx2_fma = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    cpu.avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512cd") != 0 &&
                 __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                 __builtin_cpu_supports("avx512vl") != 0;
    cpu.avx512_bf16 = __builtin_cpu_supports("avx512bf16") != 0;
    cpu.l2_reported_kib = reported_l2_kib();
    constexpr std::size_t cautious_kib = 512;
    const auto known = cpu.l2_reported_kib != 0 ? cpu.l2_reported_kib : kernel_l2_kib();
    cpu.l2_kib = known != 0 ? known : cautious_kib;
    return cpu;
}

}  // namespace mastic::job
