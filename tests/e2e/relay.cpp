#include "relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string_view>

namespace lectern::e2e {
namespace {

sockaddr_in loopback(int port) {
  return {.sin_family = AF_INET,
          .sin_port = htons(static_cast<std::uint16_t>(port)),
          .sin_addr = {htonl(INADDR_LOOPBACK)},
          .sin_zero = {}};
}

UniqueFd new_socket() {
  return UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

// One side of the relay: a socket, with or without TLS on it.
struct Side {
  int fd = -1;
  SSL* tls = nullptr;

  long read(char* to, int size) const {
    return tls != nullptr ? SSL_read(tls, to, size) : ::read(fd, to, size_t(size));
  }
  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const long count = tls != nullptr ? SSL_write(tls, bytes.data(), static_cast<int>(bytes.size()))
                                        : ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  bool has_bytes() const { return tls != nullptr && SSL_pending(tls) > 0; }
};

// Until one of them closes.
void pump(const Side& a, const Side& b) {
  char buffer[16 * 1024];
  for (;;) {
    pollfd ready[2] = {{a.fd, POLLIN, 0}, {b.fd, POLLIN, 0}};
    if (!a.has_bytes() && ::poll(ready, 2, -1) < 0) return;
    const bool from_a = a.has_bytes() || ready[0].revents != 0;
    const Side& from = from_a ? a : b;
    const long count = from.read(buffer, sizeof buffer);
    if (count <= 0 || !(from_a ? b : a).write({buffer, static_cast<std::size_t>(count)})) return;
  }
}

// Answers CONNECT, and leaves everything else where it is.
bool take_connect(int client) {
  char start[8];
  if (::recv(client, start, sizeof start, MSG_PEEK | MSG_WAITALL) != sizeof start) return false;
  if (std::string_view(start, sizeof start) != "CONNECT ") return false;
  std::string head;
  char one = 0;
  while (!head.ends_with("\r\n\r\n") && ::read(client, &one, 1) == 1) head += one;
  return Side{client}.write("HTTP/1.1 200 Connection established\r\n\r\n");
}

}  // namespace

Relay::Relay(RelayOptions options)
    : options_(options),
      context_(options.certificate != nullptr ? options.certificate->server_context() : nullptr),
      listener_(new_socket()) {
  sockaddr_in place = loopback(0);
  socklen_t size = sizeof place;
  if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&place), size) != 0 || ::listen(listener_.get(), 64) != 0 ||
      ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&place), &size) != 0) {
    throw std::runtime_error("no port to listen on");
  }
  port_ = ntohs(place.sin_port);
  acceptor_ = std::jthread([this] { accept_all(); });
}

Relay::~Relay() {
  ::shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  const std::lock_guard lock(mutex_);
  for (const UniqueFd& client : clients_) ::shutdown(client.get(), SHUT_RDWR);
}

void Relay::accept_all() {
  for (;;) {
    UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) return;
    const int fd = client.get();
    {
      const std::lock_guard lock(mutex_);
      clients_.push_back(std::move(client));
    }
    passers_on_.emplace_back([this, fd] {
      pass_on(fd);
      ::shutdown(fd, SHUT_RDWR);
    });
  }
}

void Relay::pass_on(int client) {
  testing_tls::Session session;
  if (context_) {
    session.reset(SSL_new(context_.get()));
    SSL_set_fd(session.get(), client);
    if (SSL_accept(session.get()) != 1) return;  // the client did not trust us
  }
  const UniqueFd engine = new_socket();
  const sockaddr_in place = loopback(options_.to);
  if (::connect(engine.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0) return;
  ++connections_;
  if (!session && take_connect(client)) ++tunnels_;
  pump({.fd = client, .tls = session.get()}, {.fd = engine.get()});
}

}  // namespace lectern::e2e
