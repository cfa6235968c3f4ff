#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "job/blobs/s3_answers.h"

namespace lectern::job {
namespace {

using Then = S3Verdict::Then;

bool is_any(std::string_view code, std::initializer_list<std::string_view> codes) {
  return std::ranges::find(codes, code) != codes.end();
}

std::string skew(const S3Question& question) {
  const auto theirs = millis_from_http_date(question.date);
  if (!theirs) return "its clock and this machine's differ by more than 15 minutes; set them by NTP";
  const auto ours = std::chrono::duration_cast<std::chrono::milliseconds>(question.now.time_since_epoch()).count();
  const auto seconds = (ours - *theirs) / 1000;
  return fmt::format("this machine's clock is {} s {} the server's; set it (NTP)", seconds < 0 ? -seconds : seconds,
                     seconds < 0 ? "behind" : "ahead of");
}

S3Verdict with(Then then, ErrorKind kind, const S3Question& question, std::string_view what) {
  std::string text = fmt::format("S3 answered {}", question.status);
  if (!question.complaint.code.empty()) text += " " + question.complaint.code;
  if (!question.complaint.message.empty()) text += fmt::format(" ({})", question.complaint.message);
  if (!what.empty()) text += fmt::format(": {}", what);
  return {.then = then, .kind = kind, .text = std::move(text)};
}

}  // namespace

S3Verdict s3_verdict(const S3Question& question) {
  const std::string_view code = question.complaint.code;
  const int status = question.status;
  const auto verdict = [&](Then then, ErrorKind kind, std::string_view what) {
    return with(then, kind, question, what);
  };

  // By its code first: it says more than the status. A 200 may hold an error too (uploads in parts).
  if (is_any(code,
             {"InternalError", "SlowDown", "ServiceUnavailable", "RequestTimeout", "Throttling", "OperationAborted",
              "ConditionalRequestConflict", "TooManyRequests", "RequestLimitExceeded", "BusyTryAgainLater"})) {
    return verdict(Then::again, ErrorKind::unavailable, "");
  }
  if (is_any(code, {"XMinioStorageFull", "QuotaExceeded", "InsufficientStorage", "StorageFull"}) || status == 507) {
    return verdict(Then::fail, ErrorKind::overloaded, "there is no space left for it");
  }
  if (code == "NoSuchBucket") {
    return verdict(Then::fail, ErrorKind::unavailable,
                   fmt::format("there is no bucket '{}'; create it", question.bucket));
  }
  if (code == "RequestTimeTooSkewed") return verdict(Then::fail, ErrorKind::unavailable, skew(question));
  if (is_any(code, {"SignatureDoesNotMatch", "InvalidAccessKeyId", "ExpiredToken", "InvalidToken"})) {
    return verdict(Then::fail, ErrorKind::unavailable,
                   "the credentials are wrong: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY");
  }
  if (is_any(code, {"AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect"}) || status == 301 ||
      status == 302 || status == 307 || status == 308) {
    return verdict(Then::fail, ErrorKind::unavailable,
                   fmt::format("the bucket '{}' is not here; check endpoint and region", question.bucket));
  }
  if (status == 412 || code == "PreconditionFailed") {
    return question.conditional ? verdict(Then::look, ErrorKind::conflict, "")
                                : verdict(Then::fail, ErrorKind::conflict, "it was changed meanwhile");
  }
  if (question.conditional && (status == 501 || code == "NotImplemented")) {
    return verdict(Then::unsupported, ErrorKind::unavailable, "");
  }
  // Only by its code: a 404 without one comes from a proxy or from another server, or answers HEAD and may mean
  // anything. What counts as absent fails for good.
  if (code == "NoSuchKey") {
    return verdict(Then::fail, ErrorKind::not_found, fmt::format("there is no blob {}", question.key));
  }
  if (code == "NoSuchUpload") return verdict(Then::fail, ErrorKind::not_found, "there is no such upload");
  if (status == 404) {
    return verdict(Then::fail, ErrorKind::unavailable,
                   "it does not say what is missing, as S3 does; check the endpoint and what is in front of it");
  }
  if (status == 403 || status == 401) {
    return verdict(Then::fail, ErrorKind::unavailable, "these credentials may not do this with the bucket");
  }
  // 409: somebody else writes it at this moment. 408 and 429: busy.
  if (status == 408 || status == 409 || status == 429 || status == 500 || status == 502 || status == 503 ||
      status == 504) {
    return verdict(Then::again, ErrorKind::unavailable, "");
  }
  return verdict(Then::fail, ErrorKind::unavailable, "");
}

}  // namespace lectern::job
