// What every Provider must do, as one suite. A kind of provider joins it with
//   INSTANTIATE_TEST_SUITE_P(Kind, ProviderConformance, testing::Values(+[] { return std::unique_ptr<…>(…); }));
// and an engine behind it that understands these questions:
//   "say TEXT"   answers TEXT, in several pieces where it can
//   "measure"    answers measure_images() of the prompt's images
//   "fail"       fails in a way that is not worth retrying
//   "hang"       says nothing, ever
//   "endless"    says "la " for as long as anybody listens
#pragma once

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "provider/provider.h"

namespace lectern::provider {

class ConformanceSubject {
 public:
  virtual ~ConformanceSubject() = default;
  virtual boost::asio::io_context& loop() = 0;  // the tests run it
  virtual Provider& provider() = 0;
  // Block until so many "hang" and "endless" in all have begun, or were really ended by their asker's leaving. False =
  // it never happened.
  virtual bool await_begun(int count) = 0;
  virtual bool await_ended(int count) = 0;
};

using ConformanceFactory = std::unique_ptr<ConformanceSubject> (*)();

class ProviderConformance : public testing::TestWithParam<ConformanceFactory> {
 protected:
  Answer ask(Prompt prompt, CallOptions options = {});
  Answer ask(std::string_view user, CallOptions options = {});

  const std::unique_ptr<ConformanceSubject> subject_ = GetParam()();
};

// "3 00000000…": for each image its size and a hash of its bytes.
std::string measure_images(const std::vector<std::vector<std::uint8_t>>& images);

}  // namespace lectern::provider
