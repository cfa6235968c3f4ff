#include "cli/web_setup.h"

#include <utility>

#include "cli/model_settings.h"
#include "service/deliver.h"
#include "service/url_fetch.h"

namespace lectern::cli {
namespace {

Result<service::UrlGuard> guard_of(const Config& config) {
  auto guard = service::UrlGuard::allowing(split_addresses(config.list("web.allowed")));
  if (!guard) return fail(ErrorKind::invalid_input, "web.allowed: {}", guard.error().for_caller);
  return guard;
}

}  // namespace

Result<std::unique_ptr<job::Handler>> make_deliverer(const Config& config, std::shared_ptr<provider::HttpClient> http,
                                                     const Clock& clock) {
  auto guard = guard_of(config);
  if (!guard) return std::unexpected(guard.error());
  service::DeliverOptions options{.secret = config.text("web.webhook_secret"),
                                  .guard = std::move(*guard),
                                  .ca_file = config.text("engines.ca_file")};
  return service::make_deliver_handler(std::move(options), std::move(http), clock);
}

Result<std::unique_ptr<service::UrlFetcher>> make_fetcher(const Config& config,
                                                          std::shared_ptr<provider::HttpClient> http, job::Blobs& blobs,
                                                          CpuPool& cpu) {
  if (!config.boolean("serve.urls")) return nullptr;
  auto guard = guard_of(config);
  if (!guard) return std::unexpected(guard.error());
  service::UrlFetchOptions options{.guard = std::move(*guard), .ca_file = config.text("engines.ca_file")};
  return service::make_url_fetcher(std::move(options), std::move(http), blobs, cpu);
}

}  // namespace lectern::cli
