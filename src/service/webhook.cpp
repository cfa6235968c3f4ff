#include "service/webhook.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/hash.h"
#include "service/submission.h"

namespace lectern::service {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view secret_prefix = "whsec_";

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}
Json time_or_null(const std::optional<job::Millis>& time) {
  return time ? Json(to_rfc3339(*time)) : Json();
}

}  // namespace

Result<std::string> webhook_key(std::string_view secret) {
  if (secret.empty()) return fail(ErrorKind::invalid_input, "the webhook secret is empty");
  if (!secret.starts_with(secret_prefix)) return std::string(secret);
  const auto bytes = base64_decode(secret.substr(secret_prefix.size()));
  if (!bytes || bytes->empty()) {
    return fail(ErrorKind::invalid_input, "the webhook secret: after whsec_ base64 is expected");
  }
  return *bytes;
}

std::string webhook_signature(std::string_view key, std::string_view id, std::int64_t timestamp,
                              std::string_view body) {
  const Sha256Digest digest = hmac_sha256(key, fmt::format("{}.{}.{}", id, timestamp, body));
  return "v1," + base64_encode(digest);
}

std::string webhook_id(const job::Job& job) {
  return fmt::format("{}_{}", job.request.id, job.round);
}

std::string webhook_body(const job::Job& job) {
  const std::string self = "/v1/jobs/" + job.request.id;
  Json links{{"self", self}, {"events", self + "/events"}};
  if (!job.result.empty()) links["result"] = self + "/result";
  const Json message{
      {"type", fmt::format("job.{}", job::to_string(job.phase))},
      {"timestamp", to_rfc3339(job.finished_at.value_or(job.created_at))},
      {"data",
       {{"id", job.request.id},
        {"operation", job.request.operation},
        {"status", job::to_string(job.phase)},
        {"tenant", job.request.tenant},
        {"document",
         {{"name", job.request.document}, {"bytes", job.request.bytes}, {"sha256", text_or_null(job.request.sha256)}}},
        {"pages",
         {{"total", job.pages_total},
          {"ok", job.pages.ok},
          {"fallback", job.pages.fallback},
          {"failed", job.pages.failed}}},
        {"error", text_or_null(job.error)},
        {"error_code", text_or_null(job.error_code)},
        {"created_at", to_rfc3339(job.created_at)},
        {"started_at", time_or_null(job.started_at)},
        {"finished_at", time_or_null(job.finished_at)},
        {"links", std::move(links)}}}};
  return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lectern::service
