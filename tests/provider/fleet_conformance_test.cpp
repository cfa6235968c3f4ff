// A fleet is a provider like any other: two openai engines behind it, one real HTTP server each.
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/timers.h"
#include "provider/conformance_engine.h"
#include "provider/fleet.h"
#include "provider/openai.h"
#include "provider/provider_conformance.h"
#include "provider/test_server.h"

namespace lectern::provider {
namespace {

class FleetSubject final : public ConformanceSubject {
 public:
  explicit FleetSubject(FleetOptions options) : server_(conformance_script) {
    const auto client = make_http_client(loop_.get_executor());
    std::vector<std::unique_ptr<Provider>> engines;
    for (int i = 0; i < 2; ++i) {
      engines.push_back(std::move(make_openai_provider(client, {.address = server_.address()}).value()));
    }
    fleet_.emplace(std::move(engines), options, Fleet::Seams{.timers = timers_, .random = random_});
  }
  boost::asio::io_context& loop() override { return loop_; }
  Provider& provider() override { return *fleet_; }
  bool await_begun(int count) override { return server_.await_begun(count); }
  bool await_ended(int count) override { return server_.await_left(count); }

 private:
  TestServer server_;
  boost::asio::io_context loop_;
  SystemTimers timers_;
  SystemRandom random_;
  std::optional<Fleet> fleet_;
};

std::unique_ptr<ConformanceSubject> adaptive() {
  return std::make_unique<FleetSubject>(FleetOptions{});
}
std::unique_ptr<ConformanceSubject> sequential() {
  return std::make_unique<FleetSubject>(FleetOptions{.parallel = 1});
}

INSTANTIATE_TEST_SUITE_P(Fleet, ProviderConformance, testing::Values(&adaptive, &sequential));

}  // namespace
}  // namespace lectern::provider
