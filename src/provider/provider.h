// provider/: asks a model a question and returns its answer.
// May use: telemetry/, base/. Knows nothing of pages, documents, jobs or HTTP servers of ours.
// Owns: connections, limits, retries, breakers. Threads: every public call is safe from any thread; coroutines run on
// the executor that awaits them.
// Start here (the contract), then openai.h and process.h (who fulfils it), then fleet.h (many engines as one).
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancellation.h"
#include "base/clock.h"
#include "provider/failure.h"

namespace lectern::provider {

struct PromptImage {
  // An encoded picture. Shared: one prompt is asked several times (retry, hedge), and nothing in the process is larger.
  std::shared_ptr<const std::vector<std::uint8_t>> bytes;
  std::string media_type = "image/jpeg";
};

struct Parameters {
  int tokens_max = 4096;
  double temperature = 0;  // always sent: servers disagree about the default
  std::optional<double> top_p;
  std::optional<double> repetition_penalty;  // sent under the name that the server knows
  std::optional<double> frequency_penalty;
  std::optional<std::int64_t> seed;
  std::vector<std::string> stop;
  bool logprobs = false;
  std::string json_schema;  // text of a JSON schema that the reply must fit; empty = free text
  std::string extra_body;   // text of a JSON object whose members join the request as they are; empty = none
  bool operator==(const Parameters&) const = default;
};

struct Prompt {
  std::string model;  // empty = the provider's own
  std::string system;
  std::string user;
  std::vector<PromptImage> images;  // come before the user's text, in this order
  Parameters parameters;
};

enum class FinishReason : std::uint8_t {
  stop,            // the model was done
  length,          // it ran into tokens_max or its context
  content_filter,  // the server withheld the rest
  abort,           // the server gave up on it (sleep, shutdown): worth retrying
  repetition,      // the server noticed a loop
  cut,             // on_text asked to stop
  unknown,         // the server did not say
};
std::string_view to_string(FinishReason reason);

struct Usage {
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;
  std::int64_t cached_tokens = 0;  // of the prompt's
  bool estimated = false;          // by us: the server did not say
  bool operator==(const Usage&) const = default;
};

struct Reply {
  std::string text;
  std::string reasoning;  // what a thinking model said before its answer, where the server keeps it apart
  FinishReason finish = FinishReason::unknown;
  std::optional<Usage> usage;
  std::optional<double> mean_logprob;      // over the tokens of the text, where the server gives them
  std::string model;                       // who answered, as it calls itself
  std::string engine;                      // name of the provider that answered
  std::chrono::nanoseconds first_byte{0};  // from sending the request to the first byte of the answer's body
  std::chrono::nanoseconds total{0};
  int attempts = 1;  // how often somebody was asked for it
};

using Answer = std::expected<Reply, Failure>;

// What an engine says of its own load, whoever caused it; absent where it does not say.
struct LoadFigures {
  std::optional<int> slots;  // requests that it can work on at a time
  std::optional<int> running;
  std::optional<int> waiting;
  bool operator==(const LoadFigures&) const = default;
};
struct LoadAnswer {
  std::optional<LoadFigures> figures;  // none: not now
  bool ask_again = true;               // false: it never will
};

struct CallOptions {
  Deadline deadline;
  Cancellation cancellation;
  // Hears each piece of text as it arrives, on the executor that awaits the call; must not block. False cuts the
  // answer: the request is ended for real and the reply comes back with FinishReason::cut. When a provider asks again
  // after a failure, it first calls `on_restart`: what came before does not count.
  std::function<bool(std::string_view piece)> on_text;
  std::function<void()> on_restart;
  // Hears that something has come of the engine, be it no text (thinking, a sign that it works); like on_text.
  std::function<void()> on_sign = {};
};

class Provider {
 public:
  virtual ~Provider() = default;
  // Never throws. When the deadline passes or the cancellation is requested the call ends soon after, and what it
  // started is really ended.
  virtual boost::asio::awaitable<Answer> invoke(Prompt prompt, CallOptions options) = 0;
  // As many answers as prompts, in their order; one bad prompt costs only itself. By default one after another.
  virtual boost::asio::awaitable<std::vector<Answer>> batch_invoke(std::vector<Prompt> prompts, CallOptions options);
  virtual bool supports_batch() const { return false; }
  // Is it worth asking for its load? Then load() may be called now and then; it is a hint, so it never fails.
  virtual bool tells_load() const { return false; }
  virtual boost::asio::awaitable<LoadAnswer> load(CallOptions options);
  // How messages and metrics call it: an address without credentials, a program.
  virtual std::string name() const = 0;
};

}  // namespace lectern::provider
