#include "job/blobs/s3_write.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <utility>
#include <vector>

namespace lectern::job {
namespace {

namespace asio = boost::asio;
using Then = S3Verdict::Then;

constexpr int parts_max = 10'000;  // of S3

Millis to_millis(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

std::string etag_of(const provider::HttpHead& head) {
  std::string_view etag = head.header("etag");
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  return std::string(etag);
}

struct Headed {
  BlobInfo info;
  std::string mark;  // of whoever wrote it
};

// The answer to HEAD has no body, so a 404 does not say what is missing: the blob, the bucket, or the server behind a
// proxy. Asking for a byte tells. Errors: not_found, or why it cannot be said.
asio::awaitable<Status> find(std::shared_ptr<S3Client> client, std::string key) {
  S3Request request{.key = std::move(key), .headers = {{"range", "bytes=0-0"}}, .answer_bytes_max = 1};
  const S3Outcome outcome = co_await client->send(std::move(request));
  if (outcome) co_return Status{};
  // It is there and empty; or more of it came than was asked for.
  const int status = outcome.error().status;
  if (status == 416 || status == 200 || status == 206) co_return Status{};
  co_return std::unexpected(outcome.error().error);
}

asio::awaitable<Result<Headed>> look_at(std::shared_ptr<S3Client> client, std::string key) {
  const S3Request request{.method = "HEAD", .key = key};
  S3Outcome outcome = co_await client->send(request);
  if (!outcome && outcome.error().status == 404) {
    if (auto found = co_await find(client, key); !found) co_return std::unexpected(found.error());
    outcome = co_await client->send(request);  // it came between the two
  }
  if (!outcome) co_return std::unexpected(outcome.error().error);
  const provider::HttpHead& head = outcome->head;
  Headed headed{.info = {.key = std::move(key), .etag = etag_of(head)},
                .mark = std::string(head.header(s3_mark_header))};
  const std::string_view size = head.header("content-length");
  const auto [stop, error] = std::from_chars(size.data(), size.data() + size.size(), headed.info.bytes);
  const auto modified = millis_from_http_date(head.header("last-modified"));
  if (error != std::errc{} || !modified || headed.info.etag.empty()) {
    co_return fail(ErrorKind::corrupt, "{}: size, date or tag is missing in its answer about {}",
                   to_string(client->place()), headed.info.key);
  }
  headed.info.modified = *modified;
  co_return headed;
}

std::unexpected<Error> taken(const std::string& key) {
  return fail(ErrorKind::conflict, "there is a blob {} already", key);
}

// There is a blob where ours should be the first: is it ours, of an attempt whose answer was lost?
asio::awaitable<Result<BlobInfo>> if_ours(std::shared_ptr<S3Client> client, std::string key, std::string mark) {
  auto headed = co_await look_at(client, key);
  if (!headed) co_return std::unexpected(headed.error());
  if (headed->mark != mark) co_return taken(key);
  co_return headed->info;
}

// Before a create_only write: whether to ask the server for the condition. Where it knows none we look ourselves.
asio::awaitable<Result<bool>> condition_for(std::shared_ptr<S3Client> client, std::string key, PutMode mode) {
  if (mode == PutMode::replace) co_return false;
  auto known = co_await client->knows_conditions();
  if (!known || *known) co_return known;
  const auto there = co_await look_at(client, key);
  if (there) co_return taken(key);
  if (there.error().kind != ErrorKind::not_found) co_return std::unexpected(there.error());
  co_return false;
}

class S3Writer final : public BlobWriter {
 public:
  S3Writer(std::shared_ptr<S3Client> client, std::string key, PutMode mode)
      : client_(std::move(client)), key_(std::move(key)), mode_(mode), mark_(client_->random_name()) {}
  ~S3Writer() override { give_up(); }

  asio::awaitable<Status> write(std::string bytes) override {
    if (over_) co_return over();
    total_ += static_cast<std::int64_t>(bytes.size());
    buffer_ += bytes;
    const auto part_bytes = static_cast<std::size_t>(client_->options().part_bytes);
    while (buffer_.size() > part_bytes) {
      auto part = std::make_shared<const std::string>(buffer_.substr(0, part_bytes));
      buffer_.erase(0, part_bytes);
      if (auto status = co_await send_part(std::move(part)); !status) {
        give_up();
        co_return status;
      }
    }
    co_return Status{};
  }

  asio::awaitable<Result<BlobInfo>> commit() override {
    if (over_) co_return over();
    if (upload_.empty()) {
      over_ = true;
      co_return co_await s3_put(client_, key_, std::move(buffer_), mode_);
    }
    auto info = co_await finish();
    if (info) {
      over_ = true;
    } else {
      give_up();
    }
    co_return info;
  }

 private:
  std::unexpected<Error> over() const { return fail(ErrorKind::internal, "the blob {} is over", key_); }

  asio::awaitable<Status> begin() {
    S3Request request{.method = "POST",
                      .key = key_,
                      .query = {{"uploads", ""}},
                      .headers = {{s3_mark_header, mark_}},
                      .body = std::make_shared<const std::string>()};
    const S3Outcome outcome = co_await client_->send(std::move(request));
    if (!outcome) co_return std::unexpected(outcome.error().error);
    auto id = s3_upload_id(outcome->body);
    if (!id) co_return std::unexpected(id.error());
    upload_ = std::move(*id);
    co_return Status{};
  }

  asio::awaitable<Status> send_part(SharedText bytes) {
    if (upload_.empty()) {
      if (auto status = co_await begin(); !status) co_return status;
    }
    const int number = static_cast<int>(parts_.size()) + 1;
    if (number > parts_max) {
      co_return fail(ErrorKind::invalid_input, "{} is larger than {} parts of {} bytes", key_, parts_max,
                     client_->options().part_bytes);
    }
    S3Request request{.method = "PUT",
                      .key = key_,
                      .query = {{"partNumber", std::to_string(number)}, {"uploadId", upload_}},
                      .body = std::move(bytes)};
    const S3Outcome outcome = co_await client_->send(std::move(request));
    if (!outcome) co_return std::unexpected(outcome.error().error);
    std::string etag = etag_of(outcome->head);
    if (etag.empty()) co_return fail(ErrorKind::corrupt, "{}: a part without a tag", to_string(client_->place()));
    parts_.push_back({.number = number, .etag = std::move(etag)});
    co_return Status{};
  }

  asio::awaitable<Result<BlobInfo>> finish() {
    if (!buffer_.empty()) {
      auto part = std::make_shared<const std::string>(std::move(buffer_));
      if (auto status = co_await send_part(std::move(part)); !status) co_return std::unexpected(status.error());
    }
    auto condition = co_await condition_for(client_, key_, mode_);
    if (!condition) co_return std::unexpected(condition.error());
    S3Outcome outcome = co_await complete(*condition);
    if (!outcome && outcome.error().verdict.then == Then::unsupported) {
      client_->forget_conditions();
      condition = co_await condition_for(client_, key_, mode_);
      if (!condition) co_return std::unexpected(condition.error());
      outcome = co_await complete(false);
    }
    // An upload that is not known any more may be one that was completed by an attempt whose answer was lost.
    const bool unsure = !outcome && (outcome.error().verdict.then == Then::look ||
                                     outcome.error().verdict.kind == ErrorKind::not_found);
    if (!outcome && !unsure) co_return std::unexpected(outcome.error().error);
    auto headed = co_await look_at(client_, key_);
    if (!headed && headed.error().kind == ErrorKind::not_found) {
      co_return fail(ErrorKind::unavailable, "{}: the upload of {} is gone", to_string(client_->place()), key_);
    }
    if (!headed) co_return std::unexpected(headed.error());
    if (headed->mark != mark_ && mode_ == PutMode::create_only) co_return taken(key_);
    if (headed->mark != mark_) {  // an older one, or somebody else has replaced ours at once
      co_return fail(ErrorKind::unavailable, "{}: {} is not what was uploaded", to_string(client_->place()), key_);
    }
    if (headed->info.bytes != total_) {
      co_return fail(ErrorKind::corrupt, "{}: {} has {} bytes instead of {}", to_string(client_->place()), key_,
                     headed->info.bytes, total_);
    }
    co_return headed->info;
  }

  asio::awaitable<S3Outcome> complete(bool conditional) {
    S3Request request{.method = "POST",
                      .key = key_,
                      .query = {{"uploadId", upload_}},
                      .body = std::make_shared<const std::string>(s3_complete_body(parts_)),
                      .conditional = conditional};
    return client_->send(std::move(request));
  }

  static asio::awaitable<void> abort(std::shared_ptr<S3Client> client, std::string key, std::string upload) {
    S3Request request{.method = "DELETE", .key = std::move(key), .query = {{"uploadId", std::move(upload)}}};
    // An upload that cannot be aborted stays until the bucket's own rule removes it: docs/blobs.md.
    std::ignore = co_await client->send(std::move(request));
  }

  void give_up() {
    if (std::exchange(over_, true) || upload_.empty()) return;
    asio::co_spawn(client_->seams().executor, abort(client_, key_, upload_), asio::detached);
  }

  const std::shared_ptr<S3Client> client_;  // an upload that is given up outlives the store
  const std::string key_;
  const PutMode mode_;
  const std::string mark_;
  std::string buffer_;  // at most a part and what was written last
  std::int64_t total_ = 0;
  std::string upload_;  // empty = not begun: small blobs need none
  std::vector<S3Part> parts_;
  bool over_ = false;
};

}  // namespace

asio::awaitable<Result<BlobInfo>> s3_head(std::shared_ptr<S3Client> client, std::string key) {
  auto headed = co_await look_at(std::move(client), std::move(key));
  if (!headed) co_return std::unexpected(headed.error());
  co_return headed->info;
}

asio::awaitable<Result<BlobInfo>> s3_put(std::shared_ptr<S3Client> client, std::string key, std::string bytes,
                                         PutMode mode) {
  const std::string mark = client->random_name();
  S3Request request{.method = "PUT", .key = key, .headers = {{s3_mark_header, mark}}};
  BlobInfo info{.key = key, .bytes = static_cast<std::int64_t>(bytes.size())};
  request.body = std::make_shared<const std::string>(std::move(bytes));
  for (;;) {
    auto condition = co_await condition_for(client, key, mode);
    if (!condition) co_return std::unexpected(condition.error());
    request.conditional = *condition;
    const S3Outcome outcome = co_await client->send(request);
    if (!outcome && outcome.error().verdict.then == Then::look) co_return co_await if_ours(client, key, mark);
    if (!outcome && outcome.error().verdict.then == Then::unsupported) {
      client->forget_conditions();
      continue;
    }
    if (!outcome) co_return std::unexpected(outcome.error().error);
    info.etag = etag_of(outcome->head);
    if (info.etag.empty()) co_return co_await s3_head(client, key);
    info.modified =
        millis_from_http_date(outcome->head.header("date")).value_or(to_millis(client->seams().timers->clock().wall()));
    co_return info;
  }
}

std::unique_ptr<BlobWriter> make_s3_writer(std::shared_ptr<S3Client> client, std::string key, PutMode mode) {
  return std::make_unique<S3Writer>(std::move(client), std::move(key), mode);
}

}  // namespace lectern::job
