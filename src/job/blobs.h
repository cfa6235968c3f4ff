// Where bytes live: originals, page results, page images, results. One contract, two stores: a folder (write, fsync,
// rename, fsync of the folder) and S3. Keys look like paths: segments of [A-Za-z0-9._-] joined by '/', never "." or
// ".."; no key is the folder of another ("a" and "a/b"). open_blobs.h opens a store by URL.
//
// What is put is durable when put() returns. A key is written once: jobs name what they write by lease token, so that
// two workers never write the same key, and create_only catches the rest.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "job/model.h"

namespace lectern::job {

struct BlobInfo {
  std::string key;
  std::int64_t bytes = 0;
  Millis modified = 0;
  std::string etag;  // quoted, as HTTP wants it; strong: equal tags, equal bytes
};

struct ByteRange {
  std::int64_t first = 0;
  std::int64_t bytes = 0;
};

enum class PutMode : std::uint8_t { replace, create_only };

// Bytes that arrive bit by bit (an upload). Nothing is visible before commit(); dropping it leaves nothing behind.
class BlobWriter {
 public:
  virtual ~BlobWriter() = default;
  virtual boost::asio::awaitable<Status> write(std::string bytes) = 0;
  virtual boost::asio::awaitable<Result<BlobInfo>> commit() = 0;
};

// Calls may overlap. Errors: not_found; conflict (create_only and it is there); overloaded (no space left: the caller
// answers 507); unavailable (the store does not answer; after a few retries of its own); cancelled.
class Blobs {
 public:
  virtual ~Blobs() = default;

  virtual boost::asio::awaitable<Result<BlobInfo>> put(std::string key, std::string bytes, PutMode mode) = 0;
  virtual boost::asio::awaitable<Result<std::unique_ptr<BlobWriter>>> writer(std::string key, PutMode mode) = 0;
  // Refuses more than `bytes_max` (overloaded is not it: invalid_input).
  virtual boost::asio::awaitable<Result<std::string>> get(std::string key, std::int64_t bytes_max) = 0;
  // Less where the blob ends before.
  virtual boost::asio::awaitable<Result<std::string>> get_range(std::string key, ByteRange range) = 0;
  virtual boost::asio::awaitable<Result<BlobInfo>> head(std::string key) = 0;
  // Absent is fine.
  virtual boost::asio::awaitable<Status> remove(std::string key) = 0;
  struct Page {
    std::vector<BlobInfo> blobs;
    std::string next;  // empty = the last page
  };
  // Keys that begin with `prefix`, in their order, at most `limit` (1 to 1000). `from`: `next` of the page before.
  virtual boost::asio::awaitable<Result<Page>> list(std::string prefix, std::string from, int limit) = 0;
  // The bytes as a file that can be read and mapped: the blob itself, or a private copy in `scratch` that is gone when
  // the descriptor is closed.
  virtual boost::asio::awaitable<Result<UniqueFd>> open(std::string key, std::filesystem::path scratch) = 0;
  // Whether it answers and takes writes, for /health/ready and `lectern doctor`.
  virtual boost::asio::awaitable<Status> check() = 0;
  virtual std::string description() const = 0;  // without secrets
};

// True for keys as described above, at most 512 bytes.
bool is_blob_key(std::string_view key);
[[nodiscard]] std::unexpected<Error> bad_key(std::string_view key);  // what every store says of others

}  // namespace lectern::job
