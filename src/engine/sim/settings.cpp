#include "engine/sim/settings.h"

#include <simdjson.h>

#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>

namespace lectern::sim {
namespace {

template <class T>
Status number(std::string_view name, std::string_view text, T& to, T smallest) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < smallest)
    return fail(ErrorKind::invalid_input, "{}: '{}' is not a number of at least {}", name, text, smallest);
  to = value;
  return {};
}

Status flag(std::string_view name, std::string_view text, bool& to) {
  if (text != "true" && text != "false" && !text.empty())
    return fail(ErrorKind::invalid_input, "{}: write true or false, not '{}'", name, text);
  to = text != "false";
  return {};
}

template <class T>
Status keep(Result<T> value, T& to) {
  if (!value) return std::unexpected(value.error());
  to = std::move(*value);
  return {};
}

Status set_dialect(Settings& s, std::string_view value) {
  if (value != "vllm" && value != "llama-server")
    return fail(ErrorKind::invalid_input, "as: '{}' is not known; there are vllm and llama-server", value);
  s.as = value == "vllm" ? Dialect::vllm : Dialect::llama_server;
  return {};
}

Status set_text(Settings& s, std::string_view value) {
  s.echo = value == "echo";
  s.fixed_text.clear();
  if (s.echo || value == "page") return {};
  std::ifstream file{std::string(value)};
  if (!file)
    return fail(ErrorKind::not_found, "text: cannot read the file '{}'; write a file's name, echo or page", value);
  s.fixed_text.assign(std::istreambuf_iterator<char>(file), {});
  return {};
}

Status add_fault(Settings& s, std::string_view value) {
  if (value.empty() || value == "none") {
    s.faults.clear();
    return {};
  }
  auto rule = parse_fault(value);
  if (!rule) return std::unexpected(rule.error());
  s.faults.push_back(*rule);
  return {};
}

Status set_probability(Settings& s, std::string_view value) {
  double probability = 0;
  if (auto read = number("probability", value, probability, 0.0); !read) return read;
  if (probability <= 0 || probability > 1)
    return fail(ErrorKind::invalid_input, "probability: '{}' is not above 0 and at most 1", value);
  s.probability = probability;
  return {};
}

struct Entry {
  SettingHelp help;
  Status (*set)(Settings&, std::string_view);
};

constexpr double tiny = 1e-9;  // of a scale: everything is due at once

