#include "job/blobs/sigv4.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/hash.h"

namespace lectern::job {
namespace {

std::string_view as_text(const Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string names_of(const NameValues& sorted) {
  std::string names;
  for (const auto& [name, value] : sorted) {
    if (!names.empty()) names += ';';
    names += name;
  }
  return names;
}

std::string scope_text(const SigningScope& scope) {
  return fmt::format("{}/{}/{}/aws4_request", amz_date(scope.time).substr(0, 8), scope.region, scope.service);
}

}  // namespace

std::string percent_encode(std::string_view text, bool keep_slash) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~' || (keep_slash && c == '/');
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string canonical_query(NameValues query) {
  for (auto& [name, value] : query) {
    name = percent_encode(name, false);
    value = percent_encode(value, false);
  }
  std::ranges::sort(query);
  std::string text;
  for (const auto& [name, value] : query) {
    if (!text.empty()) text += '&';
    text += name + '=' + value;
  }
  return text;
}

std::string canonical_request(const SignedParts& parts) {
  NameValues headers = parts.headers;
  std::ranges::sort(headers);
  std::string text = fmt::format("{}\n{}\n{}\n", parts.method, parts.path, canonical_query(parts.query));
  for (const auto& [name, value] : headers) text += fmt::format("{}:{}\n", name, trimmed(value));
  return text + fmt::format("\n{}\n{}", names_of(headers), parts.payload_sha256);
}

std::string amz_date(WallTime time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:%Y%m%dT%H%M%SZ}", parts);
}

std::string string_to_sign(const SigningScope& scope, std::string_view canonical_request) {
  return fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", amz_date(scope.time), scope_text(scope),
                     sha256_hex(canonical_request));
}

std::string signature(const S3Credentials& credentials, const SigningScope& scope, std::string_view string_to_sign) {
  const auto date = hmac_sha256("AWS4" + credentials.secret_key, amz_date(scope.time).substr(0, 8));
  const auto region = hmac_sha256(as_text(date), scope.region);
  const auto service = hmac_sha256(as_text(region), scope.service);
  const auto key = hmac_sha256(as_text(service), "aws4_request");
  return to_hex(hmac_sha256(as_text(key), string_to_sign));
}

std::string authorization(const S3Credentials& credentials, const SigningScope& scope, const SignedParts& parts) {
  NameValues headers = parts.headers;
  std::ranges::sort(headers);
  return fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}", credentials.access_key,
                     scope_text(scope), names_of(headers),
                     signature(credentials, scope, string_to_sign(scope, canonical_request(parts))));
}

}  // namespace lectern::job
