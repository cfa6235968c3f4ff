// Signed requests to one bucket, with retries: what S3Blobs and its writers talk through. Calls may overlap.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/async.h"
#include "base/cancellation.h"
#include "base/disk.h"
#include "base/random.h"
#include "base/timers.h"
#include "job/blobs/s3_answers.h"
#include "job/blobs/s3_url.h"
#include "provider/http_client.h"

namespace lectern::job {

struct S3Options {
  int attempts_max = 5;                        // with backoff between: about as long as a server's restart
  std::chrono::seconds patience{20};           // after so long nothing is tried again: somebody waits for an answer
  std::chrono::seconds stall_timeout{10};      // not a byte for so long: the connection is given up
  std::chrono::seconds answer_timeout{60};     // of one attempt, and
  std::int64_t bytes_per_second_min = 50'000;  // so much more for what it sends and gets
  std::int64_t part_bytes = 8 << 20;           // of an upload in parts; S3 wants at least 5 MiB
};

struct S3Seams {
  std::shared_ptr<provider::HttpClient> http;
  boost::asio::any_io_executor executor;
  Timers* timers = nullptr;   // borrowed
  Disk* disk = &real_disk();  // borrowed: for private copies
  Cancellation over = {};     // once requested, calls end at once, as cancelled
};

using SharedText = std::shared_ptr<const std::string>;

struct S3Request {
  std::string method = "GET";
  std::string key;  // a blob's, or empty: the bucket itself
  NameValues query = {};
  NameValues headers = {};  // names in lower case
  SharedText body = {};
  std::int64_t answer_bytes_max = 1 << 20;  // more is an error (invalid_input)
  bool conditional = false;                 // create_only: adds If-None-Match
  bool quick = false;                       // one attempt, soon over: whoever asks wants to know, not to have it done
};

struct S3Answer {
  provider::HttpHead head;
  std::string body;
};
// Why there is no answer, and what may be done about it.
struct S3Refusal {
  S3Verdict verdict;
  int status = 0;  // 0: no answer at all
  Error error;
};
using S3Outcome = std::expected<S3Answer, S3Refusal>;

class S3Client {
 public:
  S3Client(S3Place place, S3Options options, S3Seams seams);

  // Success: 200, 204, 206. Temporary failures are tried again.
  boost::asio::awaitable<S3Outcome> send(S3Request request);

  // Does the server honour If-None-Match? Asked once, by a blob named "check" that stays.
  boost::asio::awaitable<Result<bool>> knows_conditions();
  void forget_conditions() { conditions_ = Conditions::ignored; }

  const S3Place& place() const { return place_; }
  const S3Options& options() const { return options_; }
  const S3Seams& seams() const { return seams_; }
  CpuPool& pool() { return pool_; }
  std::string random_name();

 private:
  enum class Conditions : std::uint8_t { unknown, honoured, ignored };

  boost::asio::awaitable<S3Outcome> attempt(S3Request request, std::string body_sha256);
  provider::HttpRequest signed_request(const S3Request& request, const std::string& body_sha256) const;
  S3Refusal refusal_of(const provider::Failure& failure) const;

  const S3Place place_;
  const S3Options options_;
  const S3Seams seams_;
  SystemRandom random_;
  std::atomic<Conditions> conditions_ = Conditions::unknown;
  CpuPool pool_;  // hashes and private copies
};

// "check": written to see whether the store takes writes.
inline constexpr const char* s3_check_key = "check";

}  // namespace lectern::job
