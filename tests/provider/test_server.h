// A real HTTP server for tests, on a thread of its own: each request is answered by a script, a coroutine that may
// answer well, badly, slowly by waiting for the test, or not at all. Tests await what it saw; nothing sleeps.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace lectern::provider {

struct TestRequest {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  int connection = 0;  // the how-manieth of the server's connections, from 1
};

class TestServer {
 public:
  using Socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol>;

  // One request and the way to answer it. Writing to a client that has left throws; the server counts that as "left".
  class Exchange {
   public:
    Exchange(TestServer& server, Socket& socket, TestRequest asked)
        : request(std::move(asked)), server_(server), socket_(socket) {}

    // `headers`: whole lines, each ending in CR LF.
    boost::asio::awaitable<void> answer(int status, std::string body, std::string content_type = "application/json",
                                        std::string headers = "");
    boost::asio::awaitable<void> send(std::string raw);
    boost::asio::awaitable<void> begin_stream();
    boost::asio::awaitable<void> event(std::string data);  // as one server-sent event in one chunk
    boost::asio::awaitable<void> chunk(std::string bytes);
    boost::asio::awaitable<void> end_stream();
    // Tells await_begun, then waits for the client to leave.
    boost::asio::awaitable<void> hang();
    void begun();
    void close();  // resets the connection when the script returns; nothing more can be sent

    const TestRequest request;

   private:
    friend class TestServer;
    TestServer& server_;
    Socket& socket_;
    bool closed_ = false;
  };
  using Script = std::function<boost::asio::awaitable<void>(std::shared_ptr<Exchange>)>;

  // Listens on a free port of 127.0.0.1, or on a socket file.
  explicit TestServer(Script script, std::string unix_path = "");
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  const std::string& address() const { return address_; }
  std::vector<TestRequest> requests() const;
  int connections() const;
  // Block until so many scripts in all have begun their work (hang, begun) or lost their client. Fail after a while.
  bool await_begun(int count);
  bool await_left(int count);
  // Waits until every connection waits for its next request, then closes them all, as servers do after a few seconds.
  void drop_connections();
  // The next request finds its connection reset after its head, before its body was read.
  void reset_at_next_head() { reset_at_next_head_ = true; }

 private:
  struct Connection;

  boost::asio::awaitable<void> listen(std::string unix_path);
  boost::asio::awaitable<void> serve(std::shared_ptr<Connection> connection);
  bool await(const int& counter, int count);
  void count(int& counter);

  boost::asio::io_context loop_;
  const Script script_;
  std::string address_;
  std::atomic<bool> reset_at_next_head_ = false;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<TestRequest> requests_;
  std::vector<std::weak_ptr<Connection>> open_;
  int connections_ = 0;
  int begun_ = 0;
  int left_ = 0;
  std::jthread thread_;
};

}  // namespace lectern::provider
