// Asks one engine for its own load figures: llama-server's /slots, else the /metrics of vLLM and SGLang.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <cstddef>
#include <memory>

#include "provider/openai_endpoint.h"

namespace lectern::provider {

// Which page of an engine says it; found by trying each once. Safe from any thread.
class LoadPages {
 public:
  std::size_t now() const { return page_; }
  // That page says nothing.
  void give_up(std::size_t page) { page_.compare_exchange_strong(page, page + 1); }

 private:
  std::atomic<std::size_t> page_ = 0;
};

// False: an engine that cannot be asked, since nobody knows where, or since it is a hosted API.
bool tells_load(const OpenAiEndpoint& endpoint);
// `pages` is shared with the engine's other calls.
boost::asio::awaitable<LoadAnswer> ask_load(OpenAiEndpoint endpoint, std::shared_ptr<LoadPages> pages,
                                            CallOptions call);

}  // namespace lectern::provider
