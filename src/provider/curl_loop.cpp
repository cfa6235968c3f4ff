#include "provider/curl_loop.h"

#include <boost/asio/post.hpp>
#include <sys/epoll.h>

#include <array>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

namespace lectern::provider {
namespace {

namespace asio = boost::asio;

constexpr long connections_kept_max = 1024;
constexpr std::size_t spare_handles_max = 512;

int make_epoll_set() {
  const int fd = ::epoll_create1(EPOLL_CLOEXEC);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
  return fd;
}

CURLM* make_multi() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  CURLM* multi = curl_multi_init();
  if (multi == nullptr) throw std::bad_alloc();
  return multi;
}

}  // namespace

CurlLoop::CurlLoop(asio::any_io_executor executor)
    : executor_(executor), ready_(executor, make_epoll_set()), timer_(executor), multi_(make_multi()) {
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlLoop::on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, static_cast<void*>(this));
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlLoop::on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, static_cast<void*>(this));
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, connections_kept_max);
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
}

CurlLoop::~CurlLoop() {
  abandon();
  for (CURL* easy : spare_) curl_easy_cleanup(easy);
  curl_multi_cleanup(multi_);
}

void CurlLoop::start(std::shared_ptr<CurlTransfer> transfer) {
  if (closed_) {
    transfer->finish({.reason = FailureReason::cancelled, .message = transfer->request().peer + ": cancelled"});
    return;
  }
  CURL* easy = nullptr;
  if (spare_.empty()) {
    easy = curl_easy_init();
    if (easy == nullptr) throw std::bad_alloc();
  } else {
    easy = spare_.back();
    spare_.pop_back();
  }
  transfer->prepare(easy);
  active_.emplace(easy, transfer);
  if (curl_multi_add_handle(multi_, easy) != CURLM_OK) throw std::bad_alloc();  // its only reason, for a new handle
  wait();                                                                       // and on_timer asks for a call at once
}

void CurlLoop::stop(const std::shared_ptr<CurlTransfer>& transfer, FailureReason reason) {
  if (transfer->easy() == nullptr) return;
  retire(transfer);
  transfer->finish({.reason = reason, .message = transfer->request().peer + ": " + std::string(to_string(reason))});
}

void CurlLoop::resume(const std::shared_ptr<CurlTransfer>& transfer) {
  if (transfer->easy() != nullptr) curl_easy_pause(transfer->easy(), CURLPAUSE_CONT);
}

void CurlLoop::close() {
  closed_ = true;
  const auto active = active_;
  for (const auto& [easy, transfer] : active) stop(transfer, FailureReason::cancelled);
}

void CurlLoop::abandon() {
  closed_ = true;
  const auto active = std::exchange(active_, {});
  for (const auto& [easy, transfer] : active) {
    curl_multi_remove_handle(multi_, easy);
    curl_easy_cleanup(transfer->release());
    transfer->abandon();
  }
}

// A transfer that has not ended loses its connection with its handle: the server sees it go.
void CurlLoop::retire(const std::shared_ptr<CurlTransfer>& transfer) {
  CURL* easy = transfer->release();
  const auto keep = std::exchange(active_[easy], nullptr);
  curl_multi_remove_handle(multi_, easy);
  active_.erase(easy);
  if (spare_.size() < spare_handles_max) {
    curl_easy_reset(easy);
    spare_.push_back(easy);
  } else {
    curl_easy_cleanup(easy);
  }
  if (active_.empty()) {
    ready_.cancel();
    timer_.cancel();
    armed_ = wanted_ = TimePoint::max();
  }
}

void CurlLoop::collect() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const easy = message->easy_handle;
    const CURLcode code = message->data.result;
    const auto transfer = active_.at(easy);
    if (transfer->died_on_kept_connection(code)) {
      curl_multi_remove_handle(multi_, easy);
      transfer->prepare_again();
      curl_multi_add_handle(multi_, easy);
      continue;
    }
    transfer->finish(code);
    retire(transfer);
  }
}

void CurlLoop::kick() {
  if (std::exchange(kicked_, true)) return;
  asio::post(executor_, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->kicked_ = false;
    int running = 0;
    curl_multi_socket_action(self->multi_, CURL_SOCKET_TIMEOUT, 0, &running);
    self->collect();
  });
}

void CurlLoop::wait() {
  if (waiting_ || active_.empty()) return;
  waiting_ = true;
  ready_.async_wait(asio::posix::descriptor_base::wait_read,
                    [weak = weak_from_this()](const boost::system::error_code& error) {
                      const auto self = weak.lock();
                      if (!self) return;
                      self->waiting_ = false;
                      if (!error) self->take_ready();
                      self->wait();  // also after a cancelled wait: new transfers may have come since
                    });
}

void CurlLoop::take_ready() {
  std::array<epoll_event, 256> events;
  const int count = ::epoll_wait(ready_.native_handle(), events.data(), static_cast<int>(events.size()), 0);
  int running = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    int flags = 0;
    if ((event.events & EPOLLIN) != 0) flags |= CURL_CSELECT_IN;
    if ((event.events & EPOLLOUT) != 0) flags |= CURL_CSELECT_OUT;
    if ((event.events & (EPOLLERR | EPOLLHUP)) != 0) flags |= CURL_CSELECT_ERR;
    curl_multi_socket_action(multi_, event.data.fd, flags, &running);
  }
  collect();
}

int CurlLoop::on_socket(CURL* /*easy*/, curl_socket_t fd, int what, void* self, void* known) {
  auto& loop = *static_cast<CurlLoop*>(self);
  const int set = loop.ready_.native_handle();
  if (what == CURL_POLL_REMOVE) {
    epoll_event none{};
    ::epoll_ctl(set, EPOLL_CTL_DEL, fd, &none);  // fails when the socket is closed already: then it is gone anyway
    curl_multi_assign(loop.multi_, fd, nullptr);
    return 0;
  }
  epoll_event event{};
  event.data.fd = fd;
  if ((what & CURL_POLL_IN) != 0) event.events |= EPOLLIN;
  if ((what & CURL_POLL_OUT) != 0) event.events |= EPOLLOUT;
  // A descriptor's number may come again before or after libcurl tells us; the set knows best what it holds.
  if (::epoll_ctl(set, known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event) != 0) {
    ::epoll_ctl(set, known == nullptr ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
  }
  curl_multi_assign(loop.multi_, fd, self);
  return 0;
}

// libcurl changes its mind about the next moment with every transfer. The timer is moved only when it would fire too
// late; one that fires too early looks again.
int CurlLoop::on_timer(CURLM* /*multi*/, long timeout_ms, void* self) {
  auto& loop = *static_cast<CurlLoop*>(self);
  if (timeout_ms == 0) {
    loop.wanted_ = TimePoint::max();
    loop.kick();
  } else if (timeout_ms < 0) {
    loop.wanted_ = TimePoint::max();
  } else {
    loop.wanted_ = system_clock().now() + std::chrono::milliseconds(timeout_ms);
    if (loop.wanted_ < loop.armed_) loop.arm_timer();
  }
  return 0;
}

void CurlLoop::arm_timer() {
  armed_ = wanted_;
  timer_.expires_at(armed_);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!self || error) return;
    self->armed_ = TimePoint::max();
    if (self->wanted_ <= system_clock().now()) {
      self->wanted_ = TimePoint::max();
      self->kick();
    } else if (self->wanted_ != TimePoint::max()) {
      self->arm_timer();
    }
  });
}

}  // namespace lectern::provider
