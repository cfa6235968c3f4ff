#include "reading/model/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reading/model/refusal.h"
#include "reading/model/text_pieces.h"

namespace lectern::reading {
namespace {

using namespace std::string_view_literals;
using provider::FinishReason;

constexpr double prior = 0.7;             // an answer of which nothing is known
constexpr double agreement_whole = 0.95;  // two readings of one page rarely agree better
constexpr double page_says_so = 0.6;      // agreement from which a "refusal" is what the page says

// The markdown breaks off inside something: what it is, or empty.
std::string_view open_structure(std::string_view text) {
  bool code = false;
  bool formula = false;
  std::string_view last;
  std::string_view before;
  for (const std::string_view line : lines_of(text)) {
    const std::string_view inner = trimmed(line);
    if (inner.starts_with("```"sv)) code = !code;
    if (!code && (inner == "$$" || (inner.starts_with("$$"sv) && inner.find("$$", 2) == inner.npos)))
      formula = !formula;
    if (inner.empty()) continue;
    before = last;
    last = inner;
  }
  if (code) return "a code block";
  if (formula) return "a formula";
  const std::size_t opened = text.rfind("<table");
  const std::size_t closed = text.rfind("</table");
  if (opened != text.npos && (closed == text.npos || closed < opened)) return "a table";
  if (last.size() > 1 && last.starts_with('|') && !last.ends_with('|') && before.starts_with('|') &&
      before.ends_with('|'))
    return "a table";
  return {};
}

std::string how_truncated(const JudgedReply& judged) {
  switch (judged.reply.finish) {
    case FinishReason::length:
      return "the answer ran into the token limit";
    case FinishReason::abort:
      return "the server gave the answer up";
    case FinishReason::cut:
      return "the answer was cut";
    case FinishReason::unknown:
      if (const auto open = open_structure(judged.text); !open.empty())
        return fmt::format("the answer ends inside {}", open);
      return {};
    case FinishReason::stop:
    case FinishReason::content_filter:
    case FinishReason::repetition:
      return {};
  }
  return {};
}

// What logprobs and the page's own words say; `why` tells it.
struct Trust {
  double confidence = prior;
  std::string why;
  bool founded = false;
};
Trust trust_in(const JudgedReply& judged, std::optional<double> agreement) {
  const auto& logprob = judged.reply.mean_logprob;
  const std::optional<double> probability =
      logprob && std::isfinite(*logprob) ? std::optional(std::clamp(std::exp(*logprob), 0.0, 1.0)) : std::nullopt;
  const double agreed = std::min(1.0, agreement.value_or(1) / agreement_whole);
  const std::string words =
      agreement ? fmt::format("{:.0f}% agreement with the words known of the page", *agreement * 100) : "";
  if (probability && agreement) {
    return {.confidence = std::pow(*probability, 0.6) * std::pow(agreed, 0.4),
            .why = fmt::format("mean token probability {:.2f}, {}", *probability, words),
            .founded = true};
  }
  if (probability) {
    return {
        .confidence = *probability, .why = fmt::format("mean token probability {:.2f}", *probability), .founded = true};
  }
  if (agreement) {
    return {
        .confidence = std::min(0.98, 0.3 + 0.7 * agreed), .why = "no token probabilities, " + words, .founded = true};
  }
  return {.confidence = prior, .why = "no token probabilities and no words to compare with", .founded = false};
}

std::string first_words(std::string_view text) {
  std::string out;
  for (const char c : trimmed(text).substr(0, 60)) out += c == '\n' ? ' ' : c;
  while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0U) == 0x80U) out.pop_back();
  if (!out.empty() && (static_cast<unsigned char>(out.back()) & 0x80U) != 0) out.pop_back();
  return out.size() < trimmed(text).size() ? out + "…" : std::string(trimmed(text));
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::good:
      return "good";
    case Verdict::empty:
      return "empty";
    case Verdict::looping:
      return "looping";
    case Verdict::truncated:
      return "truncated";
    case Verdict::refused:
      return "refused";
    case Verdict::doubtful:
      return "doubtful";
  }
  return "";
}

Worth worth_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::good:
      return Worth::whole;
    case Verdict::doubtful:
      return Worth::doubtful;
    case Verdict::truncated:
    case Verdict::looping:
      return Worth::part;
    case Verdict::empty:
    case Verdict::refused:
      return Worth::nothing;
  }
  return Worth::nothing;
}

Judgement judge_reply(const JudgedReply& judged) {
  const bool empty = trimmed(judged.text).empty();
  Judgement out;
  if (!judged.evidence.words.empty() && !empty) out.agreement = word_agreement(judged.text, judged.evidence.words);
  const Trust trust = trust_in(judged, out.agreement);
  const auto verdict = [&](Verdict is, double share, std::string why) {
    out.verdict = is;
    out.confidence = std::clamp(trust.confidence * share, 0.0, 1.0);
    out.why = std::move(why);
    return out;
  };

  if (judged.reply.finish == FinishReason::content_filter) {
    return verdict(Verdict::refused, 0, "the server's content filter withheld the answer");
  }
  if (judged.loop != nullptr) {
    return verdict(Verdict::looping, 0.2,
                   fmt::format("the answer repeats \"{}\" {} times", judged.loop->unit, judged.loop->times));
  }
  if (judged.reply.finish == FinishReason::repetition) {
    return verdict(Verdict::looping, 0.2, "the server noticed that the answer repeats itself");
  }
  if (std::string how = how_truncated(judged); !how.empty()) return verdict(Verdict::truncated, 0.5, std::move(how));
  if (empty) {
    if (judged.evidence.blank) {
      out.confidence = 0.95;
      out.why = "the page is blank, and so is the answer";
      return out;
    }
    const bool words = !trimmed(judged.evidence.words).empty();
    return verdict(Verdict::empty, 0,
                   words ? "the answer is empty although the page shows text"
                         : "the answer is empty, and the page is not known to be blank");
  }
  if (is_refusal(judged.text) && out.agreement.value_or(0) < page_says_so) {
    return verdict(Verdict::refused, 0, fmt::format("the model declined: \"{}\"", first_words(judged.text)));
  }
  const bool doubtful = trust.founded && trust.confidence < judged.confidence_min;
  return verdict(doubtful ? Verdict::doubtful : Verdict::good, 1, trust.why);
}

}  // namespace lectern::reading
