#include "service/http/connection.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "service/http/pace.h"
#include "service/http/response_head.h"
#include "telemetry/log.h"

namespace lectern::service::http {
namespace {

namespace asio = boost::asio;
using std::chrono::seconds;

constexpr std::size_t piece_bytes = 64 * 1024;
constexpr std::size_t idle_bytes = 4 * 1024;          // to read into while nothing is known about the next request
constexpr std::int64_t drain_bytes_max = 256 * 1024;  // read and dropped to keep a connection
constexpr std::int64_t linger_bytes_max = 4 << 20;    // read and dropped so that our last words arrive
constexpr std::chrono::nanoseconds linger_time = seconds(2);

bool is_sane_id(std::string_view id) {
  return !id.empty() && id.size() <= 64 && std::ranges::all_of(id, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
           c == '.';
  });
}

Problem too_slow() {
  return {.code = ProblemCode::request_timeout, .detail = "send the request faster"};
}
Problem too_large(std::int64_t bytes_max) {
  return {.code = ProblemCode::payload_too_large, .detail = fmt::format("at most {} bytes are taken here", bytes_max)};
}

}  // namespace

// One request in the hands of its handler.
class Connection::RequestExchange final : public Exchange {
 public:
  RequestExchange(Connection& connection, Pace pace_of_body) : pace(pace_of_body), connection_(connection) {}

  asio::awaitable<std::expected<std::string, Problem>> read_body() override {
    return connection_.read_body_piece(this);
  }
  Cancellation stopping() const override { return connection_.context_.stopping; }
  Cancellation gone() override {
    if (!connection_.watching_) {
      connection_.watching_ = true;
      asio::co_spawn(executor, watch(connection_.shared_from_this(), gone_), asio::detached);
    }
    return gone_;
  }
  void set_user(std::string name) override { user = std::move(name); }
  Request& edit() { return request_; }

  Pace pace;
  asio::any_io_executor executor;
  std::string_view route = "none";
  std::string user;
  std::int64_t body_bytes = 0;
  std::int64_t body_bytes_max = 0;
  bool continued = false;  // "100 Continue" was sent, or nobody waits for it
  bool body_broken = false;

 private:
  Connection& connection_;
  Cancellation gone_;
};

Connection::Connection(ConnectionContext& context, std::unique_ptr<Stream> stream, Peer peer, bool secure)
    : context_(context), stream_(std::move(stream)), peer_(std::move(peer)), secure_(secure) {}

Connection::~Connection() = default;

TimePoint Connection::now() const {
  return context_.timers.clock().now();
}

void Connection::wait_begins(Waiting waiting, TimePoint deadline) {
  waiting_ = waiting;
  waiting_since_ = now();
  deadline_ = deadline;
}

void Connection::wait_ends() {
  waiting_ = Waiting::nothing;
  deadline_ = TimePoint::max();
}

void Connection::check_time(TimePoint now) {
  if (now < deadline_) return;
  cut_ = true;
  deadline_ = TimePoint::max();
  // A client that sends too slowly is told so; one that takes too slowly cannot be told anything.
  if (waiting_ == Waiting::write || waiting_ == Waiting::closing || waiting_ == Waiting::handshake) {
    stream_->close();
  } else {
    stream_->cancel();
  }
}

void Connection::stop_soon() {
  if (waiting_ == Waiting::first_byte) stream_->cancel();
}

void Connection::cut() {
  cut_ = true;
  keep_alive_ = false;
  stream_->close();
}

std::optional<TimePoint> Connection::waits_since() const {
  const bool waits = waiting_ == Waiting::first_byte || waiting_ == Waiting::head || waiting_ == Waiting::handshake ||
                     waiting_ == Waiting::paused || waiting_ == Waiting::closing;
  return waits ? std::optional(waiting_since_) : std::nullopt;
}

std::optional<TimePoint> Connection::sends_since() const {
  return waiting_ == Waiting::write ? std::optional(waiting_since_) : std::nullopt;
}

