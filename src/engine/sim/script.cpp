#include "engine/sim/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/sim/chat_reply.h"
#include "engine/sim/http_reply.h"

namespace lectern::sim {
namespace {

constexpr std::string_view event_stream = "text/event-stream; charset=utf-8";
constexpr std::string_view html_page =
    "<!DOCTYPE html><html><head><title>Welcome</title></head><body><h1>It works!</h1></body></html>\n";

std::optional<FaultKind> kind_of(const ScriptInput& in) {
  return in.fault == nullptr ? std::nullopt : std::optional(in.fault->kind);
}

std::string stream_head(const ScriptInput& in) {
  const std::string_view extra = in.settings->as == Dialect::vllm ? "" : "X-Accel-Buffering: no\r\n";
  return chunked_head(in.settings->as, {.content_type = event_stream, .close = in.close, .extra = extra});
}

std::string oom_message(Dialect as) {
  return as == Dialect::vllm ? "CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of 23.64 "
                               "GiB of which 1.02 GiB is free."
                             : "failed to process image: CUDA error: out of memory";
}

// One thing at one moment.
void at_once(Script& script, std::string bytes, double at_work_s) {
  script.bytes += bytes;
  script.steps.push_back({.end = script.bytes.size(), .at_work_s = at_work_s});
}

void error_reply(Script& script, const ScriptInput& in, std::string message, double at_work_s) {
  const Dialect as = in.settings->as;
  at_once(script,
          http_reply(as, {.status = 500, .close = in.close},
                     error_body(as, {.status = 500, .message = std::move(message)})),
          at_work_s);
}

// The events of a stream with the moments when they are due.
class StreamWriter {
 public:
  StreamWriter(Script& script, const Work& work) : script_(script), work_(work) {}

  void add(double share_of_decode, std::string_view events) {
    const double at = work_.prefill_s + work_.decode_s * share_of_decode;
    if (!pending_.empty() && at != pending_at_) flush();
    pending_ += events;
    pending_at_ = at;
  }
  void finish() {
    flush();
    script_.bytes += last_chunk;
    if (script_.steps.empty()) script_.steps.push_back({.at_work_s = work_.total_s()});
    script_.steps.back().end = script_.bytes.size();
  }

 private:
  void flush() {
    if (pending_.empty()) return;
    append_chunk(script_.bytes, pending_);
    script_.steps.push_back({.end = script_.bytes.size(), .at_work_s = pending_at_});
    pending_.clear();
  }
  Script& script_;
  Work work_;
  std::string pending_;
  double pending_at_ = 0;
};

void stream_reply(Script& script, const ScriptInput& in, const ChatReplyInput& reply, const Work& work) {
  if (in.settings->as == Dialect::llama_server) at_once(script, stream_head(in), 0);
  const StreamEvents events(reply);
  StreamWriter writer(script, work);
  writer.add(0, events.role());
  const std::size_t tokens = reply.answer->ends.size();
  const bool breaks = kind_of(in) == FaultKind::error_in_stream;
  const bool is_garbage = kind_of(in) == FaultKind::garbage;
  const std::size_t told = breaks || is_garbage ? tokens / 2 : tokens;
  const auto each = static_cast<std::size_t>(in.settings->chunk_tokens);
  for (std::size_t from = 0; from < told; from += each) {
    const std::size_t to = std::min(told, from + each);
    writer.add(static_cast<double>(to) / static_cast<double>(tokens), events.content(from, to));
  }
  if (breaks) {
    writer.add(0.5, events.error("the engine failed while it was generating"));
    if (in.settings->as == Dialect::vllm) writer.add(0.5, StreamEvents::done);
  } else if (is_garbage) {
    writer.add(1, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\n\ndata: \xFF\xFE}}]\n\n");
    writer.add(1, StreamEvents::done);
  } else {
    writer.add(1, events.finish());
    writer.add(1, events.usage());
    writer.add(1, StreamEvents::done);
  }
  writer.finish();
}

void plain_reply(Script& script, const ScriptInput& in, const ChatReplyInput& reply, const Work& work) {
  std::string body = plain_body(reply);
  if (kind_of(in) == FaultKind::garbage) body.resize(body.size() / 2);
  at_once(script, http_reply(in.settings->as, {.close = in.close, .extra = in.load_header}, body), work.total_s());
}

