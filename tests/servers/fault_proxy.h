// A TCP proxy between a program and its server that misbehaves when told to: for tests of what a cut, half-open or slow
// connection does. Runs on a thread of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace lectern::test {

class FaultProxy {
 public:
  enum class Mode : std::uint8_t {
    pass,       // every byte, both ways
    half_open,  // connections stay open and new ones are accepted, but not a byte passes
    slow,       // a few bytes at a time, both ways
    refuse,     // new connections are closed at once
  };

  // Listens on a free port of 127.0.0.1 and connects to `port` there.
  explicit FaultProxy(std::uint16_t target_port);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  std::uint16_t port() const;
  // For the connections that are there, too. Returns when it is in force.
  void set(Mode mode);
  // Resets (RST) all connections that are there. Returns how many.
  int cut();
  // Resets a connection once this many more bytes have come from the server; 0 = never. Acts once.
  void cut_after_reply_bytes(std::int64_t bytes);
  int connections() const;        // there now
  std::int64_t accepted() const;  // ever
  // Returns when more connections than these have been accepted, the refused ones among them.
  void wait_accepted_beyond(std::int64_t count) const;

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace lectern::test