asio::awaitable<void> Connection::serve(std::shared_ptr<Connection> self) {
  self->wait_begins(Waiting::handshake, self->now() + self->context_.limits.header_timeout);
  const bool ready = co_await self->stream_->handshake();
  self->wait_ends();
  if (ready) {
    while (co_await self->one_request()) {
    }
    if (!self->cut_) co_await self->linger();
  }
  self->stream_->close();
}

asio::awaitable<void> Connection::watch(std::shared_ptr<Connection> self, Cancellation gone) {
  if (co_await self->stream_->left()) gone.request();
}

// Appends what the client sends next, at most `room` bytes. False: nothing more will come.
asio::awaitable<bool> Connection::receive(std::size_t room) {
  const std::size_t before = in_.size();
  in_.resize(before + room);
  const std::size_t count = co_await stream_->read_some(std::span(in_.data() + before, room));
  in_.resize(before + count);
  co_return count > 0;
}

asio::awaitable<Connection::Head> Connection::read_head() {
  const auto& limits = context_.limits;
  parser_.emplace();
  if (in_.empty() && in_.capacity() > 4 * idle_bytes) in_.shrink_to_fit();
  TimePoint head_deadline = TimePoint::max();
  for (;;) {
    if (!in_.empty()) {
      auto taken = parser_->read_head(in_);
      if (!taken) {
        refusal_ = std::move(taken.error());
        co_return Head::refused;
      }
      if (*taken) {
        in_.erase(0, **taken);
        co_return Head::whole;
      }
      if (head_deadline == TimePoint::max()) {
        head_deadline = now() + std::chrono::duration_cast<TimePoint::duration>(limits.header_timeout);
      }
      wait_begins(Waiting::head, head_deadline);
    } else {
      if (context_.stopping.requested()) co_return Head::none;
      const auto patience = requests_ == 0 ? limits.header_timeout : limits.idle_timeout;
      wait_begins(Waiting::first_byte, now() + std::chrono::duration_cast<TimePoint::duration>(patience));
    }
    const bool more = co_await receive(idle_bytes);
    wait_ends();
    if (more) continue;
    if (!cut_ || in_.empty()) co_return Head::none;
    refusal_ = too_slow();
    cut_ = false;  // one last word
    co_return Head::refused;
  }
}

asio::awaitable<bool> Connection::one_request() {
  const Head head = co_await read_head();
  if (head == Head::none) co_return false;
  ++requests_;
  bytes_in_ = bytes_out_ = 0;
  const TimePoint start = now();
  const RequestHead& parsed = parser_->head();
  auto exchange = std::make_shared<RequestExchange>(
      *this, Pace(context_.limits.header_timeout, context_.limits.body_bytes_per_second_min));
  exchange->executor = co_await asio::this_coro::executor;
  Request& request = exchange->edit();
  request.method = parsed.method;
  request.fields = parsed.fields;
  request.peer = peer_.name;
  request.local = peer_.local;
  request.secure = secure_;
  request.has_body = parsed.has_body;
  request.content_length = parsed.content_length;
  const auto id = parsed.fields.find("x-request-id");
  request.id = id && is_sane_id(*id) ? std::string(*id) : random_hex(context_.random, 8);
  request_id_ = request.id;
  exchange->continued = !parsed.expects_continue;

  Response response;
  if (head == Head::refused) {
    response = problem_response(*refusal_, request.id);
    keep_alive_ = false;
    linger_ = true;
  } else {
    keep_alive_ = parsed.keep_alive;
    response = co_await answer(exchange);
    // Whoever waits for "100 Continue" may send its body after our answer or not: there is no telling.
    if (!parser_->body_done() && (exchange->body_broken || !exchange->continued)) {
      keep_alive_ = false;
      linger_ = true;
    }
    if (context_.stopping.requested()) keep_alive_ = false;
  }
  const int status = response.status;
  // A body that is too long to be worth reading closes the connection, and the client is told with the answer.
  const std::int64_t left = parsed.content_length.value_or(0) - exchange->body_bytes;
  if (head == Head::whole && !parser_->body_done() && left > drain_bytes_max) {
    keep_alive_ = false;
    linger_ = true;
  }
  const bool sent = co_await send(std::move(response), request.method == "HEAD");
  if (watching_) {
    watching_ = false;
    stream_->cancel();
  }
  record(*exchange, status, start, sent);
  if (!sent) {
    cut_ = true;
    co_return false;
  }
  if (keep_alive_ && status == 429) co_await pause();
  if (keep_alive_ && !parser_->body_done()) co_await drain_body(exchange);
  co_return keep_alive_ && !cut_;
}

