// How full an engine's slots are, where it tells: the simulated engine's own account, or llama-server's /slots, looked
// at now and then.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <string>

#include "provider/http_client.h"

namespace lectern::cli {

class EngineSlots {
 public:
  // `slots` is how many the engine has; 0 = not known.
  EngineSlots(std::shared_ptr<provider::HttpClient> client, const std::string& address, int slots);

  boost::asio::awaitable<void> start();
  boost::asio::awaitable<void> sample();
  // 0..1 since start(); nullopt: the engine does not tell.
  boost::asio::awaitable<std::optional<double>> utilisation();

 private:
  boost::asio::awaitable<std::optional<std::string>> ask(std::string method, std::string path);

  const std::shared_ptr<provider::HttpClient> client_;  // shared: one for the whole process
  std::string root_;                                    // address without /v1; empty = a program, or a socket
  const int slots_;
  bool has_account_ = false;
  double busy_ = 0;  // of the looks at /slots: busy ones over all
  int looks_ = 0;
};

}  // namespace lectern::cli
