#include "service/api/blob_response.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/hash.h"
#include "service/http/range.h"
#include "service/http/response_head.h"

namespace lectern::service {
namespace {

namespace asio = boost::asio;

constexpr std::int64_t piece_bytes = 64 * 1024;

class BlobSource final : public http::BodySource {
 public:
  BlobSource(job::Blobs& blobs, std::string key, http::ByteSpan span)
      : blobs_(blobs), key_(std::move(key)), left_(span) {}

  asio::awaitable<Result<std::string>> next() override {
    if (left_.bytes == 0) co_return std::string();
    const job::ByteRange range{.first = left_.first, .bytes = std::min(left_.bytes, piece_bytes)};
    auto piece = co_await blobs_.get_range(key_, range);
    if (!piece) co_return piece;
    if (static_cast<std::int64_t>(piece->size()) != range.bytes) {
      co_return fail(ErrorKind::corrupt, "the blob {} is shorter than it was", key_);
    }
    left_.first += range.bytes;
    left_.bytes -= range.bytes;
    co_return piece;
  }

 private:
  job::Blobs& blobs_;
  const std::string key_;
  http::ByteSpan left_;
};

// What a client is to be told about a body that has this tag, and which part of it to send.
struct Dressed {
  http::Response response;
  std::optional<http::ByteSpan> span;  // nullopt: the response is whole as it is
};

Dressed dressed(const http::Request& request, const std::string& etag, std::int64_t bytes, BlobDress dress) {
  http::Response response;
  response.fields.add("ETag", etag);
  response.fields.add("Cache-Control", "private, no-cache");
  response.fields.add("Accept-Ranges", "bytes");
  if (dress.modified) response.fields.add("Last-Modified", http::http_date(*dress.modified));
  const bool reading = request.method == "GET" || request.method == "HEAD";  // else it is a result of what was sent
  if (reading && http::has_version(request.fields, etag)) {
    response.status = 304;
    return {std::move(response), std::nullopt};
  }
  using Kind = http::RangePlan::Kind;
  // Ranges are for GET alone.
  const auto plan = request.method == "GET" ? http::plan_range(request.fields, bytes, etag) : http::RangePlan{};
  if (plan.kind == Kind::outside) {
    http::Response refused = http::problem_response(
        {.code = ProblemCode::range_not_satisfiable, .detail = fmt::format("there are {} bytes", bytes)}, request.id);
    refused.fields.add("Content-Range", fmt::format("bytes */{}", bytes));
    return {std::move(refused), std::nullopt};
  }
  const http::ByteSpan span = plan.kind == Kind::part ? plan.span : http::ByteSpan{0, bytes};
  response.fields.add("Content-Type", std::move(dress.content_type));
  if (!dress.disposition.empty()) response.fields.add("Content-Disposition", std::move(dress.disposition));
  // What comes from documents runs nothing and loads nothing in a browser.
  response.fields.add("Content-Security-Policy",
                      "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'");
  if (plan.kind == Kind::part) {
    response.status = 206;
    response.fields.add("Content-Range", fmt::format("bytes {}-{}/{}", span.first, span.first + span.bytes - 1, bytes));
  }
  return {std::move(response), span};
}

}  // namespace

asio::awaitable<Answer> blob_response(ApiContext* api, http::ExchangePtr exchange, std::string key, BlobDress dress) {
  auto info = co_await api->parts.blobs.head(key);
  if (!info) {
    Problem problem = problem_of(info.error());
    if (info.error().kind == ErrorKind::not_found) problem.detail = dress.missing;
    co_return std::unexpected(std::move(problem));
  }
  dress.modified = WallTime(std::chrono::milliseconds(info->modified));
  Dressed answer = dressed(exchange->request(), info->etag, info->bytes, std::move(dress));
  if (answer.span) {
    answer.response.source = std::make_unique<BlobSource>(api->parts.blobs, std::move(key), *answer.span);
    answer.response.source_bytes = answer.span->bytes;
  }
  co_return std::move(answer.response);
}

http::Response made_response(const http::Request& request, std::string bytes, BlobDress dress) {
  const std::string etag = fmt::format("\"{}\"", sha256_hex(bytes));
  Dressed answer = dressed(request, etag, static_cast<std::int64_t>(bytes.size()), std::move(dress));
  if (answer.span) {
    answer.response.body = std::move(bytes);
    answer.response.body.erase(0, static_cast<std::size_t>(answer.span->first));
    answer.response.body.resize(static_cast<std::size_t>(answer.span->bytes));
  }
  return std::move(answer.response);
}

}  // namespace lectern::service
