#include "service/deliver.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "job/request.h"
#include "provider/retry_after.h"
#include "service/url_fetch.h"
#include "service/webhook.h"

namespace lectern::service {
namespace {

namespace asio = boost::asio;
using job::Ending;
using job::Outcome;

Outcome failed(std::string error) {
  return {.ending = Ending::failed, .error = std::move(error)};
}

// Nothing of what a receiver says is kept: whoever watches the job learns the status, not what is behind the address.
bool take_nothing(std::string_view /*bytes*/) {
  return false;
}

class DeliverHandler final : public job::Handler {
 public:
  DeliverHandler(DeliverOptions options, std::shared_ptr<provider::HttpClient> http, const Clock& clock)
      : options_(std::move(options)), http_(std::move(http)), clock_(clock) {}

  asio::awaitable<Outcome> handle(job::Work work) override {
    const auto address = provider::parse_web_address(work.job.request.webhook);
    if (!address) co_return failed("the webhook: " + address.error().for_caller);
    auto request = make_request(work.job, *address);
    if (!request) co_return failed(request.error().for_caller);
    provider::HttpHandlers handlers;
    handlers.on_body = take_nothing;
    const provider::HttpAnswer answer =
        co_await http_->send(std::move(*request), std::move(handlers),
                             Deadline::after(options_.time_max, system_clock()), work.cancellation);
    if (answer) {
      co_return after_delivery({.status = answer->head.status,
                                .retry_after = answer->head.header("retry-after"),
                                .now = clock_.wall(),
                                .attempts = work.task.attempts},
                               options_.policy);
    }
    co_return after_failure(answer.error());
  }

  asio::awaitable<void> refused(Outcome /*outcome*/) override { co_return; }

 private:
  Result<provider::HttpRequest> make_request(const job::Job& job, const provider::WebAddress& address) const {
    if (address.credentials)
      return fail(ErrorKind::invalid_input, "the webhook: a user or password has no place in it");
    const auto own = job::job_secret_from_json(job.request.secret);
    if (!own) return std::unexpected(own.error());
    const std::string& secret = own->webhook_secret.empty() ? options_.secret : own->webhook_secret;
    const std::string body = webhook_body(job);
    const std::string id = webhook_id(job);
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(clock_.wall().time_since_epoch()).count();

    provider::HttpRequest request;
    request.method = "POST";
    request.url = address.url;
    request.peer = address.host;
    request.headers = {"Content-Type: application/json", "webhook-id: " + id,
                       fmt::format("webhook-timestamp: {}", now)};
    if (!secret.empty()) {
      const auto key = webhook_key(secret);
      if (!key) return std::unexpected(key.error());
      request.headers.push_back("webhook-signature: " + webhook_signature(*key, id, now, body));
    }
    request.body = provider::HttpBody({provider::BodyPiece(body)});
    request.transport = guarded_transport(options_.guard, address);
    request.transport.ca_file = options_.ca_file;
    return request;
  }

  static Outcome after_failure(const provider::Failure& failure) {
    switch (failure.reason) {
      case provider::FailureReason::cancelled:
        return {.ending = Ending::give_back};
      case provider::FailureReason::bad_request:
        return failed("the webhook leads to an address that this server does not connect to");
      case provider::FailureReason::timed_out:
        return {.ending = Ending::again, .error = "the webhook's server does not answer in time"};
      default:
        return {.ending = Ending::again, .error = "the webhook's server cannot be reached"};
    }
  }

  const DeliverOptions options_;
  const std::shared_ptr<provider::HttpClient> http_;
  const Clock& clock_;
};

}  // namespace

Outcome after_delivery(const DeliveryAnswer& answer, const job::Policy& policy) {
  const std::string detail = fmt::format(R"({{"status": {}}})", answer.status);
  if (answer.status >= 200 && answer.status < 300) return {.ending = Ending::done, .detail = detail};
  Outcome outcome{.ending = Ending::again,
                  .error = fmt::format("the webhook's server answered {}", answer.status),
                  .detail = detail};
  if (answer.status == 410) outcome.ending = Ending::failed;
  if (answer.status >= 300 && answer.status < 400) outcome.error += "; redirects are not followed";
  const auto wanted = provider::retry_after(answer.retry_after, answer.now);
  if (outcome.ending == Ending::again && wanted) {
    outcome.delay = std::max<job::Millis>(
        wanted->count(), job::backoff(answer.attempts, policy.delivery_backoff_first, policy.delivery_backoff_most));
  }
  return outcome;
}

std::unique_ptr<job::Handler> make_deliver_handler(DeliverOptions options, std::shared_ptr<provider::HttpClient> http,
                                                   const Clock& clock) {
  return std::make_unique<DeliverHandler>(std::move(options), std::move(http), clock);
}

}  // namespace lectern::service
