#include "service/api/read_now.h"

#include <algorithm>

#include "service/api/result.h"
#include "service/api/stop_signs.h"
#include "service/api/submit.h"

namespace lectern::service {
namespace {

namespace asio = boost::asio;
using http::ExchangePtr;
using std::chrono::seconds;

// Rings can get lost with the connection to a database: it is looked at now and then whatever is heard.
constexpr seconds look_again{5};

// The job when it is over, or as it is at the end of the wait.
asio::awaitable<Result<std::optional<job::JobView>>> wait_for(ApiContext* api, std::string id, TimePoint until,
                                                              Cancellation cancellation) {
  for (;;) {
    const std::uint64_t mark = api->parts.store.job_mark(id);
    auto view = co_await api->parts.store.job(id);
    const TimePoint now = api->now();
    if (!view || !*view || job::over((*view)->job.phase) || now >= until || cancellation.requested()) co_return view;
    co_await api->parts.store.wait_for_job(id, mark, std::min(until, now + look_again), cancellation);
  }
}

asio::awaitable<Answer> read_now(ApiContext* api, Caller caller, ExchangePtr exchange, std::string operation) {
  const http::Request& request = exchange->request();
  const auto format = format_of(request);
  if (!format) co_return std::unexpected(format.error());
  const auto wait_max = std::chrono::duration_cast<seconds>(api->options.wait_max).count();
  const auto wait = number_parameter(request, "wait", 0, wait_max, wait_max);
  if (!wait) co_return std::unexpected(wait.error());
  const auto cancel_on_disconnect = flag_parameter(request, "cancel_on_disconnect");
  if (!cancel_on_disconnect) co_return std::unexpected(cancel_on_disconnect.error());

  auto submitted = co_await submit_job(api, std::move(caller), exchange, std::move(operation));
  if (!submitted) co_return std::unexpected(std::move(submitted.error()));
  const std::string id = submitted->job.job.request.id;
  job::JobView view = std::move(submitted->job);
  // Without room to wait the client still gets its job.
  if (const auto place = api->waits.enter()) {
    const Cancellation gone = exchange->gone();
    const StopSigns signs{exchange->stopping(), gone};
    auto now = co_await wait_for(api, id, api->now() + seconds(*wait), signs.any());
    if (!now) co_return std::unexpected(problem_of(now.error()));
    if (!*now) co_return std::unexpected(Problem{.code = ProblemCode::not_found, .detail = "the job was removed"});
    view = std::move(**now);
    if (gone.requested() && *cancel_on_disconnect && !job::over(view.job.phase)) {
      const auto cancelled = co_await api->parts.store.cancel(id, "the client that waited for it left");
      if (cancelled) view = *cancelled;
    }
  }
  if (!job::over(view.job.phase)) co_return co_await job_response(api, 202, std::move(view));
  if (view.job.phase != job::Phase::succeeded) {
    co_return std::unexpected(Problem{.code = code_of_failure(view.job.error_code), .detail = view.job.error});
  }
  auto answer = co_await result_response(api, exchange, std::move(view), *format);
  if (answer) answer->fields.add("Location", "/v1/jobs/" + id);
  co_return answer;
}

}  // namespace

asio::awaitable<Answer> post_read(ApiContext* api, Caller caller, ExchangePtr exchange) {
  return read_now(api, std::move(caller), std::move(exchange), "read");
}

asio::awaitable<Answer> post_ocr(ApiContext* api, Caller caller, ExchangePtr exchange) {
  return read_now(api, std::move(caller), std::move(exchange), "ocr");
}

}  // namespace lectern::service
