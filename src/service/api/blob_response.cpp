#include "service/api/blob_response.h"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

asio::awaitable<Answer> blob_response(ApiContext* api, http::ExchangePtr exchange, std::string key, BlobDress dress) {
  const http::Request& request = exchange->request();
  auto info = co_await api->parts.blobs.head(key);
  if (!info) {
    Problem problem = problem_of(info.error());
    if (info.error().kind == ErrorKind::not_found) problem.detail = dress.missing;
    co_return std::unexpected(std::move(problem));
  }
  http::Response response;
  response.fields.add("ETag", info->etag);
  response.fields.add("Cache-Control", "private, no-cache");
  response.fields.add("Accept-Ranges", "bytes");
  response.fields.add("Last-Modified", http::http_date(WallTime(std::chrono::milliseconds(info->modified))));
  const bool reading = request.method == "GET" || request.method == "HEAD";  // else it is a result of what was sent
  if (reading && http::has_version(request.fields, info->etag)) {
    response.status = 304;
    co_return response;
  }
  using Kind = http::RangePlan::Kind;
  // Ranges are for GET alone.
  const auto plan =
      request.method == "GET" ? http::plan_range(request.fields, info->bytes, info->etag) : http::RangePlan{};
  if (plan.kind == Kind::outside) {
    http::Response refused = http::problem_response(
        {.code = ProblemCode::range_not_satisfiable, .detail = fmt::format("there are {} bytes", info->bytes)},
        request.id);
    refused.fields.add("Content-Range", fmt::format("bytes */{}", info->bytes));
    co_return refused;
  }
  const http::ByteSpan span = plan.kind == Kind::part ? plan.span : http::ByteSpan{0, info->bytes};
  response.fields.add("Content-Type", std::move(dress.content_type));
  if (!dress.disposition.empty()) response.fields.add("Content-Disposition", std::move(dress.disposition));
  // What comes from documents runs nothing and loads nothing in a browser.
  response.fields.add("Content-Security-Policy",
                      "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'");
  if (plan.kind == Kind::part) {
    response.status = 206;
    response.fields.add("Content-Range",
                        fmt::format("bytes {}-{}/{}", span.first, span.first + span.bytes - 1, info->bytes));
  }
  response.source = std::make_unique<BlobSource>(api->parts.blobs, std::move(key), span);
  response.source_bytes = span.bytes;
  co_return response;
}

}  // namespace lectern::service
