// Why a question was not answered, whoever was asked. One vocabulary for HTTP servers, processes and the network;
// openai_errors.h maps what each kind of server says to it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace lectern::provider {

enum class FailureReason : std::uint8_t {
  bad_request,      // the server does not understand or allow the request
  too_long,         // prompt and images do not fit the model's context
  bad_image,        // the server cannot decode the picture, or takes no pictures
  not_supported,    // the server lacks a feature that was asked for
  unknown_model,    // no such model or path there
  unauthorized,     // key missing or wrong
  quota,            // the account has no money or allowance left
  rate_limited,     // 429: too many requests for now
  overloaded,       // 503, queue full: too much work for now
  loading,          // the model is being loaded
  out_of_memory,    // of the GPU or host that runs the model
  engine_failed,    // 500: something broke in there
  unreachable,      // no connection: refused, unknown host, TLS
  connection_lost,  // it broke before the answer was whole
  timed_out,        // the deadline passed
  cancelled,        // by us
  bad_reply,        // the answer is no answer: wrong content type, broken JSON, nothing in it
};
inline constexpr int failure_reasons = 17;

std::string_view to_string(FailureReason reason);

// Exhaustive switches, each the only place that decides its question.
ErrorKind kind_of(FailureReason reason);
// May the same request succeed a little later, or on another engine?
bool worth_retrying(FailureReason reason);
// Does it tell that the engine itself is ill? (A bad request says nothing about its health.)
bool counts_against_engine(FailureReason reason);
// Does it tell that the engine has more work than it can take?
bool means_too_much_work(FailureReason reason);
// Does no engine get better from it by waiting, because somebody has to change something?
bool needs_a_person(FailureReason reason);

struct Failure;
// Was there not even a connection? Then nothing of the question has reached anybody, and no other will fare better
// before the engine is back. (A proxy that says so of the engine behind it may have others.)
bool nobody_there(const Failure& failure);

struct Failure {
  FailureReason reason = FailureReason::engine_failed;
  std::string message;  // names the engine and what it said; safe to show
  std::optional<std::chrono::milliseconds> retry_after;
  int http_status = 0;              // 0 = none was seen
  bool reply_started = false;       // some of the answer had arrived
  std::string partial_text;         // what had arrived of it
  std::size_t reasoning_bytes = 0;  // that had arrived before it and were not kept

  Error error() const { return {kind_of(reason), message, message}; }
  bool operator==(const Failure&) const = default;
};

}  // namespace lectern::provider
