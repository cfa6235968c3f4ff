#include "job/blobs/s3_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/disk.h"
#include "job/blobs.h"

namespace lectern::job {
namespace {

constexpr std::string_view usual = "s3://BUCKET/PREFIX?endpoint=http://HOST:PORT&region=REGION";
constexpr std::size_t secret_file_bytes_max = 64 * 1024;

template <class... Args>
std::unexpected<Error> wrong(fmt::format_string<Args...> format, Args&&... args) {
  return fail(ErrorKind::invalid_input, "blobs: {}", fmt::format(format, std::forward<Args>(args)...));
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const auto digit = [](char c) {
      return c >= '0' && c <= '9'   ? c - '0'
             : c >= 'a' && c <= 'f' ? c - 'a' + 10
             : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                    : -1;
    };
    if (i + 2 >= text.size() || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0) return std::nullopt;
    out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
    i += 2;
  }
  return out;
}

using Parameters = std::map<std::string, std::string, std::less<>>;

Result<Parameters> parameters_of(std::string_view query) {
  static constexpr std::array<std::string_view, 3> known = {"endpoint", "region", "ca_file"};
  Parameters parameters;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    const std::string name(part.substr(0, equals));
    const auto value = percent_decode(equals == std::string_view::npos ? "" : part.substr(equals + 1));
    if (std::ranges::find(known, name) == known.end()) {
      const std::string near = nearest_word(name, known);
      return wrong("there is no parameter '{}'{}; there are endpoint, region and ca_file", name,
                   near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near));
    }
    if (!value || value->empty()) return wrong("the parameter '{}' has no value", name);
    if (!parameters.emplace(name, *value).second) return wrong("the parameter '{}' is there twice", name);
  }
  return parameters;
}

// NAME, or the contents of the file that NAME_FILE names.
Result<std::string> secret(const Config::Environment& environment, const std::string& name) {
  if (const auto value = environment(name); value && !value->empty()) return *value;
  const auto file = environment(name + "_FILE");
  if (!file || file->empty()) return std::string();
  auto text = read_file(*file, secret_file_bytes_max);
  if (!text) return wrong("{}_FILE: {}", name, text.error().for_log);
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r' || text->back() == ' ')) text->pop_back();
  return text;
}

Result<S3Credentials> credentials_from(const Config::Environment& environment) {
  S3Credentials credentials;
  const std::pair<const char*, std::string*> wanted[] = {{"AWS_ACCESS_KEY_ID", &credentials.access_key},
                                                         {"AWS_SECRET_ACCESS_KEY", &credentials.secret_key},
                                                         {"AWS_SESSION_TOKEN", &credentials.session_token}};
  for (const auto& [name, into] : wanted) {
    auto value = secret(environment, name);
    if (!value) return std::unexpected(value.error());
    *into = std::move(*value);
  }
  if (credentials.access_key.empty() || credentials.secret_key.empty()) {
    return wrong("S3 needs credentials: set {} (or {}_FILE, the name of a file that holds it)",
                 credentials.access_key.empty() ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY",
                 credentials.access_key.empty() ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY");
  }
  return credentials;
}

Status take_endpoint(S3Place& place, std::string endpoint) {
  const bool plain = endpoint.starts_with("http://");
  if (!plain && !endpoint.starts_with("https://")) {
    return wrong("the endpoint '{}' must begin with http:// or https://", endpoint);
  }
  while (endpoint.ends_with('/') && !endpoint.ends_with("//")) endpoint.pop_back();
  std::string host = endpoint.substr(plain ? 7 : 8);
  if (host.contains('@')) return wrong("the endpoint must not hold credentials; they come from the environment");
  if (host.empty() || host.find_first_of("/?# ") != std::string::npos) {
    return wrong("the endpoint '{}' must be a host and perhaps a port, as in http://127.0.0.1:9000", endpoint);
  }
  // HTTP leaves the usual port out of the Host header, and the header is signed.
  const std::string_view usual_port = plain ? ":80" : ":443";
  if (host.ends_with(usual_port)) host.resize(host.size() - usual_port.size());
  place.endpoint = std::move(endpoint);
  place.host = std::move(host);
  return {};
}

}  // namespace

Result<S3Place> s3_place_from(const std::string& url, const Config::Environment& environment) {
  if (!url.starts_with("s3://")) return wrong("'{}' is no S3 address: expected {}", url, usual);
  const std::string_view all = std::string_view(url).substr(5);
  const std::string_view path = all.substr(0, all.find('?'));
  if (path.contains('@'))
    return wrong(
        "credentials do not belong into the address; set AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY");
  S3Place place;
  place.bucket = path.substr(0, path.find('/'));
  if (place.bucket.size() < 3 || !is_blob_key(place.bucket)) {
    return wrong("'{}' cannot be the name of a bucket: expected {}", place.bucket, usual);
  }
  place.prefix = path.substr(std::min(path.size(), place.bucket.size() + 1));
  while (place.prefix.ends_with('/')) place.prefix.pop_back();
  if (!place.prefix.empty() && !is_blob_key(place.prefix)) {
    return wrong("the prefix '{}' may have only letters, digits, '.', '_' and '-' between slashes", place.prefix);
  }
  if (!place.prefix.empty()) place.prefix += '/';

  auto parameters = parameters_of(all.substr(std::min(all.size(), path.size() + 1)));
  if (!parameters) return std::unexpected(parameters.error());
  const auto either = [&](const char* parameter, std::initializer_list<const char*> variables) -> std::string {
    if (const auto found = parameters->find(parameter); found != parameters->end()) return found->second;
    for (const char* variable : variables) {
      if (const auto value = environment(variable); value && !value->empty()) return *value;
    }
    return {};
  };
  place.region = either("region", {"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (place.region.empty()) place.region = "us-east-1";
  if (!is_blob_key(place.region) || place.region.contains('/')) return wrong("'{}' is no region", place.region);
  place.ca_file = either("ca_file", {"AWS_CA_BUNDLE"});
  std::string endpoint = either("endpoint", {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  if (endpoint.empty()) endpoint = fmt::format("https://s3.{}.amazonaws.com", place.region);
  if (auto status = take_endpoint(place, std::move(endpoint)); !status) return std::unexpected(status.error());

  auto credentials = credentials_from(environment);
  if (!credentials) return std::unexpected(credentials.error());
  place.credentials = std::move(*credentials);
  return place;
}

std::string to_string(const S3Place& place) {
  return fmt::format("s3://{}/{} at {}", place.bucket, place.prefix, place.endpoint);
}

}  // namespace lectern::job
