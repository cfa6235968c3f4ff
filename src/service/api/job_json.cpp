#include "service/api/job_json.h"

#include <nlohmann/json.hpp>

#include "service/submission.h"

namespace lectern::service {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json time_or_null(const std::optional<job::Millis>& time) {
  return time ? Json(to_rfc3339(*time)) : Json(nullptr);
}
Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json to_json(const job::Step& step) {
  return {{"name", job::to_string(step.kind)},
          {"status", job::to_string(step.phase)},
          {"done", step.done},
          {"total", step.total},
          {"started_at", time_or_null(step.started_at)},
          {"finished_at", time_or_null(step.finished_at)},
          {"error", text_or_null(step.error)}};
}

// The state of the webhook. Without the task only what the step says.
Json delivery_of(const job::JobView& view, const std::optional<job::Task>& task) {
  const auto step = std::ranges::find(view.steps, job::StepKind::deliver, &job::Step::kind);
  if (step == view.steps.end()) return nullptr;
  Json json{{"url", view.job.request.webhook},
            {"status", job::to_string(step->phase)},
            {"attempts", 0},
            {"next_at", nullptr},
            {"last_error", nullptr}};
  if (!task) return json;
  json["attempts"] = task->attempts;
  if (task->state == job::TaskState::waiting) json["next_at"] = to_rfc3339(task->not_before);
  json["last_error"] = text_or_null(task->error);
  return json;
}

Json to_json(const job::JobView& view, const std::optional<job::Task>& delivery) {
  const job::Job& job = view.job;
  const job::NewJob& request = job.request;
  const std::string self = "/v1/jobs/" + request.id;
  Json steps = Json::array();
  for (const job::Step& step : view.steps) steps.push_back(to_json(step));
  Json links{{"self", self}, {"events", self + "/events"}};
  if (!job.result.empty()) links["result"] = self + "/result";
  Json options = Json::parse(request.options, nullptr, false);
  if (!options.is_object()) options = Json::object();
  return {
      {"id", request.id},
      {"operation", request.operation},
      {"status", job::to_string(job.phase)},
      {"tenant", request.tenant},
      {"priority", request.priority},
      {"document", {{"name", request.document}, {"bytes", request.bytes}, {"sha256", text_or_null(request.sha256)}}},
      {"options", std::move(options)},
      {"pages",
       {{"total", job.pages_total},
        {"ok", job.pages.ok},
        {"fallback", job.pages.fallback},
        {"failed", job.pages.failed}}},
      {"steps", std::move(steps)},
      {"error", text_or_null(job.error)},
      {"error_code", text_or_null(job.error_code)},
      {"created_at", to_rfc3339(job.created_at)},
      {"started_at", time_or_null(job.started_at)},
      {"finished_at", time_or_null(job.finished_at)},
      {"deadline", time_or_null(request.deadline)},
      {"delivery", delivery_of(view, delivery)},
      {"links", std::move(links)}};
}

Json to_json(const job::Event& event) {
  Json data = Json::parse(event.data, nullptr, false);
  if (!data.is_object()) data = Json::object();
  // Moments are numbers inside; people and other programs read RFC 3339.
  for (const char* name : {"started_at", "again_at"}) {
    if (const auto found = data.find(name); found != data.end() && found->is_number_integer())
      *found = to_rfc3339(found->get<job::Millis>());
  }
  return {{"number", event.number}, {"at", to_rfc3339(event.at)}, {"kind", event.kind}, {"data", std::move(data)}};
}

}  // namespace

std::string job_json(const job::JobView& view, const std::optional<job::Task>& delivery) {
  return dump(to_json(view, delivery));
}

std::string jobs_json(const std::vector<job::JobView>& jobs, const std::string& next) {
  Json list = Json::array();
  for (const job::JobView& view : jobs) list.push_back(to_json(view, std::nullopt));
  return dump({{"jobs", std::move(list)}, {"next", text_or_null(next)}});
}

std::string event_json(const job::Event& event) {
  return dump(to_json(event));
}

std::string events_json(const std::vector<job::Event>& events, bool more) {
  Json list = Json::array();
  for (const job::Event& event : events) list.push_back(to_json(event));
  return dump({{"events", std::move(list)}, {"next", more ? Json(events.back().number) : Json(nullptr)}});
}

}  // namespace lectern::service
