#include "job/blobs/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/async.h"
#include "job/blobs/folder_files.h"

namespace lectern::job {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;  // an upload's small pieces reach the disk together

// Paths are for our log, not for whoever sent the bytes; and a folder that vanished is no absent blob.
Error for_outside(Error error, const std::string& key) {
  switch (error.kind) {
    case ErrorKind::conflict:
      error.for_caller = fmt::format("there is a blob {} already", key);
      break;
    case ErrorKind::overloaded:
      error.for_caller = "the disk that holds the documents and results is full";
      break;
    case ErrorKind::not_found:
      error.kind = ErrorKind::unavailable;
      [[fallthrough]];
    case ErrorKind::invalid_input:
    case ErrorKind::timeout:
    case ErrorKind::cancelled:
    case ErrorKind::unavailable:
    case ErrorKind::corrupt:
    case ErrorKind::internal:
      error.for_caller = fmt::format("the blob {} could not be written", key);
      break;
  }
  return error;
}

// What the store and its writers share: a writer may be dropped after the store.
struct Shared {
  Shared(Disk& disk, fs::path root, int threads) : files(disk, std::move(root)), pool(threads) {}
  FolderFiles files;
  CpuPool pool;  // last: its threads use the files until they are joined
};

class FolderWriter final : public BlobWriter {
 public:
  FolderWriter(std::shared_ptr<Shared> shared, std::string key, PutMode mode, FolderFiles::Writing writing)
      : shared_(std::move(shared)),
        key_(std::move(key)),
        mode_(mode),
        writing_(std::make_shared<FolderFiles::Writing>(std::move(writing))) {}

  ~FolderWriter() override {
    if (writing_) shared_->pool.post([writing = std::move(writing_)] {});  // removing a large file takes a while
  }

  asio::awaitable<Status> write(std::string bytes) override {
    if (!writing_) co_return fail(ErrorKind::internal, "the blob {} is over", key_);
    if (buffer_.empty() && bytes.size() >= buffer_bytes) {
      buffer_ = std::move(bytes);
    } else {
      buffer_ += bytes;
    }
    if (buffer_.size() < buffer_bytes) co_return Status{};
    co_return co_await flush();
  }

  asio::awaitable<Result<BlobInfo>> commit() override {
    if (!writing_) co_return fail(ErrorKind::internal, "the blob {} is over", key_);
    if (auto status = co_await flush(); !status) co_return std::unexpected(status.error());
    auto work = [files = &shared_->files, writing = std::exchange(writing_, nullptr), key = key_,
                 mode = mode_]() mutable -> Result<BlobInfo> {
      auto info = files->commit(*writing, key, mode);
      writing.reset();  // here, not on the loop
      return info;
    };
    auto info = co_await shared_->pool.run(std::move(work));
    if (!info) co_return std::unexpected(for_outside(std::move(info.error()), key_));
    co_return info;
  }

 private:
  // After a failed write the blob cannot become whole any more.
  asio::awaitable<Status> flush() {
    auto work = [writing = writing_, bytes = std::exchange(buffer_, {})]() -> Status { return writing->write(bytes); };
    auto status = co_await shared_->pool.run(std::move(work));
    if (status) co_return status;
    shared_->pool.post([writing = std::exchange(writing_, nullptr)] {});
    co_return std::unexpected(for_outside(std::move(status.error()), key_));
  }

