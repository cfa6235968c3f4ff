#include "service/http/request_parser.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>

#include <charconv>

#include "service/http/head_rules.h"

namespace lectern::service::http {
namespace {

namespace beast = boost::beast;

// An absolute target as a path: "http://host/x?y" → "/x?y". broken_rule() has compared the host with Host.
std::string origin_form(std::string_view target) {
  if (target.starts_with('/') || target == "*") return std::string(target);
  const std::size_t start = target.find_first_of("/?", target.find("//") + 2);
  if (start == std::string_view::npos) return "/";
  return (target[start] == '?' ? "/" : "") + std::string(target.substr(start));
}

RequestHead head_of(const beast::http::request_parser<beast::http::buffer_body>& parser) {
  const auto& message = parser.get();
  RequestHead head{.method = std::string(message.method_string()),
                   .target = origin_form(std::string_view(message.target())),
                   .http11 = message.version() == 11,
                   .keep_alive = message.keep_alive()};
  for (const auto& field : message) head.fields.add(std::string(field.name_string()), std::string(field.value()));
  head.expects_continue = head.http11 && head.fields.find("expect").has_value();
  if (const auto length = head.fields.find("content-length")) {
    std::int64_t bytes = 0;
    std::from_chars(length->data(), length->data() + length->size(), bytes);
    head.content_length = bytes;
  }
  head.has_body = parser.chunked() || head.content_length.value_or(0) > 0;
  return head;
}

}  // namespace

struct RequestParser::Impl {
  beast::http::request_parser<beast::http::buffer_body> parser;
};

RequestParser::RequestParser() : impl_(std::make_unique<Impl>()) {
  impl_->parser.header_limit(2 * head_bytes_max);  // the limit is ours, below
  impl_->parser.body_limit(boost::none);           // the reader's
}

RequestParser::~RequestParser() = default;

std::expected<std::optional<std::size_t>, Problem> RequestParser::read_head(std::string_view bytes) {
  // Some clients end a body with an empty line that is not part of it: one is passed over.
  const std::size_t skipped = bytes.starts_with("\r\n") ? 2 : 0;
  std::string_view head = bytes.substr(skipped);
  const std::size_t end = head.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    if (head.size() > target_bytes_max + 128 && !head.contains('\n')) {
      return std::unexpected(Problem{.code = ProblemCode::uri_too_long});
    }
    if (head.size() >= head_bytes_max) return std::unexpected(Problem{.code = ProblemCode::headers_too_large});
    if (!could_be_head(head)) {
      return std::unexpected(Problem{.code = ProblemCode::bad_request, .detail = "this is not a request of HTTP/1.1"});
    }
    return std::nullopt;
  }
  if (end + 4 > head_bytes_max) return std::unexpected(Problem{.code = ProblemCode::headers_too_large});
  head = head.substr(0, end + 4);
  if (auto broken = broken_rule(head)) return std::unexpected(std::move(*broken));
  boost::system::error_code error;
  impl_->parser.put(boost::asio::buffer(head.data(), head.size()), error);
  if (error && error != beast::http::error::need_more) {
    return std::unexpected(Problem{.code = ProblemCode::bad_request, .detail = error.message()});
  }
  if (!impl_->parser.is_header_done()) {
    return std::unexpected(Problem{.code = ProblemCode::bad_request, .detail = "the head ends too early"});
  }
  head_ = head_of(impl_->parser);
  done_ = impl_->parser.is_done() || !head_.has_body;
  impl_->parser.eager(true);
  return skipped + head.size();
}

std::expected<std::size_t, Problem> RequestParser::read_body(std::string_view bytes, std::string& out,
                                                             std::size_t room) {
  auto& parser = impl_->parser;
  const std::size_t before = out.size();
  out.resize(before + room);
  auto& body = parser.get().body();
  body.data = out.data() + before;
  body.size = room;
  body.more = true;
  std::size_t taken = 0;
  boost::system::error_code error;
  while (taken < bytes.size() && !parser.is_done() && !error) {
    const std::size_t step = parser.put(boost::asio::buffer(bytes.data() + taken, bytes.size() - taken), error);
    taken += step;
    if (step == 0 && !error) break;
  }
  out.resize(before + room - body.size);
  body.data = nullptr;
  body.size = 0;
  done_ = parser.is_done();
  if (error && error != beast::http::error::need_more && error != beast::http::error::need_buffer) {
    return std::unexpected(
        Problem{.code = ProblemCode::bad_request, .detail = "the chunks of the body are broken: " + error.message()});
  }
  // The line before a chunk and what may follow the last one must end some time.
  if (taken == 0 && bytes.size() >= head_bytes_max && out.size() == before && !done_) {
    return std::unexpected(Problem{.code = ProblemCode::bad_request, .detail = "the line of a chunk is too long"});
  }
  return taken;
}

}  // namespace lectern::service::http