constexpr std::array entries = {
    Entry{{"as", "vllm|llama-server", "whose habits to have"}, set_dialect},
    Entry{{"slots", "N", "requests that run at once; 0 = as many as come"},
          [](Settings& s, std::string_view v) { return number("slots", v, s.slots, 0); }},
    Entry{{"latency", "MODEL", "fixed:0.5s, lognormal:0.5s,0.4 or tokens:PREFILL_PER_S,DECODE_PER_S"},
          [](Settings& s, std::string_view v) { return keep(parse_latency(v), s.latency); }},
    Entry{{"batching", "ALPHA", "n running requests take 1 + ALPHA (n - 1) times as long; 0.3 is like a real GPU"},
          [](Settings& s, std::string_view v) { return number("batching", v, s.batching, 0.0); }},
    Entry{{"time-scale", "F", "every latency times F"},
          [](Settings& s, std::string_view v) { return number("time-scale", v, s.time_scale, tiny); }},
    Entry{{"seed", "N", "decides latencies and which requests fail"},
          [](Settings& s, std::string_view v) { return number("seed", v, s.seed, std::uint64_t{0}); }},
    Entry{{"fault", "KIND[:RATE][:KEY=VALUE]…", "what goes wrong; may be repeated; the first that hits counts"},
          add_fault},
    Entry{{"model", "NAME", "the model that is served; * = any name"},
          [](Settings& s, std::string_view v) { return s.model = v, Status{}; }},
    Entry{{"api-key", "KEY", "refuse requests without it"},
          [](Settings& s, std::string_view v) { return s.api_key = v, Status{}; }},
    Entry{{"context-tokens", "N", "refuse longer prompts, end longer replies; 0 = endless"},
          [](Settings& s, std::string_view v) { return number("context-tokens", v, s.context_tokens, 0); }},
    Entry{{"words", "N", "length of an answer"},
          [](Settings& s, std::string_view v) { return number("words", v, s.words, 0); }},
    Entry{{"probability", "P", "of the answer's tokens, as logprobs tell it: their geometric mean"}, set_probability},
    Entry{{"grounding", "", "answers with DeepSeek-OCR's markup"},
          [](Settings& s, std::string_view v) { return flag("grounding", v, s.grounding); }},
    Entry{{"text", "FILE|echo|page", "answer with a file, with the prompt's text, or with text made from the image"},
          set_text},
    Entry{{"chunk-tokens", "N", "tokens in one event of a stream"},
          [](Settings& s, std::string_view v) { return number("chunk-tokens", v, s.chunk_tokens, 1); }},
    Entry{{"keep-alive", "TIME", "close connections that were idle for so long"},
          [](Settings& s, std::string_view v) { return keep(parse_seconds(v), s.keep_alive_s); }},
    Entry{{"keep-alive-requests", "N", "close connections after so many requests; 0 = never"},
          [](Settings& s, std::string_view v) { return number("keep-alive-requests", v, s.keep_alive_requests, -1); }},
    Entry{{"check-images", "", "refuse what does not begin as an image does"},
          [](Settings& s, std::string_view v) { return flag("check-images", v, s.check_images); }},
    Entry{{"loading", "", "be as while the model loads: llama-server answers 503, vLLM does not listen"},
          [](Settings& s, std::string_view v) { return flag("loading", v, s.loading); }},
    Entry{{"paused", "", "take requests and let them wait, as a sleeping vLLM does"},
          [](Settings& s, std::string_view v) { return flag("paused", v, s.paused); }},
    Entry{{"dead", "", "close every connection and stop listening"},
          [](Settings& s, std::string_view v) { return flag("dead", v, s.dead); }},
    Entry{{"die-after", "N", "become dead on the N-th request; 0 = never"},
          [](Settings& s, std::string_view v) { return number("die-after", v, s.die_after, std::uint64_t{0}); }},
    Entry{{"back-after", "TIME", "being dead ends after so long; 0 = it does not"},
          [](Settings& s, std::string_view v) { return keep(parse_seconds(v), s.back_after_s); }},
};

constexpr auto helps = [] {
  std::array<SettingHelp, entries.size()> made{};
  for (std::size_t i = 0; i < entries.size(); ++i) made[i] = entries[i].help;
  return made;
}();

Result<std::string> as_text(std::string_view name, simdjson::dom::element value) {
  switch (value.type()) {
    case simdjson::dom::element_type::STRING:
      return std::string(value.get_string().value_unsafe());
    case simdjson::dom::element_type::INT64:
    case simdjson::dom::element_type::UINT64:
    case simdjson::dom::element_type::DOUBLE:
    case simdjson::dom::element_type::BOOL:
      return simdjson::minify(value);
    default:
      return fail(ErrorKind::invalid_input, "{}: a string, a number, true or false is expected", name);
  }
}

Status apply_member(Settings& settings, std::string_view name, simdjson::dom::element value) {
  simdjson::dom::array several;
  if (name == "fault") settings.faults.clear();
  if (name == "fault" && value.get_array().get(several) == simdjson::SUCCESS) {
    for (const auto each : several)
      if (auto done = apply_member(settings, "one-more-fault", each); !done) return done;
    return {};
  }
  auto text = as_text(name, value);
  if (!text) return std::unexpected(text.error());
  return set(settings, name == "one-more-fault" ? "fault" : name, *text);
}

}  // namespace

std::span<const SettingHelp> setting_help() {
  return helps;
}

Status set(Settings& settings, std::string_view name, std::string_view value) {
  for (const Entry& entry : entries)
    if (entry.help.name == name) return entry.set(settings, value);
  return fail(ErrorKind::invalid_input, "there is no setting '{}'", name);
}

Status apply_json(Settings& settings, std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(json.data(), json.size()).get_object().get(object) != simdjson::SUCCESS)
    return fail(ErrorKind::invalid_input, "a JSON object of settings is expected");
  Settings changed = settings;
  for (const auto [name, value] : object)
    if (auto done = apply_member(changed, name, value); !done) return done;
  settings = std::move(changed);
  return {};
}

}  // namespace lectern::sim
