#include "provider/curl_transfer.h"

#include <arpa/inet.h>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <utility>

#include "provider/curl_failure.h"

namespace lectern::provider {
namespace {

namespace asio = boost::asio;

constexpr std::size_t mailbox_max = 4U << 20;     // bytes that wait for a slow caller before the server must wait too
constexpr long upload_buffer_size = 64L << 10;    // one for each transfer
constexpr std::size_t small_body_max = 60 << 10;  // libcurl sends such a body in one packet train with the head
// Servers drop idle connections after 5 s (vLLM, SGLang, llama-server). libcurl counts whole seconds and reuses up to
// and including this many: 3 means idle for less than 4 s.
constexpr long idle_seconds_max = 3;

template <class Value>
void set(CURL* easy, CURLoption option, Value value) {
  curl_easy_setopt(easy, option, value);
}

}  // namespace

CurlTransfer::CurlTransfer(HttpRequest request, Deadline deadline)
    : request_(std::move(request)), deadline_(deadline), started_(system_clock().now()), reader_(request_.body) {}

CurlTransfer::~CurlTransfer() {
  curl_slist_free_all(headers_);
}

void CurlTransfer::prepare(CURL* easy) {
  easy_ = easy;
  set(easy_, CURLOPT_URL, request_.url.c_str());
  set(easy_, CURLOPT_PRIVATE, static_cast<void*>(this));
  set(easy_, CURLOPT_ERRORBUFFER, detail_.data());
  set(easy_, CURLOPT_HEADERFUNCTION, &CurlTransfer::on_header);
  set(easy_, CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(easy_, CURLOPT_WRITEFUNCTION, &CurlTransfer::on_body);
  set(easy_, CURLOPT_WRITEDATA, static_cast<void*>(this));
  set_transport();
  set_body();
  for (const std::string& header : request_.headers) headers_ = curl_slist_append(headers_, header.c_str());
  headers_ = curl_slist_append(headers_, "Expect:");  // no waiting for "100 Continue" before a picture
  set(easy_, CURLOPT_HTTPHEADER, headers_);
}

void CurlTransfer::set_deadline() {
  if (deadline_ == Deadline::never()) return;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_.left(system_clock().now()));
  set(easy_, CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(left.count())));
}

