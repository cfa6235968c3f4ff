#include "job/blobs/s3_client.h"

#include <fmt/format.h>

#include <utility>

#include "base/hash.h"
#include "provider/retry_policy.h"

namespace lectern::job {
namespace {

namespace asio = boost::asio;
using provider::HttpAnswer;

constexpr std::size_t hash_on_loop_max = 16 * 1024;  // takes a few microseconds
constexpr int pool_threads = 2;
constexpr std::chrono::seconds quick_time{3};

Error error_of(ErrorKind kind, const S3Place& place, const std::string& key, std::string_view text) {
  Error error{kind, fmt::format("{}{}: {}", to_string(place), key.empty() ? "" : " " + key, text), ""};
  switch (kind) {
    case ErrorKind::not_found:
      error.for_caller = fmt::format("there is no blob {}", key);
      break;
    case ErrorKind::conflict:
      error.for_caller = fmt::format("there is a blob {} already", key);
      break;
    case ErrorKind::overloaded:
      error.for_caller = "the store that holds the documents and results is full";
      break;
    case ErrorKind::invalid_input:
    case ErrorKind::timeout:
    case ErrorKind::cancelled:
    case ErrorKind::unavailable:
    case ErrorKind::corrupt:
    case ErrorKind::internal:
      error.for_caller = "the store that holds the documents and results does not answer as it should";
      break;
  }
  return error;
}

// What an answer may hold, kept while it arrives. Errors are short; more than was asked for ends the call.
struct Collector {
  std::string body;
  std::int64_t bytes_max = 0;
  bool too_much = false;

