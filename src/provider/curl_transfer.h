// One request on its way: what libcurl is told, what it hands over, and the mailbox in which the awaiting coroutine
// finds it. Two sides meet here: the loop's thread (prepare … finish) and the caller's executor (news).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <curl/curl.h>

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "provider/http_client.h"

namespace lectern::provider {

class CurlTransfer {
 public:
  CurlTransfer(HttpRequest request, Deadline deadline);
  ~CurlTransfer();
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;

  // The loop's side -------------------------------------------------------------------------------------------------
  CURL* easy() const { return easy_; }  // null before prepare and after release
  void prepare(CURL* easy);
  CURL* release();
  // Did a kept connection die under the request before anything came back, so that it may go out again? libcurl sends
  // it again by itself when it notices while receiving, not when it notices while sending a large body.
  bool died_on_kept_connection(CURLcode code) const;
  void prepare_again();  // on a connection of its own
  void finish(CURLcode code);
  void finish(Failure failure);
  void abandon();  // destroys the waiting coroutine

  // The caller's side -----------------------------------------------------------------------------------------------
  struct News {
    std::optional<HttpHead> head;
    std::string body;
    bool was_paused = false;  // the loop must be told to go on
    bool done = false;
    std::optional<Failure> failure;  // only when done
  };
  // Waits until there is any. One waiter at a time.
  boost::asio::awaitable<News> news();
  const HttpRequest& request() const { return request_; }
  TimePoint started() const { return started_; }
  std::chrono::nanoseconds first_byte() const;  // 0 = none came
  bool done() const;

 private:
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_read(char* out, std::size_t size, std::size_t count, void* self);
  static int on_seek(void* self, curl_off_t offset, int origin);
  static curl_socket_t on_open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);

  void set_deadline();
  void set_transport();
  void set_body();
  void take_header(std::string_view line);
  bool deliver(std::string_view bytes);  // false = the mailbox is full
  bool something_new() const;            // REQUIRES: mutex_ is held
  void wake();                           // REQUIRES: mutex_ is held

  const HttpRequest request_;
  const Deadline deadline_;
  const TimePoint started_;

  // Only touched by the loop's thread.
  CURL* easy_ = nullptr;
  curl_slist* headers_ = nullptr;
  HttpBodyReader reader_;
  HttpHead incoming_;
  bool any_response_ = false;
  std::string refused_address_;  // the last one that may not be connected to
  std::array<char, CURL_ERROR_SIZE> detail_{};

  mutable std::mutex mutex_;  // guards all below
  News mail_;
  std::chrono::nanoseconds first_byte_{0};
  std::function<void()> waiter_;
};

}  // namespace lectern::provider