asio::awaitable<Response> Connection::answer(std::shared_ptr<RequestExchange> exchange) {
  Request& request = exchange->edit();
  auto target = parse_target(parser_->head().target);
  if (!target) co_return problem_response(target.error(), request.id);
  request.target = std::move(*target);
  auto match = context_.router.find(request.method, request.target);
  if (!match) {
    Response missed = problem_response(match.error().problem, request.id);
    if (!match.error().allow.empty()) missed.fields.add("Allow", match.error().allow);
    co_return missed;
  }
  const Route& route = *match->route;
  exchange->route = route.pattern;
  exchange->body_bytes_max = route.body_bytes_max;
  request.path = std::move(match->path);
  if (request.content_length.value_or(0) > route.body_bytes_max) {
    co_return problem_response(too_large(route.body_bytes_max), request.id);
  }
  try {
    co_return co_await route.handler(exchange);
  } catch (const std::exception& error) {  // a bug; the client learns nothing of it
    telemetry::log(telemetry::LogLevel::error, "a request failed",
                   {{"request", request.id}, {"route", route.pattern}, {"error", error.what()}});
  }
  co_return problem_response({.code = ProblemCode::internal_error}, request.id);
}

asio::awaitable<std::expected<std::string, Problem>> Connection::read_body_piece(RequestExchange* exchange) {
  std::string piece;
  if (parser_->body_done()) co_return piece;
  const auto broken = [&](Problem problem) {
    exchange->body_broken = true;
    return std::unexpected(std::move(problem));
  };
  if (!exchange->continued) {
    exchange->continued = true;
    if (!co_await write("HTTP/1.1 100 Continue\r\n\r\n", {})) co_return broken(too_slow());
  }
  for (;;) {
    if (!in_.empty()) {
      const auto taken = parser_->read_body(in_, piece, piece_bytes - piece.size());
      if (!taken) co_return broken(taken.error());
      in_.erase(0, *taken);
    }
    if (exchange->body_bytes + static_cast<std::int64_t>(piece.size()) > exchange->body_bytes_max)
      co_return broken(too_large(exchange->body_bytes_max));
    if (parser_->body_done() || piece.size() >= piece_bytes) break;
    if (!piece.empty() && in_.empty()) break;  // what is there goes on its way before more is waited for
    const TimePoint start = now();
    wait_begins(Waiting::body, exchange->pace.deadline(start));
    const std::size_t before = in_.size();
    const bool more = co_await receive(piece_bytes);
    wait_ends();
    exchange->pace.waited(now() - start, static_cast<std::int64_t>(in_.size() - before));
    if (more) continue;
    const bool slow = std::exchange(cut_, false);
    co_return broken(
        slow ? too_slow()
             : Problem{.code = ProblemCode::bad_request, .detail = "the body ended before it was complete"});
  }
  exchange->body_bytes += static_cast<std::int64_t>(piece.size());
  bytes_in_ = exchange->body_bytes;
  co_return piece;
}

// What the handler did not read, so that the next request can be found.
asio::awaitable<void> Connection::drain_body(std::shared_ptr<RequestExchange> exchange) {
  exchange->body_bytes_max = exchange->body_bytes + drain_bytes_max;
  while (!parser_->body_done()) {
    const auto piece = co_await read_body_piece(exchange.get());
    if (piece) continue;
    keep_alive_ = false;
    linger_ = true;
    co_return;
  }
}

