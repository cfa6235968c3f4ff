#include "job/handlers/page_blob.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reading/assembly.h"
#include "reading/journal_rows.h"
#include "reading/model/model_reader.h"
#include "reading/output/json.h"
#include "reading/output/render.h"

namespace lectern::job {
namespace {

using Json = nlohmann::ordered_json;

// Where the part begins that a page's row in a journal has as well. A quote inside a JSON string is escaped, so nothing
// in prompt or response can look like it.
constexpr std::string_view row_mark = R"(,"record":)";

std::string response_of(const reading::PageResult& result) {
  if (!result.error.empty()) return reading::page_placeholder(result.page, result.error);
  return result.model.empty() && !result.blocks.empty() ? reading::to_markdown(result) : result.markdown;
}

// Without its end: more follows.
std::string head_of(const PageBlob& page) {
  const Json head{{"page_number", page.result.page}, {"prompt", page.prompt}, {"response", response_of(page.result)}};
  std::string text = head.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.back() = ',';
  return text;
}

}  // namespace

std::string to_json(const PageBlob& page) {
  std::string text = head_of(page);
  text += std::string_view(reading::page_row(page.record, reading::to_journal_json(page.result))).substr(1);
  return text;
}

Result<PageBlob> page_blob_from_json(std::string_view json) {
  const auto mark = json.find(row_mark);
  if (mark == std::string_view::npos) return fail(ErrorKind::corrupt, "a stored page has no record");
  const Json head = Json::parse(fmt::format("{}}}", json.substr(0, mark)), nullptr, false);
  if (!head.is_object() || !head.contains("prompt") || !head["prompt"].is_string()) {
    return fail(ErrorKind::corrupt, "a stored page has no prompt");
  }
  const std::string row = fmt::format("{{{}", json.substr(mark + 1));
  auto parsed = reading::parse_row(row);
  if (!parsed) return std::unexpected(parsed.error());
  auto* record = std::get_if<reading::PageRecord>(&*parsed);
  if (record == nullptr) return fail(ErrorKind::corrupt, "a stored page has no record");
  auto result = reading::from_journal_json(reading::result_in_row(row));
  if (!result) return std::unexpected(result.error());
  return PageBlob{head["prompt"].get<std::string>(), std::move(*record), std::move(*result)};
}

std::string page_for_clients(PageBlob page) {
  std::string text = head_of(page);
  std::string result = reading::streamed_page(std::move(page.result), reading::OutputFormat::json, true);
  if (result.ends_with('\n')) result.pop_back();
  return text + "\"result\":" + result + "}";
}

}  // namespace lectern::job
