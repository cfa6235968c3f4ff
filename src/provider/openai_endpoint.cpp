#include "provider/openai_endpoint.h"

#include <algorithm>
#include <utility>

#include "provider/openai_request.h"

namespace lectern::provider {
namespace {

bool one_line(std::string_view text) {
  return std::ranges::none_of(text, [](unsigned char c) { return c < ' ' && c != '\t'; });
}

}  // namespace

HttpRequest OpenAiEndpoint::request(std::string method, std::string_view path) const {
  HttpRequest request{.method = std::move(method),
                      .url = address.url(path),
                      .peer = address.name,
                      .headers = options.extra_headers,
                      .body = {},
                      .transport = {.unix_socket = address.unix_socket,
                                    .proxy = options.proxy.empty() && address.local ? "none" : options.proxy,
                                    .ca_file = options.ca_file,
                                    .verify_tls = options.verify_tls,
                                    .connect_timeout = options.connect_timeout}};
  if (!options.api_key.empty()) request.headers.push_back("Authorization: Bearer " + options.api_key);
  return request;
}

Result<OpenAiEndpoint> make_endpoint(std::shared_ptr<HttpClient> client, OpenAiOptions options) {
  auto address = parse_engine_address(options.address);
  if (!address) return std::unexpected(std::move(address.error()));
  if (!one_line(options.api_key)) {
    return fail(ErrorKind::invalid_input, "the API key for {} holds a line break or control character", address->name);
  }
  for (const std::string& header : options.extra_headers) {
    if (!one_line(header) || header.find(':') == header.npos) {
      return fail(ErrorKind::invalid_input, "\"{}\" is no HTTP header; expected \"Name: value\"", header);
    }
  }
  if (!is_json_object(options.extra_body)) {
    return fail(ErrorKind::invalid_input, "the extra body for {} is no JSON object: {}", address->name,
                options.extra_body);
  }
  return OpenAiEndpoint{std::move(client), std::move(*address), std::move(options)};
}

}  // namespace lectern::provider
