// Which addresses this server may be sent to by a URL that came from outside. Pure.
//
// A URL in a request could name what only this machine can reach: its own ports, its neighbours, the metadata of its
// cloud. Names are worth nothing here, since whoever owns a name decides what it resolves to; so the address itself is
// looked at, at the moment it is connected to (HttpTransport::admits).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace lectern::service {

// IPv4 as ::ffff:a.b.c.d, so that there is one form.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};
  bool operator==(const IpAddress&) const = default;
};
std::optional<IpAddress> parse_ip(std::string_view text);

// Why nobody from outside may send us there: "loopback", "private"…; nullopt = a public address. IPv4 addresses inside
// of IPv6 ones (mapped, NAT64, 6to4) are judged as themselves.
std::optional<std::string_view> why_not_public(const IpAddress& address);

class UrlGuard {
 public:
  UrlGuard() = default;  // public addresses only
  // `allowed`: addresses ("10.1.2.3"), networks ("10.0.0.0/8", "fd00::/8") and host names ("files.internal", or
  // ".internal" for all below it; whatever they resolve to) that may be reached all the same.
  // Errors (invalid_input): names the entry that is none of these.
  static Result<UrlGuard> allowing(std::span<const std::string> allowed);

  // Text that is no address is refused.
  bool admits(std::string_view host, std::string_view address) const;

 private:
  struct Network {
    IpAddress address;
    int bits = 128;
  };
  std::vector<Network> networks_;
  std::vector<std::string> hosts_;  // lower case
};

}  // namespace lectern::service
