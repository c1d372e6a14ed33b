#include "bench/collective/server.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <mastic/core/bytes.hpp>
#include <mastic/core/error.hpp>

namespace mastic::bench {

namespace {

using Clock = std::chrono::steady_clock;

// Small multiples of powers of two: every sum of them is exact, also in bfloat16 and float16 (up to 22 ranks). 13 is
// prime, so a block in the wrong place shows.
float contribution(int rank, std::size_t index) {
    return static_cast<float>(rank + 1) * std::ldexp(1.0F, static_cast<int>(index % 13) - 6);
}

float expected(const Command& command, int ranks, std::size_t index) {
    const int all = ranks * (ranks + 1) / 2;
    return contribution(command.collective == "broadcast" ? 0 : all - 1, index);
}

void fill(std::span<float> values, const Command& command, int rank) {
    const bool receives_only = command.collective == "broadcast" && rank != 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = receives_only ? 0.0F : contribution(rank, i);
    }
}

bool is_right(const Operation& operation, const Command& command, int ranks) {
    for (const ResultPart& part : operation.result) {
        for (std::size_t i = 0; i < part.values.size(); ++i) {
            if (part.values[i] != expected(command, ranks, part.first + i)) {
                return false;
            }
        }
    }
    return true;
}

Command parse_command(const std::string& line) {
    std::istringstream words(line);
    Command command;
    std::string size;
    std::string word;
    words >> command.collective >> size;
    command.bytes = parse_bytes(size).count;
    while (words >> word) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos) {
            throw Error(ExitCode::usage, "'" + word + "' in '" + line + "' is not key=value");
        }
        command.settings[word.substr(0, equals)] = word.substr(equals + 1);
    }
    const auto take = [&command](const char* key, const std::string& otherwise) {
        const auto node = command.settings.extract(key);
        return node.empty() ? otherwise : node.mapped();
    };
    command.warm_up = std::stoi(take("warm_up", "0"));
    command.repetitions = std::stoi(take("repetitions", "1"));
    command.compute = std::stod(take("compute", "0"));
    command.memory = take("memory", "private");
    return command;
}

Operation copy_operation(std::span<float> from, PrivateMemory& memory) {
    const std::span<float> into = memory.get(from.size());
    // Volatile: the compiler may not drop a copy that nobody reads.
    float* volatile target = into.data();
    return {[from, target] { std::memcpy(target, from.data(), from.size_bytes()); }, {}, "memcpy"};
}

double seconds_of(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Seconds that the cores of this rank were not idle, since the machine started; all that runs there counts, also the kernel's
// part of a transfer. In clock ticks.
double busy_seconds() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    std::ifstream file("/proc/stat");
    double ticks = 0;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string name;
        double user = 0, nice = 0, system = 0, idle = 0, waits_for_disk = 0, interrupts = 0,
               soft_interrupts = 0;
        words >> name >> user >> nice >> system >> idle >> waits_for_disk >> interrupts >> soft_interrupts;
        const bool is_core = name.size() > 3 && name.starts_with("cpu");
        if (is_core && CPU_ISSET(std::stoul(name.substr(3)), &allowed)) {
            ticks += user + nice + system + interrupts + soft_interrupts;
        }
    }
    return ticks / static_cast<double>(sysconf(_SC_CLK_TCK)) / CPU_COUNT(&allowed);
}

// Work that stays in the first-level cache: what a transfer takes from it is processor time. Returns its seconds.
double compute(long rounds) {
    static std::array<float, 4096> values{};
    const double begin = seconds_of(CLOCK_MONOTONIC);
    for (long round = 0; round < rounds; ++round) {
        for (float& value : values) {
            value = value * 0.5F + 1.0F;
        }
        std::atomic_signal_fence(std::memory_order_seq_cst);  // each round really happens
    }
    return seconds_of(CLOCK_MONOTONIC) - begin;
}

// What the operation takes from a computation beside it: the median of differences to the same alone, just before or after.
double slow_down(Side& side, const Operation& operation, long rounds) {
    constexpr int pairs = 12;
    std::array<double, pairs> differences{};
    for (std::size_t pair = 0; pair < pairs; ++pair) {
        double alone = 0;
        double beside = 0;
        for (const bool with_operation : {pair % 2 == 0, pair % 2 != 0}) {
            side.barrier();
            if (with_operation) {
                operation.start();
            }
            (with_operation ? beside : alone) = compute(rounds);
            if (with_operation) {
                operation.wait();
            }
        }
        differences[pair] = beside - alone;
    }
    std::ranges::nth_element(differences, differences.begin() + pairs / 2);
    return differences[pairs / 2];
}

void overlap(Side& side, const Operation& operation, double seconds, nlohmann::json& answer) {
    if (!operation.start) {
        throw Error(ExitCode::usage, "a blocking call overlaps with nothing");
    }
    constexpr long trial = 20000;
    compute(trial);
    const auto rounds = static_cast<long>(seconds / compute(trial) * trial);
    side.barrier();
    const double all_threads = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    const double this_thread = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    operation.start();
    compute(rounds);
    const double waits = seconds_of(CLOCK_MONOTONIC);
    operation.wait();
    answer["wait"] = seconds_of(CLOCK_MONOTONIC) - waits;
    answer["cpu"] = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - all_threads -
                    (seconds_of(CLOCK_THREAD_CPUTIME_ID) - this_thread);
    answer["slow_down"] = slow_down(side, operation, rounds / 8);
    side.barrier();
}

