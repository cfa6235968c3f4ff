#include "provider/http_client.h"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <mutex>
#include <utility>

#include "provider/curl_loop.h"
#include "provider/curl_transfer.h"
#include "provider/openai.h"

namespace lectern::provider {
namespace {

namespace asio = boost::asio;

constexpr std::size_t collected_max = 16U << 20;

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

void post_stop(const std::shared_ptr<CurlLoop>& loop, const std::shared_ptr<CurlTransfer>& transfer) {
  asio::post(loop->executor(), [loop, transfer] { loop->stop(transfer, FailureReason::cancelled); });
}

// However the caller leaves (its loop may be destroyed under it), the request does not outlive it.
class EndWithCaller {
 public:
  EndWithCaller(std::shared_ptr<CurlLoop> loop, std::shared_ptr<CurlTransfer> transfer)
      : loop_(std::move(loop)), transfer_(std::move(transfer)) {}
  ~EndWithCaller() {
    if (!transfer_->done()) post_stop(loop_, transfer_);
  }
  EndWithCaller(const EndWithCaller&) = delete;
  EndWithCaller& operator=(const EndWithCaller&) = delete;

 private:
  std::shared_ptr<CurlLoop> loop_;
  std::shared_ptr<CurlTransfer> transfer_;
};

// Coroutines that wait for a transfer hold the client, and the client's transfers hold them. An event loop that goes
// away with such calls under way cuts that circle: it tells its services, of which this is one.
class LoopsOfContext final : public asio::execution_context::service {
 public:
  using key_type = LoopsOfContext;
  static inline asio::execution_context::id id;

  explicit LoopsOfContext(asio::execution_context& context) : service(context) {}
  void add(const std::shared_ptr<CurlLoop>& loop) {
    const std::lock_guard lock(mutex_);
    std::erase_if(loops_, [](const auto& weak) { return weak.expired(); });
    loops_.push_back(loop);
  }

 private:
  void shutdown() override {
    std::vector<std::weak_ptr<CurlLoop>> loops;
    {
      const std::lock_guard lock(mutex_);
      loops.swap(loops_);
    }
    for (const auto& weak : loops) {
      if (const auto loop = weak.lock()) loop->abandon();
    }
  }

  std::mutex mutex_;
  std::vector<std::weak_ptr<CurlLoop>> loops_;
};

asio::awaitable<HttpAnswer> exchange(std::shared_ptr<CurlLoop> loop, HttpRequest request, HttpHandlers handlers,
                                     Deadline deadline, Cancellation cancellation) {
  const auto refuse = [&](FailureReason reason) {
    return std::unexpected(Failure{.reason = reason, .message = request.peer + ": " + std::string(to_string(reason))});
  };
  if (cancellation.requested()) co_return refuse(FailureReason::cancelled);
  if (deadline.passed(system_clock().now())) co_return refuse(FailureReason::timed_out);

  const auto transfer = std::make_shared<CurlTransfer>(std::move(request), deadline);
  const EndWithCaller end_with_caller(loop, transfer);
  asio::dispatch(loop->executor(), [loop, transfer] { loop->start(transfer); });
  const auto token = cancellation.on_request([loop, transfer] { post_stop(loop, transfer); });

  HttpResponse response;
  for (;;) {
    CurlTransfer::News news = co_await transfer->news();
    if (news.head) {
      response.head = std::move(*news.head);
      if (handlers.on_head) handlers.on_head(response.head);
    }
    if (!news.body.empty()) {
      if (handlers.on_piece) {
        if (!co_await handlers.on_piece(std::move(news.body))) {
          response.cut = true;
          break;
        }
      } else if (!handlers.on_body) {
        response.body += news.body;
        if (response.body.size() > collected_max) {
          co_return std::unexpected(
              Failure{.reason = FailureReason::bad_reply,
                      .message = fmt::format("{} sent more than {} MiB where a short answer was expected",
                                             transfer->request().peer, collected_max >> 20),
                      .http_status = response.head.status});
        }
      } else if (!handlers.on_body(news.body)) {
        response.cut = true;
        break;
      }
    }
    if (news.failure) co_return std::unexpected(std::move(*news.failure));
    if (news.done) break;
    if (news.was_paused) asio::post(loop->executor(), [loop, transfer] { loop->resume(transfer); });
  }
  response.first_byte = transfer->first_byte();
  response.total = system_clock().now() - transfer->started();
  co_return response;
}

}  // namespace

std::string_view HttpHead::header(std::string_view name) const {
  std::string_view rest = lines;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && same_name(line.substr(0, colon), name)) {
      return trimmed(line.substr(colon + 1));
    }
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return {};
}

HttpClient::HttpClient(asio::any_io_executor executor) : loop_(std::make_shared<CurlLoop>(std::move(executor))) {
  asio::use_service<LoopsOfContext>(asio::query(loop_->executor(), asio::execution::context)).add(loop_);
}

HttpClient::~HttpClient() {
  asio::post(loop_->executor(), [loop = loop_] { loop->close(); });
}

asio::awaitable<HttpAnswer> HttpClient::send(HttpRequest request, HttpHandlers handlers, Deadline deadline,
                                             Cancellation cancellation) {
  return exchange(loop_, std::move(request), std::move(handlers), deadline, std::move(cancellation));
}

std::shared_ptr<HttpClient> make_http_client(asio::any_io_executor executor) {
  return std::make_shared<HttpClient>(std::move(executor));
}

}  // namespace lectern::provider
