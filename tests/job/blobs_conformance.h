// What every store of blobs must do, as one suite. A store takes part by
// INSTANTIATE_TEST_SUITE_P(Name, BlobsConformance, testing::Values(BlobsCase{…})) in a program that has
// blobs_conformance.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "job/blobs.h"
#include "run_coroutine.h"
#include "temp_folder.h"

namespace lectern::job {

struct BlobsCase {
  std::string name;
  // A store without blobs.
  std::function<std::unique_ptr<Blobs>(boost::asio::io_context& loop, const TempFolder& folder)> open;
};

// Any text, for a failure's message.
inline std::string why(const Error& error) {
  return std::string(to_string(error.kind)) + ": " + error.for_log;
}
template <class T>
std::string why(const Result<T>& result) {
  return result ? "ok" : why(result.error());
}
template <class T>
std::optional<ErrorKind> kind(const Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error().kind);
}

class BlobsConformance : public testing::TestWithParam<BlobsCase> {
 protected:
  void SetUp() override {
    blobs_ = GetParam().open(loop_, folder_);
    ASSERT_NE(blobs_, nullptr);
  }

  template <class T>
  T run(boost::asio::awaitable<T> coroutine) {
    return run_coroutine(loop_, std::move(coroutine));
  }
  Result<BlobInfo> put(std::string key, std::string bytes, PutMode mode = PutMode::replace) {
    return run(blobs_->put(std::move(key), std::move(bytes), mode));
  }
  Result<std::string> get(std::string key) { return run(blobs_->get(std::move(key), 100 << 20)); }

  TempFolder folder_;
  boost::asio::io_context loop_;
  std::unique_ptr<Blobs> blobs_;
};

}  // namespace lectern::job
