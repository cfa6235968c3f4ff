#include "provider/web_address.h"

#include <curl/curl.h>

#include <charconv>
#include <memory>

namespace lectern::provider {
namespace {

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, FreeUrl>;

std::string part(CURLU* url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, flags) != CURLUE_OK) return {};
  const std::unique_ptr<char, void (*)(void*)> owner(text, curl_free);
  return text;
}

std::unexpected<Error> no_address() {
  return fail(ErrorKind::invalid_input, "this is no address that begins with http:// or https:// and names a host");
}

Result<WebAddress> taken_apart(CURLU* url) {
  WebAddress address;
  address.scheme = part(url, CURLUPART_SCHEME);
  if (address.scheme != "http" && address.scheme != "https") return no_address();
  address.credentials = !part(url, CURLUPART_USER).empty() || !part(url, CURLUPART_PASSWORD).empty();
  curl_url_set(url, CURLUPART_USER, nullptr, 0);
  curl_url_set(url, CURLUPART_PASSWORD, nullptr, 0);
  curl_url_set(url, CURLUPART_FRAGMENT, nullptr, 0);
  address.host = part(url, CURLUPART_HOST);
  if (address.host.starts_with('[') && address.host.ends_with(']')) {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  for (char& c : address.host) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const std::string port = part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
  std::from_chars(port.data(), port.data() + port.size(), address.port);
  address.path = part(url, CURLUPART_PATH);
  address.url = part(url, CURLUPART_URL);
  if (address.host.empty() || address.port < 1 || address.port > 65'535 || address.url.empty()) return no_address();
  return address;
}

}  // namespace

Result<WebAddress> parse_web_address(const std::string& text) {
  const Url url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return no_address();
  return taken_apart(url.get());
}

Result<WebAddress> redirected(const WebAddress& from, const std::string& location) {
  const Url url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, from.url.c_str(), 0) != CURLUE_OK ||
      curl_url_set(url.get(), CURLUPART_URL, location.c_str(), CURLU_URLENCODE) != CURLUE_OK) {
    return no_address();
  }
  return taken_apart(url.get());
}

std::string percent_decoded(std::string_view text) {
  int size = 0;
  const std::string copy(text);
  char* decoded = curl_easy_unescape(nullptr, copy.c_str(), static_cast<int>(copy.size()), &size);
  if (decoded == nullptr) return copy;
  const std::unique_ptr<char, void (*)(void*)> owner(decoded, curl_free);
  return {decoded, static_cast<std::size_t>(size)};
}

}  // namespace lectern::provider
