#include <mastic/elastic/control_socket.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>

namespace mastic::elastic {

namespace {

namespace fs = std::filesystem;

const std::string draft_mark = ".new";
const std::string place_mark = ".path";  // where the socket is, if not here

[[noreturn]] void fail(const fs::path& path) {
    throw_file_error("make the control socket", path, errno);
}

sockaddr_un address_of(const fs::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    return address;
}

// It gets its name when it listens already: see somebody_listens().
Descriptor listen_at(const fs::path& path) {
    const fs::path draft = path.string() + draft_mark;
    const sockaddr_un address = address_of(draft);
    Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    ::unlink(draft.c_str());
    // Its directory is private; nobody is answered before it listens.
    if (!socket.valid() ||
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::chmod(draft.c_str(), 0600) != 0 || ::listen(socket.get(), 16) != 0 ||
        ::rename(draft.c_str(), path.c_str()) != 0) {
        fail(path);
    }
    return socket;
}

fs::path short_place_for(const fs::path& path) {
    if (path.string().size() + draft_mark.size() < sizeof(sockaddr_un{}.sun_path)) {
        return path;
    }
    std::string directory = "/tmp/mastic-XXXXXX";
    if (::mkdtemp(directory.data()) == nullptr) {
        fail(directory);
    }
    return fs::path(directory) / "control";
}

// Of this host: across a shared directory all sockets refuse.
bool somebody_listens(const fs::path& path) {
    const sockaddr_un address = address_of(path);
    const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    return !socket.valid() || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
           (errno != ECONNREFUSED && errno != ENOENT);
}

void remove_if_dead(const fs::path& entry) {
    const bool is_elsewhere = entry.extension() == place_mark;
    std::string place = is_elsewhere ? read_text_file(entry) : entry.string();
    place.erase(place.find_last_not_of('\n') + 1);
    if (somebody_listens(place)) {
        return;
    }
    ::unlink(place.c_str());
    if (is_elsewhere) {
        ::rmdir(fs::path(place).parent_path().c_str());
        ::unlink(entry.c_str());
    }
}

// What members left on this host that were killed. `path`: control-HOST-ID, the ID without a dash.
void remove_the_dead_beside(const fs::path& path) {
    const std::string name = path.filename().string();
    const std::string of_this_host = name.substr(0, name.rfind('-') + 1);
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(path.parent_path(), error)) {
        const std::string other = entry.path().filename().string();
        const bool is_named = other.starts_with(of_this_host) && other.find('-', of_this_host.size()) == std::string::npos;
        if (!is_named || entry.path().extension() == draft_mark) {
            continue;
        }
        try {
            remove_if_dead(entry.path());
        } catch (const Error& unreadable) {
            spdlog::debug("{}", unreadable.what());  // another member has just removed it
        }
    }
}

std::string command_in(const std::string& line) {
    try {
        return nlohmann::json::parse(line).at("command").get<std::string>();
    } catch (const nlohmann::json::exception&) {
        return line;
    }
}

}  // namespace

struct ControlSocket::Client : comm::EventHandler {
    Client(ControlSocket& the_owner, Descriptor connected) : owner(the_owner), socket(std::move(connected)) {
        owner.loop_.add(socket.get(), *this);
    }
    ~Client() override { close(); }
    void ready(bool, bool) override { owner.heard(*this); }
    void close() {
        if (socket.valid()) {
            owner.loop_.remove(socket.get());
            socket.close();
        }
    }
    ControlSocket& owner;
    Descriptor socket;
    std::string input;
};

ControlSocket::ControlSocket(comm::EventLoop& loop, fs::path path,
                             std::function<void(const std::string&)> ask)
    : loop_(loop),
      path_(std::move(path)),
      bound_(short_place_for(path_)),
      ask_(std::move(ask)),
      socket_(listen_at(bound_)) {
    remove_the_dead_beside(path_);
    if (bound_ != path_) {
        write_file_atomically(path_.string() + place_mark, bound_.string() + "\n", 0600);
    }
    loop_.add(socket_.get(), *this);
}

ControlSocket::~ControlSocket() {
    loop_.remove(socket_.get());
    ::unlink(bound_.c_str());
    if (bound_ != path_) {
        ::rmdir(bound_.parent_path().c_str());
        ::unlink((path_.string() + place_mark).c_str());
    }
}

void ControlSocket::ready(bool, bool) {
    constexpr std::size_t most_clients = 64;
    for (;;) {
        Descriptor caller(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!caller.valid()) {
            return;
        }
        if (clients_.size() < most_clients) {
            clients_.emplace_back(*this, std::move(caller));
        }
    }
}

void ControlSocket::heard(Client& client) {
    constexpr std::size_t longest_line = 4096;
    std::array<char, 1024> buffer;
    while (client.socket.valid()) {
        const ssize_t count = ::recv(client.socket.get(), buffer.data(), buffer.size(), 0);
        if (count < 0 && errno == EAGAIN) {
            break;
        }
        if (count <= 0 || client.input.size() > longest_line) {
            client.close();
            return;
        }
        client.input.append(buffer.data(), static_cast<std::size_t>(count));
    }
    for (std::size_t end = client.input.find('\n'); end != std::string::npos; end = client.input.find('\n')) {
        const std::string line = client.input.substr(0, end);
        client.input.erase(0, end + 1);
        asking_.push_back(&client);
        ask_(command_in(line));
    }
}

void ControlSocket::answer(const std::string& line) {
    if (asking_.empty()) {
        return;
    }
    Client& client = *asking_.front();
    asking_.pop_front();
    const std::string text = line + "\n";
    // Short, and the first on this connection in a while: the buffer takes it.
    if (client.socket.valid() && ::send(client.socket.get(), text.data(), text.size(), MSG_NOSIGNAL) !=
                                     static_cast<ssize_t>(text.size())) {
        client.close();
    }
}

void ControlSocket::forget_closed() {
    std::erase_if(clients_, [this](const Client& client) {
        const bool waits = std::ranges::find(asking_, &client) != asking_.end();
        return !client.socket.valid() && !waits;
    });
}

}  // namespace mastic::elastic
