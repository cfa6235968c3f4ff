// libcurl's multi handle on an Asio event loop. Everything here runs on that loop's thread.
//
// libcurl says which sockets to watch; they go into an epoll set of their own, and the loop waits for the set. So a
// burst of ready sockets costs one wake-up, and a socket that libcurl keeps for later is not watched at all.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <curl/curl.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "provider/curl_transfer.h"

namespace lectern::provider {

class CurlLoop : public std::enable_shared_from_this<CurlLoop> {
 public:
  explicit CurlLoop(boost::asio::any_io_executor executor);
  ~CurlLoop();
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  const boost::asio::any_io_executor& executor() const { return executor_; }  // safe from any thread

  void start(std::shared_ptr<CurlTransfer> transfer);
  // Closes its connection. Does nothing when the transfer is over.
  void stop(const std::shared_ptr<CurlTransfer>& transfer, FailureReason reason);
  void resume(const std::shared_ptr<CurlTransfer>& transfer);
  void close();  // ends all transfers as cancelled; later ones too
  // The event loop is being destroyed: those who wait will never be resumed, so they are destroyed too.
  void abandon();

 private:
  static int on_socket(CURL* easy, curl_socket_t fd, int what, void* self, void* known);
  static int on_timer(CURLM* multi, long timeout_ms, void* self);

  void kick();        // lets libcurl look at its transfers soon
  void wait();        // for sockets, while there are transfers
  void take_ready();  // what the epoll set has
  void arm_timer();
  void collect();  // transfers that have ended
  void retire(const std::shared_ptr<CurlTransfer>& transfer);

  const boost::asio::any_io_executor executor_;
  boost::asio::posix::stream_descriptor ready_;  // the epoll set
  boost::asio::steady_timer timer_;
  CURLM* multi_;
  std::vector<CURL*> spare_;  // handles to use again
  std::unordered_map<CURL*, std::shared_ptr<CurlTransfer>> active_;
  TimePoint wanted_ = TimePoint::max();  // when libcurl wants to be called
  TimePoint armed_ = TimePoint::max();   // when the timer fires: never after wanted_
  bool kicked_ = false;
  bool waiting_ = false;
  bool closed_ = false;
};

}  // namespace lectern::provider
