// One client: reads its requests one after another, lets the routes answer them, keeps its clock. Slow clients are cut
// off when their time is up; nothing about a client can keep anything of ours waiting longer than that.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "base/timers.h"
#include "service/http/listener.h"
#include "service/http/message.h"
#include "service/http/request_parser.h"
#include "service/http/router.h"
#include "service/http/stream.h"

namespace lectern::service::http {

struct ConnectionLimits {
  std::chrono::nanoseconds header_timeout = std::chrono::seconds(10);
  std::chrono::nanoseconds idle_timeout = std::chrono::seconds(75);
  std::chrono::nanoseconds write_timeout = std::chrono::seconds(30);
  std::int64_t body_bytes_per_second_min = 2'048;
  // Nothing is read from a client for this long after a 429: one that does not wait as it was told cannot take the time
  // of those that are served.
  std::chrono::nanoseconds refusal_pause = std::chrono::milliseconds(200);
  // Of responses that clients have not taken yet, in all; above it the client that has been slow longest is cut off.
  std::int64_t unsent_bytes_max = std::int64_t{64} << 20;
};

// What happened, told once for each request that had a head worth the name.
struct ExchangeRecord {
  std::string_view route;  // its pattern; "none" when no route was found
  std::string_view method;
  std::string_view path;
  int status = 0;
  std::chrono::nanoseconds time{0};  // from the head to the last byte of the response
  std::int64_t bytes_in = 0;
  std::int64_t bytes_out = 0;
  std::string_view request_id;
  std::string_view peer;
  std::string_view user;
  bool complete = true;  // false: the client left or was cut off before the response was sent
};

// What connections share. Outlives them.
struct ConnectionContext {
  ConnectionLimits limits;
  const Router& router;
  Timers& timers;
  Random& random;
  std::function<void(const ExchangeRecord&)> observer;
  Cancellation stopping;
  std::int64_t unsent_bytes = 0;       // held for clients in writes that are under way
  std::function<void()> relieve = {};  // called when they are too many
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(ConnectionContext& context, std::unique_ptr<Stream> stream, Peer peer, bool secure);
  ~Connection();

  // Until the client or the server has had enough. The pointer keeps it alive.
  static boost::asio::awaitable<void> serve(std::shared_ptr<Connection> self);

  // From the owner, on the loop's thread.
  void check_time(TimePoint now);  // cuts it off if its time is up
  void stop_soon();                // no request after the one in hand
  void cut();                      // now
  // Waits for (the rest of) a request's head, and since when: the first to go when there are too many.
  std::optional<TimePoint> waits_since() const;
  // Waits for the client to take what it asked for, and since when: the first to go when too much is held.
  std::optional<TimePoint> sends_since() const;

 private:
  class RequestExchange;
  enum class Waiting : std::uint8_t { nothing, handshake, first_byte, head, body, write, paused, closing };
  enum class Head : std::uint8_t { none, whole, refused };

  boost::asio::awaitable<bool> one_request();
  boost::asio::awaitable<Head> read_head();
  boost::asio::awaitable<Response> answer(std::shared_ptr<RequestExchange> exchange);
  boost::asio::awaitable<bool> send(Response response, bool head_only);
  boost::asio::awaitable<bool> send_source(std::string head, std::shared_ptr<BodySource> source, bool chunked);
  boost::asio::awaitable<bool> write(std::string_view first, std::string_view second);
  boost::asio::awaitable<bool> receive(std::size_t room);
  boost::asio::awaitable<std::expected<std::string, Problem>> read_body_piece(RequestExchange* exchange);
  boost::asio::awaitable<void> drain_body(std::shared_ptr<RequestExchange> exchange);
  boost::asio::awaitable<void> pause();
  boost::asio::awaitable<void> linger();
  static boost::asio::awaitable<void> watch(std::shared_ptr<Connection> self, Cancellation gone);
  void wait_begins(Waiting waiting, TimePoint deadline);
  void wait_ends();
  void record(const RequestExchange& exchange, int status, TimePoint start, bool complete);
  TimePoint now() const;

  ConnectionContext& context_;
  const std::unique_ptr<Stream> stream_;
  const Peer peer_;
  const bool secure_;

  std::string in_;  // received, not taken yet
  std::optional<RequestParser> parser_;
  std::optional<Problem> refusal_;  // of the head
  std::string request_id_;
  int requests_ = 0;
  std::int64_t bytes_in_ = 0;  // of this request
  std::int64_t bytes_out_ = 0;
  bool keep_alive_ = true;
  bool linger_ = false;  // the client may still be sending: a plain close would take our answer away from it
  bool cut_ = false;
  bool watching_ = false;
  Waiting waiting_ = Waiting::nothing;
  TimePoint waiting_since_{};
  TimePoint deadline_ = TimePoint::max();
};

}  // namespace lectern::service::http
