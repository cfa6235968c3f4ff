// The process provider against a real program, with and without batches.
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "provider/fake_process.h"
#include "provider/provider_conformance.h"

namespace lectern::provider {
namespace {

class ProcessSubject final : public ConformanceSubject {
 public:
  explicit ProcessSubject(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--events", fifo_});
    provider_ = fake_provider(timers_, std::move(arguments));
  }
  boost::asio::io_context& loop() override { return loop_; }
  Provider& provider() override { return *provider_; }
  bool await_begun(int count) override { return events_.await("begun", count); }
  bool await_ended(int count) override { return events_.await("ended", count); }

 private:
  TempFolder folder_;
  std::string fifo_ = folder_.path() / "events";
  FakeEvents events_{fifo_};
  SystemTimers timers_;
  boost::asio::io_context loop_;
  std::unique_ptr<Provider> provider_;
};

std::unique_ptr<ConformanceSubject> one_by_one() {
  return std::make_unique<ProcessSubject>(std::vector<std::string>{});
}
std::unique_ptr<ConformanceSubject> in_batches() {
  return std::make_unique<ProcessSubject>(std::vector<std::string>{"--batch", "8", "--reverse", "--memory", "5"});
}
std::unique_ptr<ConformanceSubject> in_parallel() {
  return std::make_unique<ProcessSubject>(std::vector<std::string>{"--parallel", "4"});
}

INSTANTIATE_TEST_SUITE_P(Process, ProviderConformance, testing::Values(&one_by_one, &in_batches, &in_parallel));

}  // namespace
}  // namespace lectern::provider
