#include "service/raw_client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace lectern::service {

RawClient::RawClient(const std::string& address) {
  sockaddr_storage storage{};
  socklen_t size = 0;
  if (address.starts_with("unix:")) {
    auto* to = reinterpret_cast<sockaddr_un*>(&storage);
    to->sun_family = AF_UNIX;
    std::strncpy(to->sun_path, address.c_str() + 5, sizeof to->sun_path - 1);
    size = sizeof *to;
  } else {
    auto* to = reinterpret_cast<sockaddr_in*>(&storage);
    to->sin_family = AF_INET;
    to->sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    to->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    size = sizeof *to;
  }
  fd_ = UniqueFd(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{.tv_sec = 60, .tv_usec = 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&storage), size) != 0)
    throw std::runtime_error("cannot connect to " + address);
}

void RawClient::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) throw std::runtime_error("the server has closed the connection");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::size_t RawClient::send_some(std::string_view bytes) const {
  const ssize_t count = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

void RawClient::end() const {
  ::shutdown(fd_.get(), SHUT_WR);
}

bool RawClient::fill() {
  std::array<char, 64 * 1024> buffer{};
  const ssize_t count = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
  if (count < 0 && errno == EAGAIN) throw std::runtime_error("the server says nothing");
  if (count <= 0) return false;
  in_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

std::string RawClient::take(std::size_t bytes) {
  while (in_.size() < bytes) {
    if (!fill()) throw std::runtime_error("the response ends too early");
  }
  std::string taken = in_.substr(0, bytes);
  in_.erase(0, bytes);
  return taken;
}

std::string RawClient::take_line() {
  while (!in_.contains("\r\n")) {
    if (!fill()) throw std::runtime_error("the response ends within a line");
  }
  std::string line = take(in_.find("\r\n") + 2);
  line.resize(line.size() - 2);
  return line;
}

RawResponse RawClient::read_head() {
  RawResponse response;
  if (in_.empty() && !fill()) return response;
  response.status = std::stoi(take_line().substr(9, 3));
  for (std::string line = take_line(); !line.empty(); line = take_line()) {
    std::string name = line.substr(0, line.find(':'));
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    response.fields[name] = line.substr(line.find(':') + 2);
  }
  return response;
}

RawResponse RawClient::receive_head() {
  return read_head();
}

RawResponse RawClient::receive() {
  RawResponse response = read_head();
  if (response.status < 200 || response.status == 204 || response.status == 304) return response;
  if (response.fields.contains("content-length")) {
    response.body = take(std::stoul(response.fields["content-length"]));
  } else if (response.fields.contains("transfer-encoding")) {
    for (;;) {
      const std::size_t size = std::stoul(take_line(), nullptr, 16);
      response.body += take(size);
      take_line();
      if (size == 0) break;
    }
  } else {
    while (fill()) {
    }
    response.body = std::move(in_);
  }
  return response;
}

std::string RawClient::receive_some() {
  if (in_.empty()) fill();
  return std::exchange(in_, {});
}

bool RawClient::closed_by_server() {
  try {
    while (fill()) {
    }
  } catch (const std::runtime_error&) {
    return false;
  }
  return true;
}

RawResponse RawClient::ask(std::string_view method, std::string_view target, std::string_view fields,
                           std::string_view body) {
  std::string request = fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\n{}", method, target, fields);
  if (!body.empty()) request += fmt::format("Content-Length: {}\r\n", body.size());
  request += "\r\n";
  request += body;
  send(request);
  return method == "HEAD" ? receive_head() : receive();
}

}  // namespace lectern::service
