#include "cli/jobs_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

#include "cli/printable.h"

namespace lectern::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t document_width_min = 12;

std::string text(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}
int number(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number_integer() ? found->get<int>() : 0;
}
Json member(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found == json.end() ? Json() : *found;
}

std::unexpected<Error> not_ours() {
  return fail(ErrorKind::corrupt, "the answer is not that of a lectern serve");
}

JobRow row_of(const Json& json) {
  const Json pages = member(json, "pages");
  JobRow row{.id = text(json, "id"),
             .status = text(json, "status"),
             .operation = text(json, "operation"),
             .tenant = text(json, "tenant"),
             .document = text(member(json, "document"), "name"),
             .pages_total = number(pages, "total"),
             .pages_ok = number(pages, "ok"),
             .pages_fallback = number(pages, "fallback"),
             .pages_failed = number(pages, "failed"),
             .created_at = text(json, "created_at"),
             .error = text(json, "error")};
  for (const Json& step : member(json, "steps")) {
    if (text(step, "status") == "queued" && !row.step.empty()) break;
    row.step = text(step, "name");
  }
  return row;
}

// "2026-11-15T05:49:35.123Z" → "11-15 05:49:35"
std::string short_time(const std::string& time) {
  if (time.size() < 19) return time;
  return fmt::format("{} {}", time.substr(5, 5), time.substr(11, 8));
}

std::string pages_words(const JobRow& row) {
  return row.pages_total == 0 ? "" : fmt::format("{}/{}", row.pages_done(), row.pages_total);
}

std::string trouble(const JobRow& row) {
  std::string words;
  if (row.pages_fallback > 0) words += fmt::format("{} fallback", row.pages_fallback);
  if (row.pages_failed > 0) words += fmt::format("{}{} failed", words.empty() ? "" : ", ", row.pages_failed);
  if (!row.error.empty()) words += fmt::format("{}{}", words.empty() ? "" : "; ", row.error);
  return words;
}

// At most `width` bytes, never half a character.
std::string cut(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  if (width < 2) return text.substr(0, width);
  std::size_t end = width - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
  return text.substr(0, end) + "~";
}

}  // namespace

Result<JobRow> job_row(std::string_view job_json) {
  const Json json = Json::parse(job_json, nullptr, false);
  if (!json.is_object() || text(json, "id").empty()) return not_ours();
  return row_of(json);
}

Result<JobPage> job_page(std::string_view jobs_json) {
  const Json json = Json::parse(jobs_json, nullptr, false);
  if (!json.is_object() || !member(json, "jobs").is_array()) return not_ours();
  JobPage page{.rows = {}, .next = text(json, "next")};
  for (const Json& job : json["jobs"]) page.rows.push_back(row_of(job));
  return page;
}

std::string jobs_table(const std::vector<JobRow>& rows, int width) {
  using Cells = std::array<std::string, 6>;
  std::vector<Cells> table = {{"JOB", "STATUS", "STEP", "PAGES", "CREATED", "DOCUMENT"}};
  for (const JobRow& row : rows) {
    const std::string more = trouble(row);
    table.push_back({row.id, row.status, row.over() ? "" : row.step, pages_words(row), short_time(row.created_at),
                     printable(more.empty() ? row.document : fmt::format("{}  ({})", row.document, more))});
  }
  std::array<std::size_t, 6> widths{};
  for (const Cells& cells : table) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::size_t left = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) left += widths[i] + 2;
  const std::size_t last =
      std::max(document_width_min, static_cast<std::size_t>(std::max(0, width)) -
                                       std::min(left, static_cast<std::size_t>(std::max(0, width))));
  std::string lines;
  for (const Cells& cells : table) {
    for (std::size_t i = 0; i + 1 < cells.size(); ++i) lines += fmt::format("{:<{}}  ", cells[i], widths[i]);
    lines += cut(cells.back(), last) + "\n";
  }
  return lines;
}

std::string job_line(const JobRow& row) {
  std::string words = fmt::format("{} {}", row.id, row.status);
  if (!row.over() && !row.step.empty()) words += ": " + row.step;
  if (row.pages_total > 0) words += fmt::format(", {} of {} pages", row.pages_done(), row.pages_total);
  if (const std::string more = trouble(row); !more.empty()) words += ", " + more;
  return printable(words + "  " + row.document);
}

Result<std::string> job_story(std::string_view job_json, const std::vector<std::string>& event_pages) {
  const Json json = Json::parse(job_json, nullptr, false);
  if (!json.is_object() || text(json, "id").empty()) return not_ours();
  const JobRow row = row_of(json);
  std::string story;
  const auto say = [&story](std::string_view name, const std::string& value) {
    if (!value.empty()) story += fmt::format("{:<10} {}\n", name, printable(value));
  };
  say("job", row.id);
  say("status", row.status);
  say("error", row.error);
  say("document", row.document);
  say("operation", row.operation);
  say("tenant", row.tenant);
  if (const Json options = member(json, "options"); options.is_object() && !options.empty())
    say("options", options.dump());
  if (row.pages_total > 0) {
    say("pages", fmt::format("{} of {}: {} ok, {} fallback, {} failed", row.pages_done(), row.pages_total, row.pages_ok,
                             row.pages_fallback, row.pages_failed));
  }
  for (const char* name : {"created_at", "started_at", "finished_at", "deadline"}) {
    std::string label = name;
    if (label.ends_with("_at")) label.resize(label.size() - 3);
    say(label, text(json, name));
  }
  story += "\nsteps\n";
  for (const Json& step : member(json, "steps")) {
    const std::string error = text(step, "error");
    story += printable(fmt::format("  {:<9} {:<10} {}/{}{}", text(step, "name"), text(step, "status"),
                                   number(step, "done"), number(step, "total"), error.empty() ? "" : "  " + error)) +
             "\n";
  }
  story += "\nevents\n";
  for (const std::string& events : event_pages) {
    const Json page = Json::parse(events, nullptr, false);
    if (!page.is_object()) return not_ours();
    for (const Json& event : member(page, "events")) {
      story += printable(fmt::format("  {:>5}  {}  {:<16} {}", number(event, "number"), short_time(text(event, "at")),
                                     text(event, "kind"), member(event, "data").dump())) +
               "\n";
    }
  }
  return story;
}

}  // namespace lectern::cli
