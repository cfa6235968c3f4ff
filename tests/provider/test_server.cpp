#include "provider/test_server.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <future>
#include <utility>

namespace lectern::provider {

namespace asio = boost::asio;
namespace http = boost::beast::http;

struct TestServer::Connection {
  Socket socket;
  int number = 0;
  bool idle = false;  // only touched by the server's thread
};

namespace {

TestRequest plain(const http::request<http::string_body>& request, int connection) {
  TestRequest copy{.method = std::string(request.method_string()),
                   .target = std::string(request.target()),
                   .headers = {},
                   .body = request.body(),
                   .connection = connection};
  for (const auto& field : request) {
    std::string name(field.name_string());
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    copy.headers[name] = std::string(field.value());
  }
  return copy;
}

// Closed so that the other side meets a reset, not an end.
void reset(TestServer::Socket& socket) {
  boost::system::error_code ignored;
  socket.set_option(asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

}  // namespace

asio::awaitable<void> TestServer::Exchange::send(std::string raw) {
  co_await asio::async_write(socket_, asio::buffer(raw), asio::use_awaitable);
}

asio::awaitable<void> TestServer::Exchange::answer(int status, std::string body, std::string content_type,
                                                   std::string headers) {
  std::string raw = fmt::format("HTTP/1.1 {} Scripted\r\nContent-Type: {}\r\n{}Content-Length: {}\r\n\r\n{}", status,
                                content_type, headers, body.size(), body);
  co_await send(std::move(raw));
}

asio::awaitable<void> TestServer::Exchange::begin_stream() {
  std::string raw =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
  co_await send(std::move(raw));
}

asio::awaitable<void> TestServer::Exchange::chunk(std::string bytes) {
  std::string raw = fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
  co_await send(std::move(raw));
}

asio::awaitable<void> TestServer::Exchange::event(std::string data) {
  co_await chunk("data: " + data + "\n\n");
}

asio::awaitable<void> TestServer::Exchange::end_stream() {
  co_await send("0\r\n\r\n");
}

asio::awaitable<void> TestServer::Exchange::hang() {
  begun();
  char byte = 0;
  co_await socket_.async_receive(asio::buffer(&byte, 1), asio::use_awaitable);  // throws when the client leaves
}

void TestServer::Exchange::begun() {
  server_.count(server_.begun_);
}

void TestServer::Exchange::close() {
  closed_ = true;
}

TestServer::TestServer(Script script, std::string unix_path) : script_(std::move(script)) {
  asio::co_spawn(loop_, listen(std::move(unix_path)), asio::detached);
  loop_.poll();  // it listens, and its address is known, before anybody can ask
  loop_.restart();
  thread_ = std::jthread([this] { loop_.run(); });
}

TestServer::~TestServer() {
  loop_.stop();
  thread_.join();
}

asio::awaitable<void> TestServer::listen(std::string unix_path) {
  asio::basic_socket_acceptor<asio::generic::stream_protocol> acceptor(loop_);
  if (unix_path.empty()) {
    const asio::ip::tcp::endpoint any(asio::ip::make_address("127.0.0.1"), 0);
    acceptor.open(asio::ip::tcp::v4());
    acceptor.bind(any);
    asio::ip::tcp::endpoint bound;
    const auto generic = acceptor.local_endpoint();
    std::memcpy(bound.data(), generic.data(), generic.size());
    address_ = fmt::format("http://127.0.0.1:{}", bound.port());
  } else {
    ::unlink(unix_path.c_str());
    const asio::local::stream_protocol::endpoint place(unix_path);
    acceptor.open(asio::local::stream_protocol());
    acceptor.bind(place);
    address_ = "unix:" + unix_path;
  }
  acceptor.listen(1024);
  for (;;) {
    auto connection = std::make_shared<Connection>(Socket(loop_));
    co_await acceptor.async_accept(connection->socket, asio::use_awaitable);
    boost::system::error_code not_tcp;
    connection->socket.set_option(asio::ip::tcp::no_delay(true), not_tcp);
    {
      const std::lock_guard lock(mutex_);
      connection->number = ++connections_;
      open_.push_back(connection);
    }
    asio::co_spawn(loop_, serve(std::move(connection)), asio::detached);
  }
}

asio::awaitable<void> TestServer::serve(std::shared_ptr<Connection> connection) {
  boost::beast::flat_buffer buffer;
  for (;;) {
    http::request_parser<http::string_body> parser;
    parser.body_limit(boost::none);
    boost::system::error_code error;
    connection->idle = true;
    co_await http::async_read_header(connection->socket, buffer, parser,
                                     asio::redirect_error(asio::use_awaitable, error));
    connection->idle = false;
    if (error) co_return;
    if (reset_at_next_head_.exchange(false)) {
      reset(connection->socket);
      co_return;
    }
    co_await http::async_read(connection->socket, buffer, parser, asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return;
    TestRequest request = plain(parser.get(), connection->number);
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    changed_.notify_all();
    const auto exchange = std::make_shared<Exchange>(*this, connection->socket, std::move(request));
    bool left = false;
    try {
      co_await script_(exchange);
    } catch (const boost::system::system_error&) {  // the client has gone: what tests wait for
      left = true;
    }
    if (left) count(left_);
    if (left || exchange->closed_) {
      reset(connection->socket);
      co_return;
    }
  }
}

void TestServer::drop_connections() {
  std::promise<void> done;
  // A client may have its answer before the script that sent it has returned: then look again.
  std::function<void()> drop = [this, &done, &drop] {
    const std::lock_guard lock(mutex_);
    const auto busy = [](const auto& weak) {
      const auto connection = weak.lock();
      return connection && connection->socket.is_open() && !connection->idle;
    };
    if (std::ranges::any_of(open_, busy)) {
      asio::post(loop_, drop);
      return;
    }
    for (const auto& weak : open_) {
      boost::system::error_code ignored;
      if (const auto connection = weak.lock()) connection->socket.close(ignored);
    }
    done.set_value();
  };
  asio::post(loop_, drop);
  done.get_future().wait();
}

void TestServer::count(int& counter) {
  {
    const std::lock_guard lock(mutex_);
    ++counter;
  }
  changed_.notify_all();
}

bool TestServer::await(const int& counter, int count) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return counter >= count; });
}

bool TestServer::await_begun(int count) {
  return await(begun_, count);
}

bool TestServer::await_left(int count) {
  return await(left_, count);
}

std::vector<TestRequest> TestServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

int TestServer::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

}  // namespace lectern::provider
