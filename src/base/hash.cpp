#include "base/hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

namespace lectern {
namespace {

// OpenSSL fails here only when memory is exhausted or its providers are gone: nothing a caller could handle.
void must(int ok) {
  if (ok != 1) std::abort();
}

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1U) != 0 ? 0x82F63B78U : 0U);
    table[i] = value;
  }
  return table;
}

}  // namespace

struct Sha256::Context {
  EVP_MD_CTX* md = EVP_MD_CTX_new();
  Context() {
    if (md == nullptr) std::abort();
    must(EVP_DigestInit_ex(md, EVP_sha256(), nullptr));
  }
  ~Context() { EVP_MD_CTX_free(md); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::uint8_t> bytes) {
  must(EVP_DigestUpdate(context_->md, bytes.data(), bytes.size()));
}
void Sha256::update(std::string_view text) {
  must(EVP_DigestUpdate(context_->md, text.data(), text.size()));
}

Sha256Digest Sha256::finish() {
  Sha256Digest digest{};
  must(EVP_DigestFinal_ex(context_->md, digest.data(), nullptr));
  return digest;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    out.push_back(digits[byte >> 4]);
    out.push_back(digits[byte & 15U]);
  }
  return out;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return to_hex(hash.finish());
}

Sha256Digest hmac_sha256(std::string_view key, std::string_view message) {
  Sha256Digest digest{};
  const void* made =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(message.data()), message.size(), digest.data(), nullptr);
  must(made == nullptr ? 0 : 1);
  return digest;
}

bool equal_secrets(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Result<std::string> sha256_hex_of_file(int fd) {
  Sha256 hash;
  std::vector<std::uint8_t> buffer(std::size_t{1} << 18);
  off_t offset = 0;
  for (;;) {
    const ssize_t got = pread(fd, buffer.data(), buffer.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("cannot read the file", errno);
    if (got == 0) return to_hex(hash.finish());
    hash.update(std::span(buffer).first(static_cast<std::size_t>(got)));
    offset += got;
  }
}

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr auto table = make_crc_table();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes) crc = table[(crc ^ static_cast<std::uint8_t>(c)) & 0xFFU] ^ (crc >> 8);
  return crc ^ 0xFFFFFFFFU;
}

}  // namespace lectern