  bool take(std::string_view bytes) {
    too_much = static_cast<std::int64_t>(body.size() + bytes.size()) > bytes_max;
    if (!too_much) body += bytes;
    return !too_much;
  }
};

}  // namespace

S3Client::S3Client(S3Place place, S3Options options, S3Seams seams)
    : place_(std::move(place)), options_(options), seams_(std::move(seams)), pool_(pool_threads) {}

std::string S3Client::random_name() {
  return random_hex(random_, 16);
}

provider::HttpRequest S3Client::signed_request(const S3Request& request, const std::string& body_sha256) const {
  const SigningScope scope{.time = seams_.timers->clock().wall(), .region = place_.region};
  SignedParts parts{.method = request.method,
                    .path = "/" + place_.bucket + (request.key.empty() ? "" : "/" + place_.prefix + request.key),
                    .query = request.query,
                    .headers = request.headers,
                    .payload_sha256 = body_sha256};
  parts.headers.emplace_back("x-amz-content-sha256", body_sha256);
  parts.headers.emplace_back("x-amz-date", amz_date(scope.time));
  if (!place_.credentials.session_token.empty()) {
    parts.headers.emplace_back("x-amz-security-token", place_.credentials.session_token);
  }
  if (request.conditional) parts.headers.emplace_back("if-none-match", "*");
  if (request.body) parts.headers.emplace_back("content-type", "application/octet-stream");

  provider::HttpRequest http;
  http.method = request.method;
  http.url = place_.endpoint + parts.path;
  if (!parts.query.empty()) http.url += "?" + canonical_query(parts.query);
  http.peer = place_.endpoint;
  for (const auto& [name, value] : parts.headers) http.headers.push_back(name + ": " + value);
  if (!request.body) http.headers.emplace_back("Content-Type:");  // none, instead of libcurl's own
  parts.headers.emplace_back("host", place_.host);
  http.headers.push_back("authorization: " + authorization(place_.credentials, scope, parts));
  if (request.body) http.body = provider::HttpBody({provider::BodyPiece(provider::SharedTextPiece{request.body})});
  http.transport.ca_file = place_.ca_file;
  http.transport.stall_timeout = options_.stall_timeout;
  return http;
}

S3Refusal S3Client::refusal_of(const provider::Failure& failure) const {
  const bool again = provider::worth_retrying(failure.reason);
  const ErrorKind kind =
      failure.reason == provider::FailureReason::cancelled ? ErrorKind::cancelled : ErrorKind::unavailable;
  return {.verdict = {.then = again ? S3Verdict::Then::again : S3Verdict::Then::fail,
                      .kind = kind,
                      .text = failure.message},
          .status = 0,
          .error = error_of(kind, place_, "", failure.message)};
}

asio::awaitable<S3Outcome> S3Client::attempt(S3Request request, std::string body_sha256) {
  const std::int64_t sent = request.body ? static_cast<std::int64_t>(request.body->size()) : 0;
  const std::int64_t bytes = sent + request.answer_bytes_max;
  const auto time = request.quick
                        ? quick_time
                        : options_.answer_timeout + std::chrono::seconds(bytes / options_.bytes_per_second_min);
  const auto collector = std::make_shared<Collector>();
  collector->bytes_max = std::max<std::int64_t>(request.answer_bytes_max, 64 * 1024);
  provider::HttpHandlers handlers;
  handlers.on_head = [collector, limit = request.answer_bytes_max](const provider::HttpHead& head) {
    if (head.status < 300) collector->bytes_max = limit;
  };
  handlers.on_body = [collector](std::string_view piece) { return collector->take(piece); };
  HttpAnswer answer = co_await seams_.http->send(signed_request(request, body_sha256), std::move(handlers),
                                                 Deadline::after(time, system_clock()), seams_.over);
  if (!answer) co_return std::unexpected(refusal_of(answer.error()));
  if (collector->too_much) {
    Error error = error_of(ErrorKind::invalid_input, place_, request.key,
                           fmt::format("more than {} bytes", request.answer_bytes_max));
    error.for_caller = fmt::format("the blob {} has more than {} bytes", request.key, request.answer_bytes_max);
    co_return std::unexpected(S3Refusal{
        .verdict = {.kind = ErrorKind::invalid_input}, .status = answer->head.status, .error = std::move(error)});
  }
  const int status = answer->head.status;
  const bool success = status == 200 || status == 204 || status == 206;
  S3Complaint complaint;
  // Only the end of an upload in parts may say 200 and mean an error; blobs may look like anything.
  if (!success || request.method == "POST") complaint = s3_complaint(collector->body);
  if (success && complaint.code.empty()) co_return S3Answer{std::move(answer->head), std::move(collector->body)};
  S3Refusal refusal;
  refusal.status = status;
  refusal.verdict = s3_verdict({.status = status,
                                .complaint = std::move(complaint),
                                .date = answer->head.header("date"),
                                .now = seams_.timers->clock().wall(),
                                .key = request.key,
                                .bucket = place_.bucket,
                                .conditional = request.conditional});
  refusal.error = error_of(refusal.verdict.kind, place_, request.key, refusal.verdict.text);
  co_return std::unexpected(std::move(refusal));
}

asio::awaitable<S3Outcome> S3Client::send(S3Request request) {
  static const std::string nothing = sha256_hex("");
  std::string body_sha256 = nothing;
  if (request.body && request.body->size() <= hash_on_loop_max) {
    body_sha256 = sha256_hex(*request.body);
  } else if (request.body) {
    auto hash = [body = request.body] { return sha256_hex(*body); };
    body_sha256 = co_await pool_.run(std::move(hash));
  }
  const Deadline patience = Deadline::after(options_.patience, seams_.timers->clock());
  const int attempts_max = request.quick ? 1 : options_.attempts_max;
  for (int attempts = 1;; ++attempts) {
    S3Outcome outcome = co_await attempt(request, body_sha256);
    if (outcome || outcome.error().verdict.then != S3Verdict::Then::again || attempts >= attempts_max ||
        patience.passed(seams_.timers->clock().now())) {
      co_return outcome;
    }
    co_await seams_.timers->wait_for(provider::backoff(attempts, random_.uniform()), seams_.over);
  }
}

asio::awaitable<Result<bool>> S3Client::knows_conditions() {
  if (conditions_ != Conditions::unknown) co_return conditions_ == Conditions::honoured;
  S3Request first{.method = "PUT", .key = s3_check_key, .body = std::make_shared<const std::string>("lectern")};
  S3Request second = first;
  second.conditional = true;
  const S3Outcome there = co_await send(std::move(first));
  if (!there) co_return std::unexpected(there.error().error);
  const S3Outcome again = co_await send(std::move(second));
  if (again || again.error().verdict.then == S3Verdict::Then::unsupported) {
    conditions_ = Conditions::ignored;
  } else if (again.error().verdict.then == S3Verdict::Then::look) {
    conditions_ = Conditions::honoured;
  } else {
    co_return std::unexpected(again.error().error);
  }
  co_return conditions_ == Conditions::honoured;
}

}  // namespace lectern::job