  const std::shared_ptr<Shared> shared_;
  const std::string key_;
  const PutMode mode_;
  std::shared_ptr<FolderFiles::Writing> writing_;  // shared with the thread that works on it; null = over
  std::string buffer_;
};

class FolderBlobs final : public Blobs {
 public:
  explicit FolderBlobs(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  asio::awaitable<Result<BlobInfo>> put(std::string key, std::string bytes, PutMode mode) override {
    if (!is_blob_key(key)) co_return bad_key(key);
    auto work = [files = &shared_->files, key, bytes = std::move(bytes), mode]() -> Result<BlobInfo> {
      auto writing = files->begin();
      if (!writing) return std::unexpected(writing.error());
      if (auto status = writing->write(bytes); !status) return std::unexpected(status.error());
      return files->commit(*writing, key, mode);
    };
    auto info = co_await shared_->pool.run(std::move(work));
    if (!info) co_return std::unexpected(for_outside(std::move(info.error()), key));
    co_return info;
  }

  asio::awaitable<Result<std::unique_ptr<BlobWriter>>> writer(std::string key, PutMode mode) override {
    if (!is_blob_key(key)) co_return bad_key(key);
    auto work = [files = &shared_->files] { return files->begin(); };
    auto writing = co_await shared_->pool.run(std::move(work));
    if (!writing) co_return std::unexpected(for_outside(std::move(writing.error()), key));
    co_return std::make_unique<FolderWriter>(shared_, std::move(key), mode, std::move(*writing));
  }

  asio::awaitable<Result<std::string>> get(std::string key, std::int64_t bytes_max) override {
    if (!is_blob_key(key)) co_return bad_key(key);
    auto work = [files = &shared_->files, key, bytes_max] { return files->read(key, bytes_max); };
    co_return co_await shared_->pool.run(std::move(work));
  }

  asio::awaitable<Result<std::string>> get_range(std::string key, ByteRange range) override {
    if (!is_blob_key(key)) co_return bad_key(key);
    if (range.first < 0 || range.bytes < 0) {
      co_return fail(ErrorKind::invalid_input, "{} bytes from {} of a blob: below zero", range.bytes, range.first);
    }
    auto work = [files = &shared_->files, key, range] { return files->read_range(key, range); };
    co_return co_await shared_->pool.run(std::move(work));
  }

  asio::awaitable<Result<BlobInfo>> head(std::string key) override {
    if (!is_blob_key(key)) co_return bad_key(key);
    auto work = [files = &shared_->files, key] { return files->head(key); };
    co_return co_await shared_->pool.run(std::move(work));
  }

  asio::awaitable<Status> remove(std::string key) override {
    if (!is_blob_key(key)) co_return bad_key(key);
    auto work = [files = &shared_->files, key] { return files->remove(key); };
    co_return co_await shared_->pool.run(std::move(work));
  }

  asio::awaitable<Result<Page>> list(std::string prefix, std::string from, int limit) override {
    auto work = [files = &shared_->files, prefix, from, limit = std::clamp(limit, 1, 1000)]() -> Result<Page> {
      auto page = list_folder(files->root(), prefix, from, limit);
      if (auto status = files->here(); !status) return std::unexpected(status.error());
      return page;
    };
    co_return co_await shared_->pool.run(std::move(work));
  }

  asio::awaitable<Result<UniqueFd>> open(std::string key, fs::path /*scratch*/) override {
    if (!is_blob_key(key)) co_return bad_key(key);
    auto work = [files = &shared_->files, key] { return files->open(key); };
    co_return co_await shared_->pool.run(std::move(work));
  }

  asio::awaitable<Status> check() override {
    auto work = [files = &shared_->files] { return files->check(); };
    co_return co_await shared_->pool.run(std::move(work));
  }

  std::string description() const override { return "folder " + shared_->files.root().string(); }

 private:
  const std::shared_ptr<Shared> shared_;
};

}  // namespace

Result<std::unique_ptr<Blobs>> open_folder_blobs(FolderBlobsOptions options) {
  if (auto status = options.disk->make_private_folders(options.folder); !status) return std::unexpected(status.error());
  std::error_code error;
  const fs::path root = fs::canonical(options.folder, error);
  if (error) return fail_errno(fmt::format("cannot use {} for blobs", options.folder.string()), error.value());
  auto shared = std::make_shared<Shared>(*options.disk, root, options.threads);
  if (auto status = shared->files.prepare(); !status) return std::unexpected(status.error());
  return std::make_unique<FolderBlobs>(std::move(shared));
}

}  // namespace lectern::job
