// nvidia-cuda-mps-control for nodes without a GPU: -d starts a daemon that listens on a socket in CUDA_MPS_PIPE_DIRECTORY;
// otherwise a command is read from standard input and sent there. FAKE_MPS holds words that make it misbehave:
//   no-start     -d fails, with a line in control.log
//   mute         the daemon answers nothing
//   no-server    it starts no server, with a line in server.log
//   no-quit      it ignores quit
// Each start and end is a line in the file that FAKE_MPS_JOURNAL names.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

bool behaves(const char* word) {
    return variable("FAKE_MPS").find(word) != std::string::npos;
}

const std::string pipe_directory = variable("CUDA_MPS_PIPE_DIRECTORY");
const std::string log_directory = variable("CUDA_MPS_LOG_DIRECTORY");
const std::string pid_file = pipe_directory + "/nvidia-cuda-mps-control.pid";

void journal(const std::string& line) {
    std::ofstream(variable("FAKE_MPS_JOURNAL"), std::ios::app) << line + "\n" << std::flush;
}

sockaddr_un address() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path, sizeof address.sun_path, "%s/control", pipe_directory.c_str());
    return address;
}

int listen_there() {
    const sockaddr_un where = address();
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unlink(where.sun_path);
    if (bind(listener, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0 ||
        listen(listener, 16) != 0) {
        return -1;
    }
    return listener;
}

// The real one is a program of its own, of this name.
pid_t start_server() {
    if (behaves("no-server")) {
        std::ofstream(log_directory + "/server.log", std::ios::app) << "Failed to start : invalid device\n";
        return 0;
    }
    const pid_t server = fork();
    if (server == 0) {
        close_range(STDERR_FILENO + 1, ~0U, 0);  // who asks for it waits until all ends of the connection are closed
        prctl(PR_SET_NAME, "nvidia-cuda-mps-server");
        for (;;) {
            pause();
        }
    }
    return server;
}

std::string answer(const std::string& command, std::vector<pid_t>& servers) {
    if (command.starts_with("start_server") && servers.empty()) {
        if (const pid_t server = start_server()) {
            servers.push_back(server);
        }
    } else if (command == "get_server_list") {
        std::string list;
        for (const pid_t server : servers) {
            list += std::to_string(server) + "\n";
        }
        return list;
    }
    return "";
}

void serve(int listener) {
    std::vector<pid_t> servers;
    for (;;) {
        const int client = accept(listener, nullptr, nullptr);
        char text[256] = {};
        const ssize_t length = read(client, text, sizeof text - 1);
        const std::string command(text, length > 0 ? static_cast<std::size_t>(length) : 0);
        if (behaves("mute")) {
            continue;  // and the client waits
        }
        const std::string reply = answer(command, servers);
        if (write(client, reply.data(), reply.size()) < 0) {
            std::perror("fake control");
        }
        close(client);
        if (command == "quit" && !behaves("no-quit")) {
            for (const pid_t server : servers) {
                kill(server, SIGKILL);
                waitpid(server, nullptr, 0);
            }
            return;
        }
    }
}

int start_daemon() {
    std::ofstream(log_directory + "/control.log", std::ios::app)
        << (behaves("no-start") ? "Failed to start: no device\n" : "Starting control daemon\n");
    if (behaves("no-start")) {
        return 1;
    }
    const int listener = listen_there();
    if (listener < 0) {
        std::perror("bind");
        return 1;
    }
    if (fork() != 0) {
        return 0;
    }
    setsid();
    std::ofstream(pid_file) << getpid();
    journal("start " + variable("CUDA_VISIBLE_DEVICES"));
    serve(listener);
    unlink(address().sun_path);
    unlink(pid_file.c_str());
    journal("quit");
    return 0;
}

int send_command() {
    std::string command;
    std::getline(std::cin, command);
    const sockaddr_un where = address();
    const int server = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(server, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) {
        std::cerr << "Cannot find MPS control daemon process\n";
        return 1;
    }
    if (behaves("mute")) {
        return 1;  // the real one waits; what asks it has a limit of its own
    }
    if (write(server, command.data(), command.size()) < 0) {
        return 1;
    }
    char text[256];
    for (ssize_t length = 0; (length = read(server, text, sizeof text)) > 0;) {
        std::cout.write(text, length);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return argc > 1 && std::strcmp(argv[1], "-d") == 0 ? start_daemon() : send_command();
}
