#include "service/url_guard.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace lectern::service {
namespace {

constexpr std::array<std::uint8_t, 12> mapped_prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

using Ipv4 = std::array<std::uint8_t, 4>;

bool is_ipv4(const IpAddress& address) {
  return std::equal(mapped_prefix.begin(), mapped_prefix.end(), address.bytes.begin());
}

Ipv4 ipv4_at(const IpAddress& address, std::size_t at) {
  return {address.bytes[at], address.bytes[at + 1], address.bytes[at + 2], address.bytes[at + 3]};
}

// Do the first `bits` agree?
bool within(std::span<const std::uint8_t> address, std::span<const std::uint8_t> network, int bits) {
  for (std::size_t i = 0; bits > 0; ++i, bits -= 8) {
    const auto mask = static_cast<std::uint8_t>(bits >= 8 ? 0xff : 0xff << (8 - bits));
    if (((address[i] ^ network[i]) & mask) != 0) return false;
  }
  return true;
}

std::optional<std::string_view> why_not_public(const Ipv4& address) {
  struct Block {
    Ipv4 network;
    int bits;
    std::string_view why;
  };
  // The registry of special-purpose addresses (RFC 6890 and its successors), and what clouds use beside it.
  static constexpr Block blocks[] = {
      {{0, 0, 0, 0}, 8, "unspecified"},
      {{10, 0, 0, 0}, 8, "private"},
      {{100, 64, 0, 0}, 10, "carrier-grade NAT"},
      {{127, 0, 0, 0}, 8, "loopback"},
      {{169, 254, 0, 0}, 16, "link-local"},
      {{172, 16, 0, 0}, 12, "private"},
      {{192, 0, 0, 0}, 24, "reserved"},
      {{192, 0, 2, 0}, 24, "reserved"},
      {{192, 88, 99, 0}, 24, "reserved"},
      {{192, 168, 0, 0}, 16, "private"},
      {{198, 18, 0, 0}, 15, "reserved"},
      {{198, 51, 100, 0}, 24, "reserved"},
      {{203, 0, 113, 0}, 24, "reserved"},
      {{224, 0, 0, 0}, 4, "multicast"},
      {{240, 0, 0, 0}, 4, "reserved"},
      {{168, 63, 129, 16}, 32, "metadata"},
  };
  for (const Block& block : blocks) {
    if (within(address, block.network, block.bits)) return block.why;
  }
  return std::nullopt;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

bool is_host_name(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  };
  const bool letters = std::ranges::any_of(text, [](char c) { return c >= 'a' && c <= 'z'; });  // else a broken address
  return letters && text.size() <= 253 && std::ranges::all_of(text, allowed) && !text.contains("..");
}

}  // namespace

std::optional<IpAddress> parse_ip(std::string_view text) {
  const std::string copy(text);
  IpAddress address;
  if (::inet_pton(AF_INET6, copy.c_str(), address.bytes.data()) == 1) return address;
  std::ranges::copy(mapped_prefix, address.bytes.begin());
  if (::inet_pton(AF_INET, copy.c_str(), address.bytes.data() + mapped_prefix.size()) == 1) return address;
  return std::nullopt;
}

std::optional<std::string_view> why_not_public(const IpAddress& address) {
  if (is_ipv4(address)) return why_not_public(ipv4_at(address, 12));
  const auto starts = [&](std::initializer_list<std::uint8_t> network, int bits) {
    std::array<std::uint8_t, 16> full{};
    std::ranges::copy(network, full.begin());
    return within(address.bytes, full, bits);
  };
  if (starts({}, 128)) return "unspecified";
  if (starts({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128)) return "loopback";
  if (starts({0x00, 0x64, 0xff, 0x9b}, 96)) return why_not_public(ipv4_at(address, 12));  // NAT64
  if (starts({0x20, 0x02}, 16)) return why_not_public(ipv4_at(address, 2));               // 6to4
  if (starts({0xfe, 0x80}, 10)) return "link-local";
  if (starts({0xfc}, 7)) return "private";
  if (starts({0xff}, 8)) return "multicast";
  if (starts({0x20, 0x01, 0x0d, 0xb8}, 32) || starts({0x3f, 0xff}, 20)) return "reserved";  // documentation
  // 2001::/23 is for protocols: Teredo, which hides IPv4 addresses, benchmarks, ORCHID.
  if (starts({0x20, 0x01}, 23)) return "reserved";
  if (!starts({0x20}, 3)) return "reserved";  // only 2000::/3 is given out
  return std::nullopt;
}

Result<UrlGuard> UrlGuard::allowing(std::span<const std::string> allowed) {
  UrlGuard guard;
  for (const std::string& entry : allowed) {
    const std::size_t slash = entry.find('/');
    const auto address = parse_ip(std::string_view(entry).substr(0, slash));
    if (!address) {
      std::string host = lower(entry);
      if (!is_host_name(host)) {
        return fail(ErrorKind::invalid_input,
                    "'{}' is neither an address (10.1.2.3), nor a network (10.0.0.0/8), nor a host name", entry);
      }
      guard.hosts_.push_back(std::move(host));
      continue;
    }
    Network network{.address = *address};
    if (slash != std::string::npos) {
      const int most = entry.contains(':') ? 128 : 32;
      const auto [end, error] = std::from_chars(entry.data() + slash + 1, entry.data() + entry.size(), network.bits);
      if (error != std::errc{} || end != entry.data() + entry.size() || network.bits < 0 || network.bits > most) {
        return fail(ErrorKind::invalid_input, "'{}' is no network: after the slash comes a number up to {}", entry,
                    most);
      }
      network.bits += 128 - most;
    }
    guard.networks_.push_back(network);
  }
  return guard;
}

bool UrlGuard::admits(std::string_view host, std::string_view address) const {
  const auto parsed = parse_ip(address);
  if (!parsed) return false;
  const std::string name = lower(host);
  for (const std::string& allowed : hosts_) {
    if (allowed.starts_with('.') ? name.ends_with(allowed) : name == allowed) return true;
  }
  for (const Network& network : networks_) {
    if (within(parsed->bytes, network.address.bytes, network.bits)) return true;
  }
  return !why_not_public(*parsed);
}

}  // namespace lectern::service
