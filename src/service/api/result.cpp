#include "service/api/result.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>

#include "base/async.h"
#include "job/handlers/page_blob.h"
#include "job/request.h"
#include "service/api/blob_response.h"
#include "service/api/stop_signs.h"
#include "service/http/parameters.h"
#include "service/http/range.h"

namespace lectern::service {
namespace {

namespace asio = boost::asio;
using http::ExchangePtr;
using http::Response;

constexpr std::array formats = {ResultFormat{"md", "text/markdown", "text/markdown; charset=utf-8"},
                                ResultFormat{"json", "application/json", "application/json"},
                                ResultFormat{"text", "text/plain", "text/plain; charset=utf-8"},
                                ResultFormat{"html", "text/html", "text/html; charset=utf-8"}};

constexpr std::int64_t page_bytes_max = std::int64_t{1} << 28;

std::unexpected<Problem> not_ready(std::string detail) {
  return std::unexpected(Problem{.code = ProblemCode::not_ready, .detail = std::move(detail), .retry_after = 2});
}

// The name of the document with the ending of the format: "report.pdf" → "report.md".
std::string result_name(const std::string& document, std::string_view format) {
  const std::size_t dot = document.rfind('.');
  const std::string stem = dot == std::string::npos || dot == 0 ? document : document.substr(0, dot);
  return stem + "." + std::string(format == "text" ? "txt" : format);
}

// What is stored of a page is for assembling the result; this is what is shown of it (docs/page-result.md).
asio::awaitable<Answer> page_response(ApiContext* api, ExchangePtr exchange, std::string key) {
  auto stored = co_await api->parts.blobs.get(std::move(key), page_bytes_max);
  if (!stored) {
    Problem problem = problem_of(stored.error());
    if (stored.error().kind == ErrorKind::not_found) problem.detail = "the page is not kept any more";
    co_return std::unexpected(std::move(problem));
  }
  auto make = [&stored, &exchange]() -> Result<Response> {
    auto page = job::page_blob_from_json(*stored);
    if (!page) return std::unexpected(page.error());
    return made_response(exchange->request(), job::page_for_clients(std::move(*page)),
                         {.content_type = "application/json", .disposition = {}, .missing = {}});
  };
  auto made = co_await api->parts.cpu.run(std::move(make));
  if (!made) co_return std::unexpected(problem_of(made.error()));
  co_return std::move(*made);
}

int page_of(const http::Request& request) {
  return std::stoi(request.path.at("page"));  // the route takes numbers only
}

}  // namespace

std::expected<ResultFormat, Problem> format_of(const http::Request& request) {
  if (const auto name = request.target.query.find("format")) {
    const auto found = std::ranges::find(formats, *name, &ResultFormat::name);
    if (found != formats.end()) return *found;
    return std::unexpected(
        Problem{.code = ProblemCode::invalid_parameter, .detail = "format: must be md, json, text or html"});
  }
  std::array<std::string_view, formats.size()> types;
  std::ranges::transform(formats, types.begin(), &ResultFormat::type);
  const auto best = http::preferred_type(request.fields.find("accept").value_or(""), types);
  if (best) return formats.at(*best);
  return std::unexpected(Problem{.code = ProblemCode::not_acceptable,
                                 .detail = "results come as text/markdown, application/json, text/plain or text/html"});
}

asio::awaitable<Answer> result_response(ApiContext* api, ExchangePtr exchange, job::JobView view, ResultFormat format) {
  const job::Job& job = view.job;
  if (!job::over(job.phase)) co_return not_ready("the job is " + std::string(job::to_string(job.phase)));
  const auto keys = nlohmann::json::parse(job.result, nullptr, false);
  const std::string name(format.name);
  if (!keys.is_object() || !keys.contains(name) || !keys[name].is_string()) {
    const std::string why = job.error.empty() ? fmt::format("it has none as {}", name) : job.error;
    co_return std::unexpected(Problem{.code = ProblemCode::no_result,
                                      .detail = fmt::format("the job is {}: {}", job::to_string(job.phase), why)});
  }
  const auto download = flag_parameter(exchange->request(), "download");
  if (!download) co_return std::unexpected(download.error());
  BlobDress dress{.content_type = std::string(format.content_type),
                  .disposition = http::content_disposition(*download ? "attachment" : "inline",
                                                           result_name(job.request.document, format.name)),
                  .missing = "the result is not kept any more"};
  std::string key = keys[name].get<std::string>();
  co_return co_await blob_response(api, std::move(exchange), std::move(key), std::move(dress));
}

asio::awaitable<Answer> get_result(ApiContext* api, Caller caller, ExchangePtr exchange) {
  const auto format = format_of(exchange->request());
  if (!format) co_return std::unexpected(format.error());
  auto view = co_await job_of_path(api, std::move(caller), exchange);
  if (!view) co_return std::unexpected(std::move(view.error()));
  co_return co_await result_response(api, exchange, std::move(*view), *format);
}

asio::awaitable<Answer> get_page(ApiContext* api, Caller caller, ExchangePtr exchange) {
  auto view = co_await job_of_path(api, std::move(caller), exchange);
  if (!view) co_return std::unexpected(std::move(view.error()));
  const int page = page_of(exchange->request());
  const auto tasks = co_await api->parts.store.tasks(view->job.request.id, job::StepKind::read, page, 1);
  if (!tasks) co_return std::unexpected(problem_of(tasks.error()));
  if (tasks->empty() || tasks->front().number != page) {
    const auto split = std::ranges::find(view->steps, job::StepKind::split, &job::Step::kind);
    const bool looked_at = split != view->steps.end() && job::over(split->phase);
    if (!looked_at) co_return not_ready("the document has not been looked at yet");
    co_return std::unexpected(Problem{.code = ProblemCode::not_found, .detail = "the job does not read such a page"});
  }
  const job::Task& task = tasks->front();
  if (!job::over(task.state)) co_return not_ready("the page has not been read yet");
  if (task.result.empty()) {
    co_return std::unexpected(
        Problem{.code = ProblemCode::no_result, .detail = task.error.empty() ? "the page was not read" : task.error});
  }
  co_return co_await page_response(api, exchange, task.result);
}

asio::awaitable<Answer> get_page_image(ApiContext* api, Caller caller, ExchangePtr exchange) {
  auto view = co_await job_of_path(api, std::move(caller), exchange);
  if (!view) co_return std::unexpected(std::move(view.error()));
  const int page = page_of(exchange->request());
  const std::string key = job::page_image_key(view->job.request.id, page);
  BlobDress dress{.content_type = "image/jpeg", .disposition = {}, .missing = "there is no picture of this page"};
  auto kept = co_await blob_response(api, exchange, key, std::move(dress));
  if (kept || kept.error().code != ProblemCode::not_found || api->parts.images == nullptr) co_return kept;

  const StopSigns signs{exchange->stopping(), exchange->gone()};
  auto image = co_await api->parts.images->image(view->job, page, signs.any());
  if (!image) {
    Problem problem = problem_of(image.error());
    // It is the document that cannot be shown, not the request that is wrong.
    if (problem.code == ProblemCode::invalid_parameter) problem.code = ProblemCode::not_found;
    if (problem.code == ProblemCode::insufficient_storage)
      problem = {.code = ProblemCode::unavailable, .retry_after = 2};
    co_return std::unexpected(std::move(problem));
  }
  Response response = http::text_response(200, std::move(image->content_type), std::move(image->bytes));
  response.fields.add("Cache-Control", "private, max-age=300");
  co_return response;
}

}  // namespace lectern::service
