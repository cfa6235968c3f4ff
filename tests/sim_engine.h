// Starts lectern-sim-engine for a test and speaks to it. A test program that uses it depends on the target
// lectern-sim-engine (add_dependencies) and links fmt through base.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

namespace lectern::testing_sim {

// A client connection that does nothing by itself. Every wait gives up after 60 s: a hanging test says where.
class RawClient {
 public:
  explicit RawClient(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ = ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  explicit RawClient(const std::string& unix_path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    unix_path.copy(address.sun_path, sizeof address.sun_path - 1);
    is_connected_ = ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  bool is_connected() const { return is_connected_; }
  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  // Reads until `end` has come; false when the server closed before.
  bool read_until(std::string_view end, std::size_t from = 0) {
    while (read_.find(end, from) == std::string::npos)
      if (!read_more()) return false;
    return true;
  }
  // Reads until the server closes.
  const std::string& read_all() {
    while (read_more()) {
    }
    return read_;
  }
  // One whole reply with Content-Length or chunks, taken from what was read; nullopt when the server closed before its
  // end.
  struct Reply {
    int status = 0;
    std::string head;
    std::string body;
  };
  std::optional<Reply> reply() {
    if (!read_until("\r\n\r\n")) return std::nullopt;
    Reply reply;
    std::size_t at = read_.find("\r\n\r\n") + 4;
    reply.head = read_.substr(0, at);
    reply.status = std::atoi(reply.head.c_str() + 9);
    if (reply.head.find("chunked") != std::string::npos) {
      for (std::size_t size = 1; size != 0;) {
        if (!read_until("\r\n", at)) return std::nullopt;
        const std::size_t line = read_.find("\r\n", at);
        std::from_chars(read_.data() + at, read_.data() + line, size, 16);
        if (!read_bytes(line + 2 + size + 2)) return std::nullopt;
        reply.body += read_.substr(line + 2, size);
        at = line + 2 + size + 2;
      }
    } else {
      const std::size_t length = reply.head.find("Content-Length: ");
      const auto size = static_cast<std::size_t>(std::atoll(reply.head.c_str() + length + 16));
      if (!read_bytes(at + size)) return std::nullopt;
      reply.body = read_.substr(at, size);
      at += size;
    }
    read_.erase(0, at);
    return reply;
  }
  const std::string& read() const { return read_; }
  void close() { fd_.reset(); }

 private:
  bool read_bytes(std::size_t size) {
    while (read_.size() < size)
      if (!read_more()) return false;
    return true;
  }
  bool read_more() {
    pollfd waits{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&waits, 1, 60'000) != 1) throw std::runtime_error("nothing came for 60 s; read so far: " + read_);
    char buffer[16 * 1024];
    const ssize_t count = ::recv(fd_.get(), buffer, sizeof buffer, 0);
    if (count > 0) read_.append(buffer, static_cast<std::size_t>(count));
    return count > 0;
  }
  UniqueFd fd_;
  bool is_connected_ = false;
  std::string read_;
};

class SimEngine {
 public:
  // Settings as on the command line: {"--slots", "2", "--fault", "429:first=1"}.
  explicit SimEngine(std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), {LECTERN_BIN_DIR "/lectern-sim-engine", "--exit-with-parent", "--listen",
                                         "127.0.0.1:0", "--control", "127.0.0.1:0"});
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    const UniqueFd output(ends[0]);
    UniqueFd input(ends[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input.get(), STDOUT_FILENO);
    std::vector<char*> argv;
    for (std::string& each : arguments) argv.push_back(each.data());
    argv.push_back(nullptr);
    const int error = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot start " + arguments[0]);
    input.reset();
    std::string text;
    char buffer[256];
    while (text.find("control on ") == std::string::npos || text.back() != '\n') {
      const ssize_t count = ::read(output.get(), buffer, sizeof buffer);
      if (count <= 0) throw std::runtime_error("lectern-sim-engine ended: " + text);
      text.append(buffer, static_cast<std::size_t>(count));
    }
    port_ = std::atoi(text.c_str() + text.find(':', text.find("http:") + 5) + 1);
    control_port_ = std::atoi(text.c_str() + text.rfind(':') + 1);
  }
  ~SimEngine() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  SimEngine(const SimEngine&) = delete;
  SimEngine& operator=(const SimEngine&) = delete;

  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  // {"slots": 2}: changes settings. Works while the engine is dead, too.
  void control(std::string_view json) const {
    const std::string reply = ask("POST", "/sim/control", json);
    if (reply != "{}\n") throw std::runtime_error("control: " + reply);
  }
  void reset() const { ask("POST", "/sim/reset", ""); }
  std::string stats() const { return ask("GET", "/sim/stats", ""); }
  // Returns the figures as soon as "answered=3&running=0" holds; see docs/sim-engine.md.
  std::string await(const std::string& conditions) const { return ask("GET", "/sim/await?" + conditions, ""); }

 private:
  std::string ask(std::string_view method, std::string_view path, std::string_view body) const {
    RawClient client(control_port_);
    client.send(std::string(method) + " " + std::string(path) +
                " HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body));
    const auto reply = client.reply();
    if (!reply) throw std::runtime_error("lectern-sim-engine closed its control connection");
    return reply->body;
  }
  pid_t pid_ = -1;
  int port_ = 0;
  int control_port_ = 0;
};

}  // namespace lectern::testing_sim
