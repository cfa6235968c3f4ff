// The originals of jobs, opened in the renderer and kept open from page to page. One that nobody reads any more is
// closed after a while, or when too many wait: each holds a descriptor, and with S3 a copy on the disk.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/timers.h"
#include "base/unique_fd.h"
#include "document/renderer_pool.h"
#include "job/blobs.h"
#include "job/model.h"

namespace lectern::job {

struct JobDocumentsOptions {
  std::filesystem::path scratch;  // for copies of blobs that are not files
  std::size_t idle_max = 8;       // that are kept open though nobody reads them
  std::chrono::seconds idle_time{20};
};

// Who failed tells what becomes of the task.
struct OpenFailure {
  enum class Of : std::uint8_t { blobs, document };
  Of of = Of::blobs;
  Error error;
};

// Not thread safe: all calls come from one event loop thread. Blobs and timers are borrowed.
class JobDocuments {
 public:
  using Opened = std::expected<std::shared_ptr<document::OpenDocument>, OpenFailure>;
  using Opener = std::function<boost::asio::awaitable<Result<std::shared_ptr<document::OpenDocument>>>(
      UniqueFd fd, std::string name, std::string password)>;

  JobDocuments(Blobs& blobs, Timers& timers, Opener opener, JobDocumentsOptions options);

  // Opened once, however many ask at the same time. Holding the pointer keeps it open.
  boost::asio::awaitable<Opened> open(Job job);

  // Closes what nobody has read for a while: call it now and then.
  void close_idle();
  bool empty() const { return entries_.empty(); }

 private:
  struct Entry;
  boost::asio::awaitable<Opened> open_original(Job job);
  void close_idle_until(std::size_t idle_max);

  Blobs& blobs_;
  Timers& timers_;
  const Opener opener_;
  const JobDocumentsOptions options_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;  // by job; shared with those who wait for the opening
};

}  // namespace lectern::job
