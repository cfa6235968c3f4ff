#include "engine/sim/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace lectern::sim {
namespace {

constexpr int backlog = 4096;

Result<UniqueFd> bound_tcp(const std::string& host, int port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fail_errno("socket", errno);
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1)
    return fail(ErrorKind::invalid_input, "'{}' is not an IPv4 address", host);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail_errno(fmt::format("cannot bind {}:{}", host, port), errno);
  return fd;
}

Result<UniqueFd> bound_unix(const std::string& path) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fail_errno("socket", errno);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return fail(ErrorKind::invalid_input, "the path of the socket is too long: {}", path);
  std::memcpy(address.sun_path, path.data(), path.size());
  ::unlink(path.c_str());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail_errno("cannot bind " + path, errno);
  return fd;
}

}  // namespace

Result<Listener> Listener::open(std::string_view address) {
  Listener listener;
  if (address.starts_with("unix:")) address.remove_prefix(5);
  if (address.find('/') != std::string_view::npos) {
    listener.path_ = address;
    return listener;
  }
  const std::size_t colon = address.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? "" : address.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), listener.port_);
  if (error != std::errc{} || end != port.data() + port.size() || listener.port_ < 0 || listener.port_ > 65535)
    return fail(ErrorKind::invalid_input, "'{}' is no address; write for instance 127.0.0.1:0 or unix:/tmp/engine.sock",
                address);
  listener.host_ = address.substr(0, colon);
  auto reserved = bound_tcp(listener.host_, listener.port_);
  if (!reserved) return std::unexpected(reserved.error());
  sockaddr_in bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(reserved->get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0)
    return fail_errno("getsockname", errno);
  listener.port_ = ntohs(bound.sin_port);
  listener.reserved_ = std::move(*reserved);
  return listener;
}

Listener::~Listener() {
  stop();
}

Status Listener::start() {
  if (fd_) return {};
  auto fd = path_.empty() ? bound_tcp(host_, port_) : bound_unix(path_);
  if (!fd) return std::unexpected(fd.error());
  if (::listen(fd->get(), backlog) != 0) return fail_errno("listen", errno);
  fd_ = std::move(*fd);
  return {};
}

void Listener::stop() {
  if (fd_ && !path_.empty()) ::unlink(path_.c_str());
  fd_.reset();
}

UniqueFd Listener::accept() {
  UniqueFd fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (fd && path_.empty()) {
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  return fd;
}

std::string Listener::url() const {
  return path_.empty() ? fmt::format("http://{}:{}", host_, port_) : "unix:" + path_;
}

}  // namespace lectern::sim
