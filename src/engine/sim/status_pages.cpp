#include "engine/sim/status_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "engine/sim/http_reply.h"
#include "engine/sim/json_scan.h"

namespace lectern::sim {
namespace {

constexpr std::string_view prometheus = "text/plain; version=0.0.4; charset=utf-8";
constexpr int context_default = 32768;

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(out, text);
  return out;
}

int context_of(const Settings& settings) {
  return settings.context_tokens > 0 ? settings.context_tokens : context_default;
}

// Shown as the number of slots where a server must have one.
int slots_of(const Settings& settings, const ServerView& view) {
  return settings.slots > 0 ? settings.slots : std::max(4, view.running);
}

// A figure that rises with load as the KV cache does.
double cache_usage(const Settings& settings, const ServerView& view) {
  return std::min(1.0, static_cast<double>(view.running) / slots_of(settings, view));
}

// The same for a server that has no queue: as many as nobody will fill.
int slots_listed(const Settings& settings, const ServerView& view) {
  return settings.slots > 0 ? settings.slots : std::max(256, view.running);
}

std::string models(const Settings& settings, const ServerView& view) {
  if (settings.as == Dialect::vllm)
    return fmt::format(
        R"({{"object":"list","data":[{{"id":"{0}","object":"model","created":{1},"owned_by":"vllm","root":"{0}","parent":null,"max_model_len":{2},"permission":[]}}]}})",
        escaped(settings.model), view.started, context_of(settings));
  return fmt::format(
      R"({{"object":"list","data":[{{"id":"{}","object":"model","created":{},"owned_by":"llamacpp","meta":{{"n_ctx_train":{},"n_vocab":151936,"n_params":3000000000,"size":6000000000}}}}]}})",
      escaped(settings.model), view.started, context_of(settings));
}

std::string vllm_metrics(const Settings& settings, const ServerView& view) {
  std::string out;
  const std::string labels = fmt::format(R"({{engine="0",model_name="{}"}})", escaped(settings.model));
  const auto put = [&](std::string_view name, std::string_view type, double value) {
    fmt::format_to(std::back_inserter(out), "# HELP vllm:{0} Simulated.\n# TYPE vllm:{0} {1}\nvllm:{0}{2} {3}\n", name,
                   type, labels, value);
  };
  put("num_requests_running", "gauge", view.running);
  put("num_requests_waiting", "gauge", view.waiting);
  put("kv_cache_usage_perc", "gauge", cache_usage(settings, view));
  put("prompt_tokens_total", "counter", static_cast<double>(view.prompt_tokens));
  put("generation_tokens_total", "counter", static_cast<double>(view.completion_tokens));
  put("request_success_total", "counter", static_cast<double>(view.answers));
  return out;
}

std::string llama_metrics(const ServerView& view) {
  std::string out;
  const auto put = [&](std::string_view name, std::string_view type, double value) {
    fmt::format_to(std::back_inserter(out),
                   "# HELP llamacpp:{0} Simulated.\n# TYPE llamacpp:{0} {1}\nllamacpp:{0} {2}\n", name, type, value);
  };
  put("prompt_tokens_total", "counter", static_cast<double>(view.prompt_tokens));
  put("tokens_predicted_total", "counter", static_cast<double>(view.completion_tokens));
  put("requests_processing", "gauge", view.running);
  put("requests_deferred", "gauge", view.waiting);
  return out;
}

StatusPage slots(const Settings& settings, const ServerView& view, std::string_view query) {
  const int total = slots_listed(settings, view);
  if (query.find("fail_on_no_slot=1") != std::string_view::npos && view.running >= total)
    return {.status = 503, .body = error_body(settings.as, {.status = 503, .message = "no slot available"})};
  std::string body = "[";
  for (int i = 0; i < total; ++i)
    fmt::format_to(
        std::back_inserter(body),
        R"({}{{"id":{},"id_task":{},"n_ctx":{},"is_processing":{},"params":{{}},"next_token":{{"n_decoded":0,"n_remain":-1}}}})",
        i == 0 ? "" : ",", i, i < view.running ? i : -1, context_of(settings), i < view.running);
  return {.body = body + "]"};
}

std::string props(const Settings& settings, const ServerView& view) {
  return fmt::format(
      R"({{"default_generation_settings":{{"n_ctx":{}}},"total_slots":{},"model_path":"/models/{}.gguf","chat_template":"","modalities":{{"vision":true,"audio":false}},"media_marker":"<__media__>","build_info":"sim","is_sleeping":{}}})",
      context_of(settings), slots_listed(settings, view), escaped(settings.model), settings.paused);
}

}  // namespace

std::optional<StatusPage> status_page(const Settings& settings, const ServerView& view, std::string_view path,
                                      std::string_view query) {
  const bool is_vllm = settings.as == Dialect::vllm;
  if (!is_vllm && settings.loading)
    return StatusPage{.status = 503, .body = error_body(settings.as, {.status = 503, .message = "Loading model"})};
  if (path == "/v1/models") return StatusPage{.body = models(settings, view)};
  if (path == "/metrics")
    return StatusPage{.content_type = prometheus, .body = is_vllm ? vllm_metrics(settings, view) : llama_metrics(view)};
  if (is_vllm) {
    if (path == "/health" || path == "/ping") return StatusPage{};
    if (path == "/version") return StatusPage{.body = R"({"version":"0.28.0+sim"})"};
    if (path == "/load") return StatusPage{.body = fmt::format(R"({{"server_load":{}}})", view.running + view.waiting)};
    if (path == "/is_sleeping") return StatusPage{.body = fmt::format(R"({{"is_sleeping":{}}})", settings.paused)};
    return std::nullopt;
  }
  if (path == "/health" || path == "/v1/health") return StatusPage{.body = R"({"status":"ok"})"};
  if (path == "/slots") return slots(settings, view, query);
  if (path == "/props") return StatusPage{.body = props(settings, view)};
  return std::nullopt;
}

std::string load_header(const Settings& settings, const ServerView& view, std::string_view format) {
  if (settings.as != Dialect::vllm || (format != "text" && format != "json")) return {};
  const double usage = cache_usage(settings, view);
  if (format == "json")
    return fmt::format(
        "endpoint-load-metrics: JSON {{\"named_metrics\": {{\"kv_cache_usage_perc\": {}, \"num_requests_waiting\": "
        "{}}}}}\r\n",
        usage, view.waiting);
  return fmt::format(
      "endpoint-load-metrics: TEXT named_metrics.kv_cache_usage_perc={}, named_metrics.num_requests_waiting={}\r\n",
      usage, view.waiting);
}

}  // namespace lectern::sim
