#include "provider/curl_failure.h"

#include <fmt/format.h>

namespace lectern::provider {
namespace {

struct Meaning {
  FailureReason reason;
  std::string_view words;
};

Meaning meaning_of(CURLcode code, const CurlFacts& facts) {
  switch (code) {
    case CURLE_URL_MALFORMAT:
      return {FailureReason::bad_request, "is no address to send to"};
    case CURLE_UNSUPPORTED_PROTOCOL:  // of the URL, or of what came back
      if (facts.connected) return {FailureReason::bad_reply, "does not speak HTTP"};
      return {FailureReason::bad_request, "is no address to send to"};
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return {FailureReason::unreachable, "has no known host"};
    case CURLE_COULDNT_CONNECT:
      return {FailureReason::unreachable, "does not accept connections"};
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_USE_SSL_FAILED:
      return {FailureReason::unreachable, "cannot be trusted (TLS)"};
    case CURLE_OPERATION_TIMEDOUT:
      if (facts.deadline_passed) return {FailureReason::timed_out, "did not answer in time"};
      if (!facts.connected) return {FailureReason::unreachable, "does not answer"};
      return {FailureReason::timed_out, "did not answer in time"};
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
      return {FailureReason::bad_reply, "does not speak HTTP"};
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
      return {FailureReason::connection_lost, "closed the connection before its answer was whole"};
    default:
      return {facts.connected ? FailureReason::connection_lost : FailureReason::unreachable, "cannot be asked"};
  }
}

}  // namespace

Failure failure_of_curl(CURLcode code, const CurlFacts& facts) {
  const Meaning meaning = meaning_of(code, facts);
  const std::string_view detail = facts.detail.empty() ? curl_easy_strerror(code) : facts.detail;
  return {.reason = meaning.reason,
          .message = fmt::format("{} {}: {}", facts.peer, meaning.words, detail),
          .http_status = facts.status,
          .reply_started = facts.status != 0};
}

}  // namespace lectern::provider
