#include "provider/openai_address.h"

#include <curl/curl.h>

#include <cctype>
#include <memory>

namespace lectern::provider {
namespace {

constexpr std::string_view expected = "expected http://HOST:PORT, https://HOST, or unix:/PATH.sock";

struct UrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

std::string part(CURLU* url, CURLUPart which) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, 0) != CURLUE_OK) return {};
  std::string copy = text;
  curl_free(text);
  return copy;
}

// "v1", "v2", "v1beta"
bool is_version(std::string_view segment) {
  return segment.size() >= 2 && segment[0] == 'v' && std::isdigit(static_cast<unsigned char>(segment[1])) != 0;
}

bool names_a_version(std::string_view path) {
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (is_version(path.substr(0, slash))) return true;
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return false;
}

std::string base_path(std::string path) {
  const auto drop_slashes = [&] {
    while (path.ends_with('/')) path.pop_back();
  };
  drop_slashes();
  constexpr std::string_view pasted = "/chat/completions";
  if (path.ends_with(pasted)) {
    path.resize(path.size() - pasted.size());
    drop_slashes();
    return path;
  }
  return names_a_version(path) ? path : path + "/v1";
}

bool is_local(std::string_view host) {
  return host == "localhost" || host.starts_with("127.") || host == "[::1]" || host == "0.0.0.0";
}

bool is_hosted(std::string_view host) {
  return host == "openai.com" || host.ends_with(".openai.com") || host.ends_with(".openai.azure.com");
}

}  // namespace

Result<EngineAddress> parse_engine_address(std::string_view text) {
  constexpr std::string_view unix_scheme = "unix:";
  if (text.starts_with(unix_scheme)) {
    std::string path(text.substr(unix_scheme.size()));
    if (path.starts_with("//")) path.erase(0, 2);  // unix:///run/x.sock
    if (!path.starts_with('/')) {
      return fail(ErrorKind::invalid_input, "engine address \"{}\": a socket needs its whole path; {}", text, expected);
    }
    return EngineAddress{.base = "http://localhost/v1",
                         .root = "http://localhost",
                         .unix_socket = path,
                         .name = "unix:" + path,
                         .local = true,
                         .hosted = false};
  }
  const std::string written =
      text.find("://") == std::string_view::npos ? "http://" + std::string(text) : std::string(text);
  const std::unique_ptr<CURLU, UrlDeleter> url(curl_url());
  const bool parsed = curl_url_set(url.get(), CURLUPART_URL, written.c_str(), 0) == CURLUE_OK;
  const std::string scheme = parsed ? part(url.get(), CURLUPART_SCHEME) : "";
  const std::string host = parsed ? part(url.get(), CURLUPART_HOST) : "";
  if (host.empty() || (scheme != "http" && scheme != "https")) {
    return fail(ErrorKind::invalid_input, "engine address \"{}\" is not one; {}", text, expected);
  }
  const std::string port = part(url.get(), CURLUPART_PORT);
  const std::string path = part(url.get(), CURLUPART_PATH);
  const std::string query = part(url.get(), CURLUPART_QUERY);
  const std::string user = part(url.get(), CURLUPART_USER);
  const std::string password = part(url.get(), CURLUPART_PASSWORD);
  const std::string credentials = user.empty() && password.empty() ? "" : user + ":" + password + "@";
  const std::string place = host + (port.empty() ? "" : ":" + port);
  const std::string whole = base_path(path);
  std::string shown = whole.ends_with("/v1") ? whole.substr(0, whole.size() - 3) : whole;
  const std::string server = scheme + "://" + credentials + place;
  return EngineAddress{.base = server + whole,
                       .root = whole.ends_with("/v1") ? server + whole.substr(0, whole.size() - 3) : "",
                       .query = query.empty() ? "" : "?" + query,
                       .unix_socket = {},
                       .name = scheme + "://" + place + shown,
                       .local = is_local(host),
                       .hosted = is_hosted(host)};
}

}  // namespace lectern::provider