void CurlTransfer::set_transport() {
  const HttpTransport& transport = request_.transport;
  set(easy_, CURLOPT_USERAGENT, "lectern");  // some gateways refuse who has no name
  set(easy_, CURLOPT_NOSIGNAL, 1L);
  set(easy_, CURLOPT_QUICK_EXIT, 1L);  // a transfer that ends while its host is looked up does not wait for the answer
  set(easy_, CURLOPT_TCP_NODELAY, 1L);
  // A peer that is gone without a word (power, NAT) is noticed after a minute, also while the model thinks.
  set(easy_, CURLOPT_TCP_KEEPALIVE, 1L);
  set(easy_, CURLOPT_TCP_KEEPIDLE, 20L);
  set(easy_, CURLOPT_TCP_KEEPINTVL, 5L);
  set(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  set(easy_, CURLOPT_MAXAGE_CONN, idle_seconds_max);
  set(easy_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(easy_, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(transport.connect_timeout.count()));
  set_deadline();
  if (!transport.unix_socket.empty()) set(easy_, CURLOPT_UNIX_SOCKET_PATH, transport.unix_socket.c_str());
  if (transport.proxy == "none" || !transport.unix_socket.empty()) {
    set(easy_, CURLOPT_PROXY, "");
  } else if (!transport.proxy.empty()) {
    set(easy_, CURLOPT_PROXY, transport.proxy.c_str());
  }
  if (transport.stall_timeout.count() > 0) {
    set(easy_, CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(easy_, CURLOPT_LOW_SPEED_TIME, static_cast<long>(transport.stall_timeout.count()));
  }
  if (transport.admits) {
    set(easy_, CURLOPT_OPENSOCKETFUNCTION, &CurlTransfer::on_open_socket);
    set(easy_, CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
    set(easy_, CURLOPT_PROXY, "");
    set(easy_, CURLOPT_FRESH_CONNECT, 1L);
    set(easy_, CURLOPT_FORBID_REUSE, 1L);
  }
  if (!transport.ca_file.empty()) set(easy_, CURLOPT_CAINFO, transport.ca_file.c_str());
  set(easy_, CURLOPT_SSL_VERIFYPEER, transport.verify_tls ? 1L : 0L);
  set(easy_, CURLOPT_SSL_VERIFYHOST, transport.verify_tls ? 2L : 0L);
}

void CurlTransfer::set_body() {
  const auto size = static_cast<curl_off_t>(request_.body.size());
  if (request_.method == "GET") {
    set(easy_, CURLOPT_HTTPGET, 1L);
    return;
  }
  if (request_.method == "HEAD") {
    set(easy_, CURLOPT_NOBODY, 1L);
    return;
  }
  if (request_.method == "PUT") {
    set(easy_, CURLOPT_UPLOAD, 1L);
    set(easy_, CURLOPT_INFILESIZE_LARGE, size);
  } else {
    set(easy_, CURLOPT_POST, 1L);
    set(easy_, CURLOPT_POSTFIELDSIZE_LARGE, size);
    if (request_.method != "POST") set(easy_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
    const std::string* text = request_.body.only_text();
    if (text != nullptr && text->size() <= small_body_max) {
      set(easy_, CURLOPT_POSTFIELDS, text->data());
      return;
    }
  }
  set(easy_, CURLOPT_UPLOAD_BUFFERSIZE, upload_buffer_size);
  set(easy_, CURLOPT_READFUNCTION, &CurlTransfer::on_read);
  set(easy_, CURLOPT_READDATA, static_cast<void*>(this));
  set(easy_, CURLOPT_SEEKFUNCTION, &CurlTransfer::on_seek);
  set(easy_, CURLOPT_SEEKDATA, static_cast<void*>(this));
}

CURL* CurlTransfer::release() {
  return std::exchange(easy_, nullptr);
}

bool CurlTransfer::died_on_kept_connection(CURLcode code) const {
  if (any_response_ || (code != CURLE_SEND_ERROR && code != CURLE_RECV_ERROR && code != CURLE_GOT_NOTHING))
    return false;
  long connections_made = 1;
  curl_easy_getinfo(easy_, CURLINFO_NUM_CONNECTS, &connections_made);
  return connections_made == 0;
}

void CurlTransfer::prepare_again() {
  reader_.rewind();
  detail_.front() = '\0';
  set(easy_, CURLOPT_FRESH_CONNECT, 1L);
  set_deadline();
}

void CurlTransfer::finish(CURLcode code) {
  if (code == CURLE_OK) {
    const std::lock_guard lock(mutex_);
    mail_.done = true;
    wake();
    return;
  }
  if (!refused_address_.empty() && !any_response_) {
    finish({.reason = FailureReason::bad_request,
            .message =
                fmt::format("{} is at {}, an address that may not be connected to", request_.peer, refused_address_)});
    return;
  }
  double connected = 0;
  curl_easy_getinfo(easy_, CURLINFO_CONNECT_TIME, &connected);
  finish(failure_of_curl(code, {.peer = request_.peer,
                                .detail = detail_.data(),
                                .connected = connected > 0,
                                .deadline_passed = deadline_.passed(system_clock().now()),
                                .status = incoming_.status}));
}

void CurlTransfer::finish(Failure failure) {
  const std::lock_guard lock(mutex_);
  mail_.done = true;
  mail_.failure = std::move(failure);
  wake();
}

void CurlTransfer::abandon() {
  std::function<void()> waiter;  // destroyed after the lock is released: it holds the coroutine, and that holds us
  const std::lock_guard lock(mutex_);
  mail_.done = true;
  waiter = std::exchange(waiter_, nullptr);
}

// Each response, also an interim one ("100 Continue"), opens with a status line and ends with an empty one.
void CurlTransfer::take_header(std::string_view line) {
  any_response_ = true;
  if (line.starts_with("HTTP/")) {
    incoming_ = {};
    const std::size_t space = line.find(' ');
    if (space != std::string_view::npos) {
      std::from_chars(line.data() + space + 1, line.data() + line.size(), incoming_.status);
    }
  } else if (line != "\r\n" && line != "\n") {
    incoming_.lines += line;
  } else if (incoming_.status >= 200) {
    const std::lock_guard lock(mutex_);
    mail_.head = incoming_;  // handed over with the first bytes of the body or at the end, whichever is first
    wake();
  }
}

bool CurlTransfer::deliver(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (mail_.body.size() + bytes.size() > mailbox_max && !mail_.body.empty()) {
    mail_.was_paused = true;
    return false;
  }
  if (first_byte_.count() == 0) first_byte_ = system_clock().now() - started_;
  mail_.body += bytes;
  wake();
  return true;
}

bool CurlTransfer::something_new() const {
  return mail_.done || mail_.head || !mail_.body.empty();
}

void CurlTransfer::wake() {
  if (!waiter_) return;
  std::exchange(waiter_, nullptr)();
}

asio::awaitable<CurlTransfer::News> CurlTransfer::news() {
  auto initiate = [this](auto handler) {
    auto shared = std::make_shared<decltype(handler)>(std::move(handler));  // std::function copies; handlers cannot
    auto executor = asio::get_associated_executor(*shared);
    const std::lock_guard lock(mutex_);
    waiter_ = [shared, executor] { asio::post(executor, [shared] { std::move (*shared)(); }); };
    if (something_new()) wake();
  };
  const auto token = asio::use_awaitable;
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(std::move(initiate), token);
  const std::lock_guard lock(mutex_);
  co_return std::exchange(mail_, News{.done = mail_.done});
}

std::chrono::nanoseconds CurlTransfer::first_byte() const {
  const std::lock_guard lock(mutex_);
  return first_byte_;
}

bool CurlTransfer::done() const {
  const std::lock_guard lock(mutex_);
  return mail_.done;
}

std::size_t CurlTransfer::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  static_cast<CurlTransfer*>(self)->take_header({data, size * count});
  return size * count;
}

std::size_t CurlTransfer::on_body(char* data, std::size_t size, std::size_t count, void* self) {
  const bool taken = static_cast<CurlTransfer*>(self)->deliver({data, size * count});
  return taken ? size * count : CURL_WRITEFUNC_PAUSE;
}

std::size_t CurlTransfer::on_read(char* out, std::size_t size, std::size_t count, void* self) {
  return static_cast<CurlTransfer*>(self)->reader_.read({out, size * count});
}

curl_socket_t CurlTransfer::on_open_socket(void* self, curlsocktype /*purpose*/, curl_sockaddr* address) {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* number = address->family == AF_INET6
                           ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(&address->addr)->sin6_addr)
                           : static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(&address->addr)->sin_addr);
  const bool known = address->family == AF_INET6 || address->family == AF_INET;
  if (!known || ::inet_ntop(address->family, number, text.data(), text.size()) == nullptr ||
      !transfer.request_.transport.admits(text.data())) {
    transfer.refused_address_ = text.data();
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

int CurlTransfer::on_seek(void* self, curl_off_t offset, int origin) {
  if (offset != 0 || origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
  static_cast<CurlTransfer*>(self)->reader_.rewind();
  return CURL_SEEKFUNC_OK;
}

}  // namespace lectern::provider
