#include "job/blobs/s3.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "job/blobs/s3_write.h"

namespace lectern::job {
namespace {

namespace asio = boost::asio;

constexpr std::int64_t list_bytes_max = 8 << 20;
constexpr std::int64_t copy_bytes = 8 << 20;  // at a time, into a private copy
constexpr int copy_attempts_max = 3;          // of a blob that is replaced while it is copied

asio::awaitable<Result<std::string>> read_range(std::shared_ptr<S3Client> client, std::string key, ByteRange range,
                                                std::string etag) {
  S3Request request{.key = key,
                    .headers = {{"range", fmt::format("bytes={}-{}", range.first, range.first + range.bytes - 1)}},
                    .answer_bytes_max = range.bytes};
  if (!etag.empty()) request.headers.emplace_back("if-match", std::move(etag));
  S3Outcome outcome = co_await client->send(std::move(request));
  if (!outcome && outcome.error().status == 416) co_return std::string();
  if (!outcome) co_return std::unexpected(outcome.error().error);
  const bool whole = outcome->head.status == 200 && range.first == 0;  // allowed, where it is all there is
  if (!whole && !outcome->head.header("content-range").starts_with(fmt::format("bytes {}-", range.first))) {
    co_return fail(ErrorKind::corrupt, "{}: other bytes of {} than it was asked for", to_string(client->place()), key);
  }
  co_return std::move(outcome->body);
}

class S3Blobs final : public Blobs {
 public:
  explicit S3Blobs(std::shared_ptr<S3Client> client) : client_(std::move(client)) {}

  asio::awaitable<Result<BlobInfo>> put(std::string key, std::string bytes, PutMode mode) override {
    if (!is_blob_key(key)) co_return bad_key(key);
    if (static_cast<std::int64_t>(bytes.size()) <= client_->options().part_bytes) {
      co_return co_await s3_put(client_, std::move(key), std::move(bytes), mode);
    }
    const auto writer = make_s3_writer(client_, std::move(key), mode);
    if (auto status = co_await writer->write(std::move(bytes)); !status) co_return std::unexpected(status.error());
    co_return co_await writer->commit();
  }

  asio::awaitable<Result<std::unique_ptr<BlobWriter>>> writer(std::string key, PutMode mode) override {
    if (!is_blob_key(key)) co_return bad_key(key);
    co_return make_s3_writer(client_, std::move(key), mode);
  }

  asio::awaitable<Result<std::string>> get(std::string key, std::int64_t bytes_max) override {
    if (!is_blob_key(key)) co_return bad_key(key);
    S3Request request{.key = std::move(key), .answer_bytes_max = bytes_max};
    S3Outcome outcome = co_await client_->send(std::move(request));
    if (!outcome) co_return std::unexpected(outcome.error().error);
    co_return std::move(outcome->body);
  }

  asio::awaitable<Result<std::string>> get_range(std::string key, ByteRange range) override {
    if (!is_blob_key(key)) co_return bad_key(key);
    if (range.first < 0 || range.bytes < 0) {
      co_return fail(ErrorKind::invalid_input, "{} bytes from {} of a blob: below zero", range.bytes, range.first);
    }
    if (range.bytes > 0) co_return co_await read_range(client_, std::move(key), range, "");
    const auto there = co_await s3_head(client_, std::move(key));
    if (!there) co_return std::unexpected(there.error());
    co_return std::string();
  }

  asio::awaitable<Result<BlobInfo>> head(std::string key) override {
    if (!is_blob_key(key)) co_return bad_key(key);
    co_return co_await s3_head(client_, std::move(key));
  }

  asio::awaitable<Status> remove(std::string key) override {
    if (!is_blob_key(key)) co_return bad_key(key);
    S3Request request{.method = "DELETE", .key = std::move(key)};
    const S3Outcome outcome = co_await client_->send(std::move(request));
    if (outcome || outcome.error().verdict.kind == ErrorKind::not_found) co_return Status{};
    co_return std::unexpected(outcome.error().error);
  }

  asio::awaitable<Result<Page>> list(std::string prefix, std::string from, int limit) override {
    S3Request request{.query = {{"list-type", "2"},
                                {"max-keys", std::to_string(std::clamp(limit, 1, 1000))},
                                {"prefix", client_->place().prefix + prefix}},
                      .answer_bytes_max = list_bytes_max};
    if (!from.empty()) request.query.emplace_back("continuation-token", std::move(from));
    const S3Outcome outcome = co_await client_->send(std::move(request));
    if (!outcome) co_return std::unexpected(outcome.error().error);
    co_return s3_list_page(outcome->body, client_->place().prefix);
  }

  // Piece by piece, so that memory stays small and a cut connection costs a piece; the tag holds them together.
  asio::awaitable<Result<UniqueFd>> open(std::string key, std::filesystem::path scratch) override {
    if (!is_blob_key(key)) co_return bad_key(key);
    for (int attempt = 1;; ++attempt) {
      auto info = co_await s3_head(client_, key);
      if (!info) co_return std::unexpected(info.error());
      auto copied = co_await copy(*info, scratch);
      if (copied || copied.error().kind != ErrorKind::conflict || attempt == copy_attempts_max) co_return copied;
    }
  }

  asio::awaitable<Status> check() override {
    S3Request request{
        .method = "PUT", .key = s3_check_key, .body = std::make_shared<const std::string>("lectern"), .quick = true};
    const S3Outcome outcome = co_await client_->send(std::move(request));
    if (!outcome) co_return std::unexpected(outcome.error().error);
    co_return Status{};
  }

  std::string description() const override { return to_string(client_->place()); }

 private:
  asio::awaitable<Result<UniqueFd>> copy(BlobInfo info, std::filesystem::path scratch) {
    auto make = [scratch] { return nameless_file(scratch); };
    auto fd = co_await client_->pool().run(std::move(make));
    if (!fd) co_return fd;
    const auto file = std::make_shared<UniqueFd>(std::move(*fd));  // also of the thread that writes to it
    for (std::int64_t at = 0; at < info.bytes; at += copy_bytes) {
      const ByteRange range{at, std::min(copy_bytes, info.bytes - at)};
      auto piece = co_await read_range(client_, info.key, range, info.etag);
      if (!piece) co_return std::unexpected(piece.error());
      if (static_cast<std::int64_t>(piece->size()) != range.bytes) {
        co_return fail(ErrorKind::corrupt, "{}: a piece of {} is too short", description(), info.key);
      }
      auto write = [file, disk = client_->seams().disk, bytes = std::move(*piece), scratch] {
        return disk->write_all(file->get(), bytes, scratch);
      };
      if (auto status = co_await client_->pool().run(std::move(write)); !status)
        co_return std::unexpected(status.error());
    }
    ::lseek(file->get(), 0, SEEK_SET);
    co_return std::move(*file);
  }

  const std::shared_ptr<S3Client> client_;  // shared with writers, whose given-up uploads outlive the store
};

}  // namespace

std::unique_ptr<Blobs> make_s3_blobs(S3Place place, S3Options options, S3Seams seams) {
  return std::make_unique<S3Blobs>(std::make_shared<S3Client>(std::move(place), options, std::move(seams)));
}

}  // namespace lectern::job