// Keeps the first half of the bytes; what comes after them is up to the ending. A reply that is one step still begins
// when it is due.
void keep_half(Script& script, Ending ending) {
  const std::size_t half = script.bytes.size() / 2;
  std::vector<Script::Step> kept;
  for (const Script::Step& step : script.steps) {
    kept.push_back({.end = std::min(step.end, half), .at_work_s = step.at_work_s});
    if (step.end >= half) break;
  }
  script.steps = std::move(kept);
  script.bytes.resize(half);
  script.ending = ending;
}

void trickle(Script& script, const FaultRule& fault) {
  double at = script.steps.front().at_work_s;
  std::vector<Script::Step> drops;
  for (std::size_t end = 0; end < script.bytes.size(); at += fault.interval_s) {
    end = std::min(script.bytes.size(), end + static_cast<std::size_t>(fault.bytes));
    drops.push_back({.end = end, .at_work_s = at});
  }
  script.steps = std::move(drops);
}

}  // namespace

std::string early_bytes(const ScriptInput& in) {
  if (in.settings->as != Dialect::vllm || !in.request->stream) return {};
  const auto kind = kind_of(in);
  const bool has_own_head = kind == FaultKind::hang || kind == FaultKind::drop || kind == FaultKind::oom ||
                            kind == FaultKind::wrong_content_type;
  return has_own_head ? std::string() : stream_head(in);
}

Script make_script(const ScriptInput& in) {
  Script script{.ending = in.close ? Ending::close : Ending::keep_alive};
  const auto kind = kind_of(in);
  const Answer answer = make_answer(*in.settings, *in.request, kind);
  const Work work = work_of(in.settings->latency, {.seed = in.settings->seed,
                                                   .request = in.number,
                                                   .prompt_tokens = answer.prompt_tokens,
                                                   .completion_tokens = answer.completion_tokens()});
  script.prompt_tokens = answer.prompt_tokens;
  script.completion_tokens = answer.completion_tokens();
  const ChatReplyInput reply{.settings = in.settings,
                             .request = in.request,
                             .answer = &answer,
                             .number = in.number,
                             .created = in.created,
                             .prefill_s = work.prefill_s,
                             .decode_s = work.decode_s};
  if (kind == FaultKind::hang) {
    script.ending = Ending::silence;
    return script;
  }
  if (kind == FaultKind::drop) {
    script.ending = Ending::close;
    return script;
  }
  if (kind == FaultKind::oom) {
    error_reply(script, in, oom_message(in.settings->as), work.prefill_s);
  } else if (kind == FaultKind::wrong_content_type) {
    at_once(script, http_reply(in.settings->as, {.content_type = "text/html", .close = in.close}, html_page),
            work.total_s());
  } else if (in.request->stream) {
    stream_reply(script, in, reply, work);
  } else if (kind == FaultKind::error_in_stream) {
    error_reply(script, in, "the engine failed while it was generating", work.prefill_s + work.decode_s / 2);
  } else {
    plain_reply(script, in, reply, work);
  }
  if (kind == FaultKind::cut) keep_half(script, Ending::close);
  if (kind == FaultKind::hang_mid_stream) keep_half(script, Ending::silence);
  if (kind == FaultKind::slow_bytes) trickle(script, *in.fault);
  return script;
}

std::string refusal_bytes(const Settings& settings, const FaultRule& fault, bool close) {
  std::string extra;
  if (fault.retry_after_s) extra = fmt::format("Retry-After: {}\r\n", std::ceil(*fault.retry_after_s));
  if (fault.kind == FaultKind::too_many)  // neither server ever sends one; this is what gateways in front of them say
    return http_reply(
        settings.as, {.status = 429, .close = close, .extra = extra},
        R"({"error":{"message":"Rate limit reached","type":"requests","param":null,"code":"rate_limit_exceeded"}})");
  return http_reply(settings.as, {.status = 503, .close = close, .extra = extra},
                    error_body(settings.as, {.status = 503, .message = "The server is overloaded"}));
}

}  // namespace lectern::sim