asio::awaitable<bool> Connection::write(std::string_view first, std::string_view second) {
  struct Held {
    std::int64_t& sum;
    std::int64_t bytes;
    Held(std::int64_t& all, std::size_t more) : sum(all), bytes(static_cast<std::int64_t>(more)) { sum += bytes; }
    ~Held() { sum -= bytes; }
  };
  const Held held(context_.unsent_bytes, first.size() + second.size());
  if (context_.unsent_bytes > context_.limits.unsent_bytes_max && context_.relieve) context_.relieve();
  do {
    const std::string_view slice = second.substr(0, piece_bytes);
    second.remove_prefix(slice.size());
    wait_begins(Waiting::write, now() + std::chrono::duration_cast<TimePoint::duration>(context_.limits.write_timeout));
    const bool written = co_await stream_->write(first, slice);
    wait_ends();
    if (!written || cut_) co_return false;
    bytes_out_ += static_cast<std::int64_t>(first.size() + slice.size());
    first = {};
  } while (!second.empty());
  co_return true;
}

asio::awaitable<bool> Connection::send(Response response, bool head_only) {
  const bool bodiless = response.status == 204 || response.status == 304;
  const bool http11 = !parser_ || parser_->head().http11;
  const auto bytes = response.source ? response.source_bytes : static_cast<std::int64_t>(response.body.size());
  ResponseFraming framing{.request_id = request_id_, .now = context_.timers.clock().wall()};
  if (!bodiless) framing.content_length = bytes;
  framing.chunked = !bodiless && !bytes && http11;
  if (!bodiless && !bytes && !http11) keep_alive_ = false;  // the end of the connection is the end of the body
  framing.close = !keep_alive_;
  framing.http10_keep_alive = keep_alive_ && !http11;
  std::string head = response_head(response, framing);
  if (bodiless || head_only) co_return co_await write(head, {});
  if (!response.source) co_return co_await write(head, response.body);
  std::shared_ptr<BodySource> source = std::move(response.source);
  co_return co_await send_source(std::move(head), std::move(source), framing.chunked);
}

asio::awaitable<bool> Connection::send_source(std::string head, std::shared_ptr<BodySource> source, bool chunked) {
  std::string before = std::move(head);
  for (;;) {
    auto piece = co_await source->next();
    if (!piece) {
      telemetry::log(telemetry::LogLevel::warning, "a response was cut",
                     {{"request", request_id_}, {"error", piece.error().for_log}});
      co_return false;
    }
    const bool last = piece->empty();
    if (chunked) {
      before += fmt::format("{:x}\r\n", piece->size());
      *piece += "\r\n";
    }
    if (!before.empty() || !piece->empty()) {
      if (!co_await write(before, *piece)) co_return false;
    }
    before.clear();
    if (last) co_return true;
  }
}

asio::awaitable<void> Connection::pause() {
  wait_begins(Waiting::paused, TimePoint::max());
  co_await context_.timers.wait_for(context_.limits.refusal_pause, context_.stopping);
  wait_ends();
}

// Closing while the client still sends would reset the connection, and our answer might never be read.
asio::awaitable<void> Connection::linger() {
  if (!linger_ && in_.empty()) co_return;
  wait_begins(Waiting::closing, now() + std::chrono::duration_cast<TimePoint::duration>(linger_time));
  co_await stream_->end();
  std::int64_t dropped = 0;
  for (;;) {
    in_.clear();
    if (!co_await receive(piece_bytes) || cut_) break;
    dropped += static_cast<std::int64_t>(in_.size());
    if (dropped > linger_bytes_max) break;
  }
  wait_ends();
}

void Connection::record(const RequestExchange& exchange, int status, TimePoint start, bool complete) {
  const Request& request = exchange.request();
  context_.observer({.route = exchange.route,
                     .method = request.method,
                     .path = request.target.path,
                     .status = status,
                     .time = now() - start,
                     .bytes_in = bytes_in_,
                     .bytes_out = bytes_out_,
                     .request_id = request.id,
                     .peer = request.peer,
                     .user = exchange.user,
                     .complete = complete});
}

}  // namespace lectern::service::http
