// The openai provider against a real HTTP server, streaming and not.
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "provider/conformance_engine.h"
#include "provider/openai.h"
#include "provider/provider_conformance.h"
#include "provider/test_server.h"

namespace lectern::provider {
namespace {

class OpenAiSubject final : public ConformanceSubject {
 public:
  explicit OpenAiSubject(bool stream) : server_(conformance_script) {
    auto made =
        make_openai_provider(make_http_client(loop_.get_executor()), {.address = server_.address(), .stream = stream});
    provider_ = std::move(made.value());
  }
  boost::asio::io_context& loop() override { return loop_; }
  Provider& provider() override { return *provider_; }
  bool await_begun(int count) override { return server_.await_begun(count); }
  bool await_ended(int count) override { return server_.await_left(count); }

 private:
  TestServer server_;
  boost::asio::io_context loop_;
  std::unique_ptr<Provider> provider_;
};

std::unique_ptr<ConformanceSubject> streaming() {
  return std::make_unique<OpenAiSubject>(true);
}

std::unique_ptr<ConformanceSubject> whole_replies() {
  return std::make_unique<OpenAiSubject>(false);
}

INSTANTIATE_TEST_SUITE_P(OpenAi, ProviderConformance, testing::Values(&streaming, &whole_replies));

}  // namespace
}  // namespace lectern::provider
