#include "servers/fault_proxy.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include <thread>

namespace lectern::test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// Sends back what it gets, one connection at a time.
class Echo {
 public:
  Echo() : acceptor_(loop_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)), thread_([this] { run(); }) {}
  ~Echo() {
    over_ = true;
    tcp::socket last(loop_);
    boost::system::error_code ignored;
    last.connect(acceptor_.local_endpoint(), ignored);  // accept() returns
    thread_.join();
  }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  void run() {
    while (!over_) {
      boost::system::error_code error;
      tcp::socket socket(loop_);
      acceptor_.accept(socket, error);
      std::array<char, 4096> buffer{};
      while (!error && !over_) {
        const auto got = socket.read_some(asio::buffer(buffer), error);
        if (!error) asio::write(socket, asio::buffer(buffer.data(), got), error);
      }
    }
  }

  asio::io_context loop_;
  tcp::acceptor acceptor_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

class FaultProxyTest : public testing::Test {
 protected:
  tcp::socket connect() {
    tcp::socket socket(loop_);
    socket.connect({asio::ip::address_v4::loopback(), proxy_.port()});
    return socket;
  }
  static std::string ask(tcp::socket& socket, const std::string& text, boost::system::error_code& error) {
    asio::write(socket, asio::buffer(text), error);
    std::string reply(text.size(), '\0');
    if (!error) asio::read(socket, asio::buffer(reply), error);
    return reply;
  }

  Echo echo_;
  FaultProxy proxy_{echo_.port()};
  asio::io_context loop_;
  boost::system::error_code error_;
};

TEST_F(FaultProxyTest, PassesBytesBothWays) {
  auto socket = connect();
  EXPECT_EQ(ask(socket, "hello", error_), "hello");
  EXPECT_EQ(proxy_.connections(), 1);
}

TEST_F(FaultProxyTest, ACutConnectionIsReset) {
  auto socket = connect();
  ask(socket, "hello", error_);
  EXPECT_EQ(proxy_.cut(), 1);
  ask(socket, "hello", error_);
  EXPECT_TRUE(error_);
}

TEST_F(FaultProxyTest, AHalfOpenOneSaysNothingUntilItMay) {
  auto socket = connect();
  ask(socket, "hello", error_);
  proxy_.set(FaultProxy::Mode::half_open);
  asio::write(socket, asio::buffer("silent", 6));
  proxy_.set(FaultProxy::Mode::pass);
  std::string reply(6, '\0');
  asio::read(socket, asio::buffer(reply));
  EXPECT_EQ(reply, "silent");
}

TEST_F(FaultProxyTest, ASlowOneGivesEverything) {
  proxy_.set(FaultProxy::Mode::slow);
  auto socket = connect();
  const std::string text(1'000, 'x');
  EXPECT_EQ(ask(socket, text, error_), text);
}

TEST_F(FaultProxyTest, CutsInTheMiddleOfAReply) {
  auto socket = connect();
  ask(socket, "hello", error_);
  proxy_.cut_after_reply_bytes(3);
  ask(socket, "hello", error_);
  EXPECT_TRUE(error_);
}

TEST_F(FaultProxyTest, RefusesNewConnections) {
  proxy_.set(FaultProxy::Mode::refuse);
  auto socket = connect();
  proxy_.wait_accepted_beyond(0);
  ask(socket, "hello", error_);
  EXPECT_TRUE(error_);
}

}  // namespace
}  // namespace lectern::test
