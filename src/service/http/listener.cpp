#include "service/http/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace lectern::service::http {
namespace {

constexpr int backlog = 4096;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Result<SocketAddress> socket_address(const ListenAddress& address) {
  SocketAddress made;
  if (!address.path.empty()) {
    auto* to = reinterpret_cast<sockaddr_un*>(&made.storage);
    if (address.path.size() >= sizeof to->sun_path)
      return fail(ErrorKind::invalid_input, "the path of the socket is too long: {}", address.path);
    to->sun_family = AF_UNIX;
    std::memcpy(to->sun_path, address.path.c_str(), address.path.size() + 1);
    made.size = sizeof *to;
    return made;
  }
  auto* v4 = reinterpret_cast<sockaddr_in*>(&made.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&made.storage);
  if (::inet_pton(AF_INET, address.host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<std::uint16_t>(address.port));
    made.size = sizeof *v4;
    return made;
  }
  if (::inet_pton(AF_INET6, address.host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(static_cast<std::uint16_t>(address.port));
    made.size = sizeof *v6;
    return made;
  }
  return fail(ErrorKind::invalid_input, "'{}' is not an IP address", address.host);
}

// A socket file stays behind when its program is killed. One that somebody answers on is not touched; nor is any other
// file, which refuses connections too.
void remove_dead_socket(const std::string& path, const SocketAddress& address) {
  struct stat there{};
  if (::lstat(path.c_str(), &there) != 0 || !S_ISSOCK(there.st_mode)) return;
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (probe && ::connect(probe.get(), address.get(), address.size) != 0 && errno == ECONNREFUSED)
    ::unlink(path.c_str());
}

bool is_loopback(const sockaddr_storage& storage) {
  if (storage.ss_family == AF_UNIX) return true;
  if (storage.ss_family == AF_INET) {
    return (ntohl(reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr.s_addr) >> 24U) == 127;
  }
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return v6.s6_addr[12] == 127;
  return IN6_IS_ADDR_LOOPBACK(&v6);
}

}  // namespace

bool ListenAddress::loopback() const {
  const auto address = socket_address(*this);
  return address && is_loopback(address->storage);
}

Result<ListenAddress> parse_listen_address(std::string_view text) {
  ListenAddress address;
  if (text.starts_with("unix:")) {
    address.path = text.substr(5);
    if (address.path.empty()) return fail(ErrorKind::invalid_input, "'unix:' needs the path of a socket after it");
    return address;
  }
  const std::size_t colon = text.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  std::string_view host = text.substr(0, std::min(colon, text.size()));
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  address.host = host == "localhost" ? "127.0.0.1" : host;
  const bool good_port =
      error == std::errc{} && end == port.data() + port.size() && address.port >= 0 && address.port <= 65535;
  if (!good_port || host.empty() || !socket_address(address)) {
    return fail(
        ErrorKind::invalid_input,
        "'{}' is no address to listen on; write for instance 127.0.0.1:8080, [::]:8080 or unix:/run/lectern.sock",
        text);
  }
  return address;
}

std::string to_string(const ListenAddress& address) {
  if (!address.path.empty()) return "unix:" + address.path;
  const bool v6 = address.host.contains(':');
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", address.host, v6 ? "]" : "", address.port);
}

Result<Listening> listen_on(ListenAddress address) {
  const auto to = socket_address(address);
  if (!to) return std::unexpected(to.error());
  const std::string name = address.path.empty() ? fmt::format("{}:{}", address.host, address.port) : address.path;
  UniqueFd fd(::socket(to->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fail_errno("socket", errno);
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!address.path.empty()) remove_dead_socket(address.path, *to);
  if (::bind(fd.get(), to->get(), to->size) != 0 || ::listen(fd.get(), backlog) != 0) {
    const int why = errno;
    return fail(ErrorKind::unavailable, "cannot listen on {}: {}{}", name, std::strerror(why),
                why == EADDRINUSE ? "; another program does, choose another address with --listen" : "");
  }
  if (address.path.empty()) {
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0)
      return fail_errno("getsockname", errno);
    address.port = ntohs(bound.ss_family == AF_INET ? reinterpret_cast<sockaddr_in*>(&bound)->sin_port
                                                    : reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port);
  }
  Listening listening{.fd = std::move(fd), .address = std::move(address)};
  struct stat made{};
  if (!listening.address.path.empty() && ::lstat(listening.address.path.c_str(), &made) == 0) {
    listening.device = made.st_dev;
    listening.inode = made.st_ino;
  }
  return listening;
}

void stop_listening(Listening& listening) {
  struct stat there{};
  const std::string& path = listening.address.path;
  const bool ours = listening.fd && !path.empty() && ::lstat(path.c_str(), &there) == 0 && S_ISSOCK(there.st_mode) &&
                    there.st_dev == listening.device && there.st_ino == listening.inode;
  if (ours) ::unlink(path.c_str());
  listening.fd.reset();
}

Peer peer_of(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {"?", false};
  if (storage.ss_family == AF_UNIX) return {"unix", true};
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* raw = storage.ss_family == AF_INET
                        ? static_cast<const void*>(&reinterpret_cast<sockaddr_in*>(&storage)->sin_addr)
                        : static_cast<const void*>(&reinterpret_cast<sockaddr_in6*>(&storage)->sin6_addr);
  ::inet_ntop(storage.ss_family, raw, text.data(), text.size());
  return {text.data(), is_loopback(storage)};
}

}  // namespace lectern::service::http
