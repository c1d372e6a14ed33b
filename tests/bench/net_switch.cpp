// An Ethernet switch in user space, for kernels without netem: each port a TAP device with one rate in both directions,
// and one delay from port to port.
// usage: net-switch MBIT_PER_S DELAY_US DEVICE...
// Creates the devices, prints "ready" and forwards until it is killed. A frame leaves at
//   max(end of its transmission by the sender + delay, end of the previous frame to the same port + its own length),
// which counts a transmission once for an idle path and lets every link be the bottleneck. A port whose queue holds more
// than 20 ms drops frames.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using Address = std::array<unsigned char, 6>;

// TAP frames carry a header about segmentation (virtio_net_hdr): up to 64 KiB of TCP pass as one frame.
constexpr std::size_t header_bytes = 10;
constexpr std::size_t largest_frame = header_bytes + (66U << 10);
constexpr auto longest_queue = std::chrono::milliseconds(20);

using Frame = std::shared_ptr<const std::vector<char>>;

struct Queued {
    Time leaves;
    Frame frame;
};

struct Port {
    int descriptor = -1;
    std::optional<Address> address;  // the station behind it, once it has sent
    Time sender_free;                // when what the station has sent is all transmitted
    Time receiver_free;              // when what the station will receive is all transmitted
    std::deque<Queued> queue;        // by time
};

int open_tap(const std::string& name) {
    const int descriptor = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    ifreq request{};
    request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
    std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
    if (descriptor < 0 || ioctl(descriptor, TUNSETIFF, &request) != 0 ||
        ioctl(descriptor, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) != 0) {
        throw std::runtime_error("cannot make the device " + name + ": " + std::strerror(errno));
    }
    return descriptor;
}

class Switch {
  public:
    Switch(double bytes_per_second, std::chrono::microseconds delay, const std::vector<std::string>& devices)
        : seconds_per_byte_(1 / bytes_per_second), delay_(delay) {
        for (const std::string& name : devices) {
            ports_.emplace_back().descriptor = open_tap(name);
        }
    }

    [[noreturn]] void run() {
        std::vector<pollfd> readable;
        for (const Port& port : ports_) {
            readable.push_back({port.descriptor, POLLIN, 0});
        }
        for (;;) {
            deliver(Clock::now());
            wait(readable);
            for (Port& port : ports_) {
                receive(port);
            }
        }
    }

  private:
    void deliver(Time now) {
        for (Port& port : ports_) {
            while (!port.queue.empty() && port.queue.front().leaves <= now) {
                const auto& bytes = *port.queue.front().frame;
                // A full device drops the frame, as a network card would.
                [[maybe_unused]] const auto written = write(port.descriptor, bytes.data(), bytes.size());
                port.queue.pop_front();
            }
        }
    }

    void wait(std::vector<pollfd>& readable) {
        std::optional<Time> next;
        for (const Port& port : ports_) {
            if (!port.queue.empty() && (!next || port.queue.front().leaves < *next)) {
                next = port.queue.front().leaves;
            }
        }
        timespec left{};
        if (next) {
            const auto nanoseconds = std::max<std::int64_t>(
                0, std::chrono::duration_cast<std::chrono::nanoseconds>(*next - Clock::now()).count());
            left = {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
        }
        ppoll(readable.data(), readable.size(), next ? &left : nullptr, nullptr);
    }

    void receive(Port& from) {
        constexpr int at_once = 8;  // then the other ports' turn
        for (int i = 0; i < at_once; ++i) {
            const ssize_t length = read(from.descriptor, scratch_.data(), scratch_.size());
            if (length < static_cast<ssize_t>(header_bytes + 2 * sizeof(Address))) {
                return;
            }
            forward(from,
                    std::make_shared<const std::vector<char>>(scratch_.data(), scratch_.data() + length));
        }
    }

    void forward(Port& from, const Frame& frame) {
        Address destination;
        Address source;
        std::memcpy(destination.data(), frame->data() + header_bytes, sizeof destination);
        std::memcpy(source.data(), frame->data() + header_bytes + sizeof destination, sizeof source);
        from.address = source;
        const Clock::duration transmission = time_of(frame->size() - header_bytes);
        from.sender_free = std::max(from.sender_free, Clock::now()) + transmission;
        const bool known = std::any_of(ports_.begin(), ports_.end(),
                                       [&](const Port& port) { return port.address == destination; });
        for (Port& to : ports_) {
            if (&to != &from && (!known || to.address == destination)) {
                enqueue(to, frame, from.sender_free + delay_, transmission);
            }
        }
    }

    static void enqueue(Port& to, const Frame& frame, Time arrival, Clock::duration transmission) {
        if (to.receiver_free > arrival + longest_queue) {
            return;
        }
        to.receiver_free = std::max(arrival, to.receiver_free + transmission);
        to.queue.push_back({to.receiver_free, frame});
    }

    Clock::duration time_of(std::size_t bytes) const {
        return std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(static_cast<double>(bytes) * seconds_per_byte_));
    }

    double seconds_per_byte_;
    std::chrono::microseconds delay_;
    std::vector<Port> ports_;
    std::vector<char> scratch_ = std::vector<char>(largest_frame);
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: %s MBIT_PER_S DELAY_US DEVICE...\n", argv[0]);
        return 2;
    }
    // Ahead of the stations' programs, which share its cores, and with exact timers. Where that is not allowed, the
    // network is only less exact.
    const sched_param priority{10};
    sched_setscheduler(0, SCHED_FIFO, &priority);
    prctl(PR_SET_TIMERSLACK, 1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
        Switch forwarder(std::atof(argv[1]) * 1e6 / 8, std::chrono::microseconds(std::atol(argv[2])),
                         std::vector<std::string>(argv + 3, argv + argc));
        std::puts("ready");
        std::fflush(stdout);
        forwarder.run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "net-switch: %s\n", error.what());
        return 4;
    }
}
