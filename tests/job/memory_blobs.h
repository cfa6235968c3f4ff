// Blobs in memory, which can be away, be full, or lose an answer.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "job/blobs.h"

namespace lectern::job {

class MemoryBlobs final : public Blobs {
 public:
  boost::asio::awaitable<Result<BlobInfo>> put(std::string key, std::string bytes, PutMode mode) override {
    co_return store(key, std::move(bytes), mode);
  }
  boost::asio::awaitable<Result<std::unique_ptr<BlobWriter>>> writer(std::string key, PutMode mode) override {
    if (failure) co_return std::unexpected(*failure);
    co_return std::make_unique<Writer>(*this, std::move(key), mode);
  }
  boost::asio::awaitable<Result<std::string>> get(std::string key, std::int64_t bytes_max) override {
    ++gets;
    const auto found = find(key);
    if (!found) co_return std::unexpected(found.error());
    if (std::cmp_greater((*found)->size(), bytes_max)) co_return fail(ErrorKind::invalid_input, "{} is too large", key);
    co_return **found;
  }
  boost::asio::awaitable<Result<std::string>> get_range(std::string key, ByteRange range) override {
    const auto found = find(key);
    if (!found) co_return std::unexpected(found.error());
    co_return (*found)->substr(static_cast<std::size_t>(range.first), static_cast<std::size_t>(range.bytes));
  }
  boost::asio::awaitable<Result<BlobInfo>> head(std::string key) override {
    const auto found = find(key);
    if (!found) co_return std::unexpected(found.error());
    co_return info(key);
  }
  boost::asio::awaitable<Status> remove(std::string key) override {
    if (auto here = is_here(); !here) co_return here;
    blobs.erase(key);
    if (on_remove) std::exchange(on_remove, {})(key);
    co_return Status{};
  }
  boost::asio::awaitable<Result<Page>> list(std::string prefix, std::string from, int limit) override {
    if (auto here = is_here(); !here) co_return std::unexpected(here.error());
    Page page;
    for (auto at = blobs.lower_bound(std::max(prefix, from)); at != blobs.end(); ++at) {
      if (!at->first.starts_with(prefix)) break;
      if (std::cmp_equal(page.blobs.size(), limit)) {
        page.next = at->first;
        break;
      }
      page.blobs.push_back(info(at->first));
    }
    co_return page;
  }
  boost::asio::awaitable<Result<UniqueFd>> open(std::string key, std::filesystem::path) override {
    ++opens;
    const auto found = find(key);
    if (!found) co_return std::unexpected(found.error());
    UniqueFd fd(::memfd_create("blob", MFD_CLOEXEC));
    if (::write(fd.get(), (*found)->data(), (*found)->size()) < 0) co_return fail(ErrorKind::internal, "memfd");
    co_return fd;
  }
  boost::asio::awaitable<Status> check() override { co_return failure ? Status(std::unexpected(*failure)) : Status{}; }
  std::string description() const override { return "memory"; }

  std::map<std::string, std::string> blobs;
  std::optional<Error> failure;   // of every call, while set
  std::optional<int> calls_left;  // of list and remove; then it is away
  Millis now = 0;                 // when what is written now was modified
  std::map<std::string, Millis> modified;
  std::function<void(const std::string& key)> on_remove;  // once
  int opens = 0;
  int gets = 0;

 private:
  Status is_here() {
    if (failure) return std::unexpected(*failure);
    if (calls_left && (*calls_left)-- <= 0) return fail(ErrorKind::unavailable, "away");
    return {};
  }

  struct Writer final : BlobWriter {
    Writer(MemoryBlobs& b, std::string k, PutMode m) : owner(b), key(std::move(k)), mode(m) {}
    boost::asio::awaitable<Status> write(std::string more) override {
      if (owner.failure) co_return std::unexpected(*owner.failure);
      bytes += more;
      co_return Status{};
    }
    boost::asio::awaitable<Result<BlobInfo>> commit() override { co_return owner.store(key, std::move(bytes), mode); }

    MemoryBlobs& owner;
    const std::string key;
    const PutMode mode;
    std::string bytes;
  };

  Result<BlobInfo> store(const std::string& key, std::string bytes, PutMode mode) {
    if (failure) return std::unexpected(*failure);
    if (mode == PutMode::create_only && blobs.contains(key)) return fail(ErrorKind::conflict, "{} is there", key);
    blobs[key] = std::move(bytes);
    modified[key] = now;
    return info(key);
  }
  Result<const std::string*> find(const std::string& key) const {
    if (failure) return std::unexpected(*failure);
    const auto at = blobs.find(key);
    if (at == blobs.end()) return fail(ErrorKind::not_found, "there is no blob {}", key);
    return &at->second;
  }
  BlobInfo info(const std::string& key) const {
    return {.key = key, .bytes = static_cast<std::int64_t>(blobs.at(key).size()), .modified = modified.at(key)};
  }
};

}  // namespace lectern::job
