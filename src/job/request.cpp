#include "job/request.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lectern::job {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t text_bytes_max = 64 * 1024;

}  // namespace

std::string to_json(const JobOptions& options) {
  Json json = Json::object();
  const auto put = [&json](const char* name, const std::string& value) {
    if (!value.empty()) json[name] = value;
  };
  put("pages", options.pages);
  put("lang", options.languages);
  put("model", options.model);
  put("prompt", options.prompt);
  if (options.auto_rotate) json["auto_rotate"] = *options.auto_rotate;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<JobOptions> job_options_from_json(std::string_view json) {
  const Json parsed = Json::parse(json, nullptr, false);
  if (!parsed.is_object()) return fail(ErrorKind::invalid_input, "options: expected a JSON object");
  JobOptions options;
  for (const auto& [name, value] : parsed.items()) {
    if (name == "auto_rotate") {
      if (!value.is_boolean()) return fail(ErrorKind::invalid_input, "options.auto_rotate: expected true or false");
      options.auto_rotate = value.get<bool>();
      continue;
    }
    std::string* field = name == "pages"    ? &options.pages
                         : name == "lang"   ? &options.languages
                         : name == "model"  ? &options.model
                         : name == "prompt" ? &options.prompt
                                            : nullptr;
    if (field == nullptr) {
      return fail(ErrorKind::invalid_input,
                  "options.{}: there is no such option; there are pages, lang, model, prompt, auto_rotate", name);
    }
    if (!value.is_string()) return fail(ErrorKind::invalid_input, "options.{}: expected text", name);
    *field = value.get<std::string>();
    if (field->size() > text_bytes_max) {
      return fail(ErrorKind::invalid_input, "options.{}: more than {} bytes", name, text_bytes_max);
    }
  }
  return options;
}

std::string to_json(const JobSecret& secret) {
  Json json = Json::object();
  if (!secret.password.empty()) json["password"] = secret.password;
  if (!secret.webhook_secret.empty()) json["webhook_secret"] = secret.webhook_secret;
  return json.empty() ? "" : json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<JobSecret> job_secret_from_json(std::string_view json) {
  JobSecret secret;
  if (json.empty()) return secret;
  const Json parsed = Json::parse(json, nullptr, false);
  if (!parsed.is_object()) return fail(ErrorKind::corrupt, "the job's secret is not a JSON object");
  secret.password = parsed.value("password", "");
  secret.webhook_secret = parsed.value("webhook_secret", "");
  return secret;
}

std::string job_prefix(std::string_view job) {
  return fmt::format("jobs/{}/", job);
}
std::string original_key(std::string_view job) {
  return fmt::format("jobs/{}/original", job);
}
std::string page_key(std::string_view job, int page, std::int64_t token) {
  return fmt::format("jobs/{}/pages/{:06}-{}.json", job, page, token);
}
std::string page_image_key(std::string_view job, int page) {
  return fmt::format("jobs/{}/images/{:06}.jpg", job, page);
}
std::string result_key(const Task& task, std::string_view format) {
  return fmt::format("jobs/{}/results/{}-{}.{}", task.job, task.id, task.token, format);
}

}  // namespace lectern::job
