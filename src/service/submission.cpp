#include "service/submission.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "base/clock.h"
#include "base/hash.h"
#include "provider/web_address.h"
#include "reading/page_ranges.h"
#include "service/http/target.h"
#include "service/multipart.h"
#include "service/webhook.h"

namespace lectern::service {
namespace {

using Json = nlohmann::ordered_json;
using Done = std::expected<void, Problem>;

constexpr job::Millis timeout_max = job::Millis{30} * 24 * 3600 * 1000;
constexpr std::size_t prompt_bytes_max = 64 * 1024;
constexpr std::size_t url_bytes_max = 2'000;
constexpr std::size_t secret_bytes_max = 1'024;

std::unexpected<Problem> wrong(std::string_view field, std::string_view should_be) {
  return std::unexpected(
      Problem{.code = ProblemCode::invalid_parameter, .detail = fmt::format("{}: {}", field, should_be)});
}

template <class T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_printable(std::string_view text, std::size_t bytes_max) {
  return text.size() <= bytes_max && http::is_utf8(text) &&
         std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool is_web_address(std::string_view text) {
  if (!is_printable(text, url_bytes_max) || text.contains(' ')) return false;
  if (!text.starts_with("https://") && !text.starts_with("http://")) return false;
  const auto address = provider::parse_web_address(std::string(text));
  return address && !address->credentials;  // they would stand in logs and in the job
}

Done set_operation(Submission& to, std::string_view value) {
  if (value != "read" && value != "ocr") return wrong("operation", "must be 'read' or 'ocr'");
  to.operation = value;
  return {};
}
Done set_name(Submission& to, std::string_view value) {
  if (value.empty() || !is_printable(value, 255)) return wrong("name", "must be 1 to 255 bytes of printable text");
  to.name = document_name(value);
  return {};
}
Done set_pages(Submission& to, std::string_view value) {
  const auto pages = reading::PageSelection::parse(value);
  if (!pages) return wrong("pages", pages.error().for_caller);
  to.options.pages = pages->everything() ? "" : pages->to_string();
  return {};
}
Done set_lang(Submission& to, std::string_view value) {
  const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '_'; };
  if (value.empty() || value.size() > 100 || !std::ranges::all_of(value, fits))
    return wrong("lang", "must be languages of OCR joined by '+', such as eng+por");
  to.options.languages = value;
  return {};
}
Done set_model(Submission& to, std::string_view value) {
  if (value.empty() || !is_printable(value, 200)) return wrong("model", "must be 1 to 200 bytes of printable text");
  to.options.model = value;
  return {};
}
Done set_prompt(Submission& to, std::string_view value) {
  if (value.empty() || value.size() > prompt_bytes_max || !http::is_utf8(value) || value.contains('\0'))
    return wrong("prompt", "must be 1 to 65536 bytes of text in UTF-8");
  to.options.prompt = value;
  return {};
}
Done set_auto_rotate(Submission& to, std::string_view value) {
  if (value != "true" && value != "false") return wrong("auto_rotate", "must be 'true' or 'false'");
  to.options.auto_rotate = value == "true";
  return {};
}
Done set_priority(Submission& to, std::string_view value) {
  const auto priority = number_of<int>(value);
  if (!priority || *priority < -100 || *priority > 100)
    return wrong("priority", "must be a whole number from -100 to 100");
  to.priority = *priority;
  return {};
}
Done set_deadline(Submission& to, std::string_view value) {
  to.deadline = parse_rfc3339(value);
  if (!to.deadline) return wrong("deadline", "must be a moment such as 2026-08-06T12:00:00Z");
  return {};
}
Done set_timeout(Submission& to, std::string_view value) {
  const auto seconds = number_of<std::int64_t>(value);
  if (!seconds || *seconds < 1 || *seconds > timeout_max / 1000)
    return wrong("timeout", "must be 1 to 2592000 seconds");
  to.timeout = *seconds * 1000;
  return {};
}
Done set_webhook(Submission& to, std::string_view value) {
  if (!is_web_address(value))
    return wrong("webhook", "must be a URL that begins with https:// or http://, without a user or password");
  to.webhook = value;
  return {};
}
Done set_webhook_secret(Submission& to, std::string_view value) {
  if (value.empty() || !is_printable(value, secret_bytes_max))
    return wrong("webhook_secret", "must be 1 to 1024 bytes of printable text");
  if (const auto key = webhook_key(value); !key) return wrong("webhook_secret", key.error().for_caller);
  to.secret.webhook_secret = value;
  return {};
}
Done set_password(Submission& to, std::string_view value) {
  if (value.empty() || value.size() > secret_bytes_max || !http::is_utf8(value) || value.contains('\0'))
    return wrong("password", "must be 1 to 1024 bytes of text in UTF-8");
  to.secret.password = value;
  return {};
}

struct FormField {
  std::string_view name;
  Done (*set)(Submission&, std::string_view);
};
constexpr std::array form_fields = {
    FormField{"operation", set_operation},
    FormField{"name", set_name},
    FormField{"pages", set_pages},
    FormField{"lang", set_lang},
    FormField{"model", set_model},
    FormField{"prompt", set_prompt},
    FormField{"auto_rotate", set_auto_rotate},
    FormField{"priority", set_priority},
    FormField{"deadline", set_deadline},
    FormField{"timeout", set_timeout},
    FormField{"webhook", set_webhook},
    FormField{"webhook_secret", set_webhook_secret},
    FormField{"password", set_password},
};

// A JSON value as the text that a form would have; nothing = of a type that the field cannot have.
std::optional<std::string> as_text(std::string_view name, const Json& value) {
  const bool number = name == "priority" || name == "timeout";
  if (number) {
    if (value.is_number_integer()) return value.dump();
    // 7.0 is a whole number, as JSON Schema has it.
    const double real = value.is_number() ? value.get<double>() : 0.5;
    if (real != std::floor(real) || std::abs(real) > 1e15) return std::nullopt;
    return fmt::to_string(static_cast<std::int64_t>(real));
  }
  if (name == "auto_rotate") return value.is_boolean() ? std::optional(value.dump()) : std::nullopt;
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

}  // namespace

std::string field_names() {
  std::string names;
  for (const FormField& field : form_fields) names += (names.empty() ? "" : ", ") + std::string(field.name);
  return names;
}

std::expected<void, Problem> set_field(Submission& submission, std::string_view name, std::string_view value) {
  const auto field = std::ranges::find(form_fields, name, &FormField::name);
  if (field == form_fields.end()) {
    const std::string shown(name.substr(0, 40));
    return wrong(http::is_utf8(shown) ? shown : "a field", "there is no such field; there are file, " + field_names());
  }
  return field->set(submission, value);
}

std::expected<Submission, Problem> submission_from_json(std::string_view json) {
  const Json parsed = Json::parse(json, nullptr, false);
  if (!parsed.is_object()) {
    return std::unexpected(Problem{.code = ProblemCode::invalid_body, .detail = "the body is not a JSON object"});
  }
  Submission submission;
  for (const auto& [name, value] : parsed.items()) {
    const auto text = as_text(name, value);
    if (name == "url" || name == "blob") {
      if (!text || (name == "url" && !is_web_address(*text)) || text->empty() || !is_printable(*text, url_bytes_max))
        return wrong(name, name == "url"
                               ? "must be a URL that begins with https:// or http://, without a user or password"
                               : "must be the key of a blob");
      (name == "url" ? submission.url : submission.blob) = *text;
      continue;
    }
    if (!text) {
      const bool known = std::ranges::find(form_fields, name, &FormField::name) != form_fields.end();
      if (known) return wrong(name, "has the wrong type");
    }
    if (auto set = set_field(submission, name, text.value_or("")); !set) return std::unexpected(set.error());
  }
  if (submission.url.empty() == submission.blob.empty()) {
    return wrong("url", "give the document by 'url' or by 'blob', one of them; to upload it, send multipart/form-data");
  }
  return submission;
}

std::string fingerprint_of(const Submission& submission, std::string_view content) {
  // The secrets belong to it as well, but only as part of a hash.
  const Json all{{"operation", submission.operation.empty() ? "read" : submission.operation},
                 {"options", job::to_json(submission.options)},
                 {"secret", job::to_json(submission.secret)},
                 {"name", submission.name},
                 {"priority", submission.priority},
                 {"deadline", submission.deadline.value_or(0)},
                 {"timeout", submission.timeout.value_or(0)},
                 {"webhook", submission.webhook},
                 {"content", content}};
  return sha256_hex(all.dump(-1, ' ', false, Json::error_handler_t::replace));
}

job::NewJob job_of(const Submission& submission, std::string id, std::string tenant, job::Millis now) {
  job::NewJob job{.id = std::move(id),
                  .tenant = std::move(tenant),
                  .operation = submission.operation.empty() ? "read" : submission.operation,
                  .priority = submission.priority,
                  .document = submission.name,
                  .options = job::to_json(submission.options),
                  .secret = job::to_json(submission.secret),
                  .webhook = submission.webhook,
                  .deadline = submission.deadline};
  if (submission.timeout) {
    const job::Millis at = now + *submission.timeout;
    job.deadline = job.deadline ? std::min(*job.deadline, at) : at;
  }
  return job;
}

std::optional<job::Millis> parse_rfc3339(std::string_view text) {
  // "YYYY-MM-DDTHH:MM:SS", a fraction, and "Z" or "+HH:MM".
  const auto part = [text](std::size_t at, std::size_t digits) -> std::optional<int> {
    if (at + digits > text.size()) return std::nullopt;
    const auto value = number_of<int>(text.substr(at, digits));
    return value && *value >= 0 && text[at] != '-' && text[at] != '+' ? value : std::nullopt;
  };
  const auto year = part(0, 4), month = part(5, 2), day = part(8, 2);
  const auto hour = part(11, 2), minute = part(14, 2), second = part(17, 2);
  if (!year || !month || !day || !hour || !minute || !second || text[4] != '-' || text[7] != '-' || text[13] != ':' ||
      text[16] != ':' || (text[10] != 'T' && text[10] != 't'))
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  std::string_view rest = text.substr(19);
  job::Millis millis = 0;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    int digits = 0;
    for (job::Millis unit = 100; !rest.empty() && rest.front() >= '0' && rest.front() <= '9';
         rest.remove_prefix(1), unit /= 10) {
      millis += unit * (rest.front() - '0');
      ++digits;
    }
    if (digits == 0 || digits > 9) return std::nullopt;
  }
  job::Millis offset = 0;
  if (rest != "Z" && rest != "z") {
    if (rest.size() != 6 || (rest[0] != '+' && rest[0] != '-') || rest[3] != ':') return std::nullopt;
    const std::size_t at = text.size() - 6;
    const auto hours = part(at + 1, 2), minutes = part(at + 4, 2);
    if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
    offset = (rest[0] == '-' ? -1 : 1) * (*hours * 60 + *minutes);
  }
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  const job::Millis minutes = (job::Millis{days} * 24 + *hour) * 60 + *minute - offset;
  return (minutes * 60 + *second) * 1000 + millis;
}

std::string to_rfc3339(job::Millis time) {
  return to_iso8601(WallTime(std::chrono::milliseconds(time)));
}

}  // namespace lectern::service
