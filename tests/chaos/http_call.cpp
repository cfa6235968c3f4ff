#include "chaos/http_call.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <algorithm>

namespace lectern::test {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

std::optional<HttpAnswer> call(std::uint16_t port, const HttpCall& request) {
  asio::io_context loop;
  beast::tcp_stream stream(loop);
  stream.expires_after(request.timeout);
  boost::system::error_code error;
  // Asynchronous with run(): only so do the stream's timeouts hold.
  stream.async_connect(asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), port),
                       [&error](boost::system::error_code result) { error = result; });
  loop.run();
  if (error) return std::nullopt;
  http::request<http::string_body> message;
  message.method_string(request.method);
  message.target(request.target);
  message.version(11);
  message.set(http::field::host, "127.0.0.1");
  message.set(http::field::connection, "close");
  for (const auto& [name, value] : request.headers) message.set(name, value);
  message.body() = request.body;
  message.prepare_payload();
  loop.restart();
  http::async_write(stream, message, [&error](boost::system::error_code result, std::size_t) { error = result; });
  loop.run();
  // A server may answer and close before it has read all: what it said counts.
  if (error && error != boost::system::errc::broken_pipe && error != boost::system::errc::connection_reset) {
    return std::nullopt;
  }
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(std::uint64_t{1} << 30U);
  if (request.method == "HEAD") parser.skip(true);
  loop.restart();
  http::async_read(stream, buffer, parser, [&error](boost::system::error_code result, std::size_t) { error = result; });
  loop.run();
  if (error) return std::nullopt;
  HttpAnswer answer;
  answer.status = static_cast<int>(parser.get().result_int());
  for (const auto& field : parser.get()) {
    std::string name(field.name_string());
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    answer.headers[name] = std::string(field.value());
  }
  answer.body = std::move(parser.get().body());
  return answer;
}

Multipart multipart(const std::vector<std::pair<std::string, std::string>>& fields, const std::string& file_name,
                    const std::string& bytes) {
  const std::string boundary = "lectern-test-boundary-7d1f";
  Multipart made{.content_type = "multipart/form-data; boundary=" + boundary, .body = {}};
  for (const auto& [name, value] : fields) {
    made.body += "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
  }
  made.body += "--" + boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + file_name +
               "\"\r\nContent-Type: application/octet-stream\r\n\r\n" + bytes + "\r\n--" + boundary + "--\r\n";
  return made;
}

}  // namespace lectern::test
