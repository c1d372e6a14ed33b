// The staged side of staged-vs-resident: what an engine of stages and tasks must do at least in each iteration. The driver sends the
// model to each executor, which starts a task process; the task sends its gradient back, and ends; the driver adds them up. Data stays in
// the executors' memory, nothing is packed or parsed, and a task is a fork: real engines do all that as well.
//
//   staged driver PORT EXECUTORS STEPS       prints the time of each step in milliseconds, then the norm of the weights
//   staged executor ADDRESS PORT
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mastic/core/descriptor.hpp>
#include <mastic/core/error.hpp>

#include "bench/staged/perceptron.hpp"

namespace mastic::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int patience_s = 60;  // for one message

struct Task {
    std::int64_t step = -1;  // -1: there are no more
    std::uint64_t begin = 0, end = 0;
};

[[noreturn]] void fail(const char* what) {
    throw Error(ExitCode::environment, std::string(what) + ": " + std::strerror(errno));
}

template <class Byte, class Transfer>
void transfer(std::span<Byte> bytes, Transfer some) {
    while (!bytes.empty()) {
        const ssize_t count = some(bytes.data(), bytes.size());
        if (count <= 0) {
            fail("the other side is gone");
        }
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
}

template <class T>
void send_all(int socket, std::span<T> values) {
    transfer(std::as_bytes(values), [socket](const void* data, std::size_t size) {
        return ::send(socket, data, size, MSG_NOSIGNAL);
    });
}

template <class T>
void receive_all(int socket, std::span<T> values) {
    transfer(std::as_writable_bytes(values),
             [socket](void* data, std::size_t size) { return ::recv(socket, data, size, 0); });
}

Descriptor tcp_socket() {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    const timeval bound{.tv_sec = patience_s, .tv_usec = 0};
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound);
    return socket;
}

sockaddr_in address_of(const char* host, const char* port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
    ::inet_pton(AF_INET, host, &address.sin_addr);
    return address;
}

std::vector<Descriptor> accept_executors(const char* port, std::size_t count) {
    const Descriptor listener = tcp_socket();
    const sockaddr_in address = address_of("0.0.0.0", port);
    if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener.get(), static_cast<int>(count)) != 0) {
        fail("listen");
    }
    std::vector<Descriptor> executors;
    while (executors.size() < count) {
        executors.emplace_back(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!executors.back().valid()) {
            fail("accept");
        }
        const int on = 1;
        ::setsockopt(executors.back().get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    return executors;
}

// All executors at once, a thread each.
std::vector<std::vector<float>> run_stage(const std::vector<Descriptor>& executors, Perceptron& model,
                                          std::int64_t step) {
    std::vector<std::vector<float>> gradients(executors.size(), std::vector<float>(Perceptron::parameters));
    std::vector<std::future<void>> exchanges;
    for (std::size_t i = 0; i < executors.size(); ++i) {
        exchanges.push_back(std::async(std::launch::async, [&, i] {
            const Task task{step, Perceptron::batch * i / executors.size(),
                            Perceptron::batch * (i + 1) / executors.size()};
            send_all(executors[i].get(), std::span(&task, 1));
            send_all(executors[i].get(), model.weights());
            receive_all(executors[i].get(), std::span(gradients[i]));
        }));
    }
    for (std::future<void>& exchange : exchanges) {
        exchange.get();
    }
    return gradients;
}

void drive(const char* port, std::size_t count, std::int64_t steps) {
    Perceptron model;
    const std::vector<Descriptor> executors = accept_executors(port, count);
    for (std::int64_t step = 0; step < steps; ++step) {
        const auto begin = Clock::now();
        std::vector<std::vector<float>> gradients = run_stage(executors, model, step);
        for (std::size_t i = 1; i < gradients.size(); ++i) {
            std::transform(gradients[0].begin(), gradients[0].end(), gradients[i].begin(),
                           gradients[0].begin(), std::plus());
        }
        model.update(gradients[0]);
        std::printf("step %.3f\n", std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    }
    for (const Descriptor& executor : executors) {
        const Task last;
        send_all(executor.get(), std::span(&last, 1));
    }
    std::printf("norm %.9f\n", model.norm());
}

Descriptor call(const char* host, const char* port) {
    const sockaddr_in address = address_of(host, port);
    for (const auto end = Clock::now() + std::chrono::seconds(patience_s); Clock::now() < end;) {
        Descriptor socket = tcp_socket();
        if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
            return socket;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    fail("connect");
}

void execute(const char* host, const char* port) {
    Perceptron model;
    const Descriptor driver = call(host, port);
    for (;;) {
        Task task;
        receive_all(driver.get(), std::span(&task, 1));
        if (task.step < 0) {
            return;
        }
        receive_all(driver.get(), model.weights());
        const pid_t child = ::fork();
        if (child == 0) {
            const std::vector<float> gradient = model.gradient(task.step, task.begin, task.end);
            send_all(driver.get(), std::span(gradient));
            ::_exit(0);
        }
        int status = 0;
        if (::waitpid(child, &status, 0) != child || status != 0) {
            fail("the task failed");
        }
    }
}

}  // namespace
}  // namespace mastic::bench

int main(int argc, char** argv) {
    using namespace mastic;
    try {
        if (argc == 5 && std::string(argv[1]) == "driver") {
            bench::drive(argv[2], static_cast<std::size_t>(std::atoi(argv[3])), std::atoll(argv[4]));
        } else if (argc == 4 && std::string(argv[1]) == "executor") {
            bench::execute(argv[2], argv[3]);
        } else {
            throw Error(ExitCode::usage,
                        "usage: staged driver PORT EXECUTORS STEPS | staged executor ADDRESS PORT");
        }
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "staged: %s\n", error.full_message().c_str());
        return static_cast<int>(error.code());
    }
}
