// Is this answer worth keeping, and how far can it be trusted? Pure: reply and what is known of the page in, verdict
// out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "provider/provider.h"
#include "reading/model/repetition.h"

namespace lectern::reading {

enum class Verdict : std::uint8_t {
  good,
  empty,      // nothing, and the page is not known to be blank
  looping,    // repeats itself
  truncated,  // ends in the middle: length, abort
  refused,    // "I'm sorry, I can't…" or a content filter
  doubtful,   // an answer, but its confidence is under the bar
};
std::string_view to_string(Verdict verdict);

// How much of the page such an answer gives, to compare answers by.
enum class Worth : std::uint8_t { nothing, part, doubtful, whole };
Worth worth_of(Verdict verdict);

struct PageEvidence {
  // Words of a trusted text layer, or of OCR; empty = nothing is known.
  std::string_view words;
  bool blank = false;  // the page is known to be empty: an empty answer is right
};

struct JudgedReply {
  const provider::Reply& reply;
  std::string_view text;  // normalised
  const Repetition* loop = nullptr;
  PageEvidence evidence;
  double confidence_min = 0;  // below it the verdict is doubtful, where there is anything to judge by; 0 = never
};

struct Judgement {
  Verdict verdict = Verdict::good;
  double confidence = 0;            // 0..1
  std::string why;                  // for confidence_why
  std::optional<double> agreement;  // 0..1 with the evidence's words
  bool operator==(const Judgement&) const = default;
};

Judgement judge_reply(const JudgedReply& reply);

// Share of the words of one text that the other has too, as a multiset: F1, 0..1. Case, punctuation and markup do not
// count; scripts without blanks are compared by pairs of characters. nullopt: too few words to say.
std::optional<double> word_agreement(std::string_view a, std::string_view b);

}  // namespace lectern::reading