nlohmann::json execute(Side& side, const Command& command, PrivateMemory& copies) {
    const std::span<float> buffer = side.buffer(command).first(command.count());
    const Operation operation =
        command.collective == "copy" ? copy_operation(buffer, copies) : side.prepare(command, buffer);
    fill(buffer, command, side.rank());
    side.barrier();
    operation.run();
    const bool right = is_right(operation, command, side.size());
    // Sums of sums would overflow.
    std::memset(buffer.data(), 0, buffer.size_bytes());
    for (int i = 0; i < command.warm_up; ++i) {
        operation.run();
    }
    side.barrier();
    const double busy = busy_seconds();
    const auto begin = Clock::now();
    for (int i = 0; i < command.repetitions; ++i) {
        operation.run();
    }
    const std::chrono::duration<double> took = Clock::now() - begin;
    const double busy_meanwhile = busy_seconds() - busy;
    // Nobody waits on the socket while others need its progress.
    side.barrier();
    nlohmann::json answer = {{"seconds", took.count() / command.repetitions},
                             {"busy", busy_meanwhile / command.repetitions},
                             {"correct", right},
                             {"description", operation.description}};
    if (command.compute > 0) {
        overlap(side, operation, command.compute, answer);
    }
    return answer;
}

class LineSocket {
  public:
    explicit LineSocket(const std::string& path) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        if (path.size() >= sizeof address.sun_path) {
            throw Error(ExitCode::usage, "the path of the socket is too long: " + path,
                        "set a shorter TMPDIR");
        }
        std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
        const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (descriptor < 0 ||
            connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
            throw Error(ExitCode::io, "cannot connect to " + path + ": " + std::strerror(errno),
                        "tests/bench/allreduce-vs-peers starts this program");
        }
        descriptor_ = descriptor;
        stream_.reset(fdopen(descriptor, "r"));
    }

    void write(const std::string& line) {
        const std::string text = line + "\n";
        // Far shorter than the socket's buffer.
        if (send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) {
            leave_alone();
        }
    }

    std::string read() {
        char* text = nullptr;
        std::size_t space = 0;
        const ssize_t length = getline(&text, &space, stream_.get());
        const std::unique_ptr<char, decltype(&std::free)> owner(text, &std::free);
        if (length <= 0) {
            leave_alone();
        }
        return {text, static_cast<std::size_t>(length - 1)};
    }

  private:
    // The benchmark is gone, and nobody is left to tell.
    [[noreturn]] static void leave_alone() { _exit(static_cast<int>(ExitCode::environment)); }

    int descriptor_ = -1;
    std::unique_ptr<std::FILE, decltype(&std::fclose)> stream_{nullptr, &std::fclose};
};

}  // namespace

std::string Command::key() const {
    std::string text;
    for (const auto& [name, value] : settings) {
        text.append(name).append("=").append(value).append(" ");
    }
    return text;
}

void PrivateMemory::Free::operator()(float* memory) const {
    std::free(memory);
}

std::span<float> PrivateMemory::get(std::size_t count) {
    if (count > count_) {
        constexpr std::size_t huge_page = 2U << 20;
        const std::size_t bytes = (count * sizeof(float) + huge_page - 1) / huge_page * huge_page;
        memory_.reset();
        memory_.reset(static_cast<float*>(std::aligned_alloc(huge_page, bytes)));
        if (memory_ == nullptr) {
            throw Error(ExitCode::memory, "no " + human(Bytes{bytes}) + " of memory");
        }
        madvise(memory_.get(), bytes, MADV_HUGEPAGE);  // a wish
        std::memset(memory_.get(), 0, bytes);
        count_ = bytes / sizeof(float);
    }
    return {memory_.get(), count_};
}

std::span<float> Side::buffer(const Command& command) {
    if (command.memory != "private") {
        throw Error(ExitCode::usage, "this side has no memory '" + command.memory + "'");
    }
    return private_memory_.get(command.count());
}

int launched_rank() {
    for (const char* name : {"BENCH_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK"}) {
        if (const char* value = std::getenv(name); value != nullptr) {
            return std::atoi(value);
        }
    }
    throw Error(ExitCode::environment, "no rank in the environment", "start with mpiexec");
}

void bind_to_own_core(int rank) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    int skip = rank % CPU_COUNT(&allowed);
    int core = 0;
    while (!CPU_ISSET(core, &allowed) || skip-- > 0) {
        ++core;
    }
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(core, &own);
    sched_setaffinity(0, sizeof own, &own);
}

void serve(Side& side, const std::string& socket_path) {
    LineSocket socket(socket_path);
    const nlohmann::json hello = {
        {"rank", side.rank()}, {"size", side.size()}, {"description", side.description()}};
    socket.write(hello.dump());
    PrivateMemory copies;
    for (std::string line = socket.read(); line != "quit"; line = socket.read()) {
        nlohmann::json answer;
        try {
            answer = execute(side, parse_command(line), copies);
        } catch (const Error& error) {
            answer = {{"error", error.full_message()}};
        } catch (const std::exception& error) {
            answer = {{"error", error.what()}};
        }
        socket.write(answer.dump());
    }
}

int run_side(int argc, char** argv, const std::function<std::unique_ptr<Side>()>& make) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s SOCKET (tests/bench/allreduce-vs-peers starts this program)\n",
                     argv[0]);
        return static_cast<int>(ExitCode::usage);
    }
    try {
        bind_to_own_core(launched_rank());
        const std::unique_ptr<Side> side = make();
        serve(*side, argv[1]);
        // MPI_Finalize of MPICH 4.0.2 hangs now and then.
        std::signal(SIGALRM, [](int) { _exit(0); });
        alarm(5);
        side->finish();
    } catch (const Error& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.full_message().c_str());
        return static_cast<int>(error.code());
    }
    return 0;
}

}  // namespace mastic::bench
