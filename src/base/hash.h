// Content hashes: SHA-256 names documents and results; it is what two machines must agree on.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace lectern {

using Sha256Digest = std::array<std::uint8_t, 32>;

// Feed bytes in pieces, then finish once.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::span<const std::uint8_t> bytes);
  void update(std::string_view text);
  Sha256Digest finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string to_hex(std::span<const std::uint8_t> bytes);
std::string sha256_hex(std::string_view bytes);
// Keyed: proves to whoever shares the key that the message is ours (RFC 2104).
Sha256Digest hmac_sha256(std::string_view key, std::string_view message);
// The same text, in a time that does not tell where they differ.
bool equal_secrets(std::string_view a, std::string_view b);
// Reads the file from its beginning through the descriptor (pread: the file position stays).
Result<std::string> sha256_hex_of_file(int fd);

// CRC-32C, for recognising torn or damaged rows of our own files; not against malice.
std::uint32_t crc32c(std::string_view bytes);

}  // namespace lectern
