#include "engine/sim/page_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "engine/sim/draw.h"

namespace lectern::sim {
namespace {

constexpr std::array<std::string_view, 64> vocabulary = {
    "harbour", "ledger",  "winter",  "copper",   "signal",  "orchard", "margin",  "valley",  "lantern", "account",
    "bridge",  "timber",  "quarter", "station",  "letter",  "measure", "granite", "passage", "number",  "market",
    "garden",  "river",   "window",  "council",  "journey", "paper",   "figure",  "evening", "pattern", "silver",
    "machine", "meadow",  "report",  "northern", "early",   "second",  "public",  "narrow",  "common",  "annual",
    "former",  "distant", "quiet",   "open",     "shows",   "follows", "carries", "holds",   "records", "repeats",
    "divides", "covers",  "changes", "returns",  "the",     "a",       "of",      "with",    "under",   "near",
    "before",  "after",   "from",    "and"};
constexpr int sentence_words = 11;
constexpr int paragraph_words = 44;

// What the digest decides, one choice after another.
class Choices {
 public:
  explicit Choices(const Sha256Digest& digest) { std::memcpy(&state_, digest.data(), sizeof state_); }
  std::uint64_t next() { return state_ = mixed(state_); }
  std::string_view word() { return vocabulary[next() % vocabulary.size()]; }

 private:
  std::uint64_t state_ = 0;
};

void append_sentence(std::string& to, Choices& choices, int words) {
  const std::size_t from = to.size();
  for (int i = 0; i < words; ++i) {
    if (i != 0) to.push_back(' ');
    to.append(choices.word());
  }
  to[from] = static_cast<char>(to[from] - 'a' + 'A');
  to.push_back('.');
}

class Page {
 public:
  Page(const Sha256Digest& digest, bool grounding) : choices_(digest), grounding_(grounding) {}

  std::string& begin(std::string_view kind) {
    if (!text_.empty()) text_.append("\n\n");
    if (grounding_) {
      const auto draw_below = [&](unsigned bound) { return static_cast<int>(choices_.next() % bound); };
      const int left = 40 + draw_below(60);
      const int right = 900 + draw_below(60);
      const int bottom = std::min(999, top_ + 50 + draw_below(80));
      text_ += fmt::format("<|ref|>{}<|/ref|><|det|>[[{}, {}, {}, {}]]<|/det|>\n", kind, left, top_, right, bottom);
      top_ = std::min(900, bottom + 15);
    }
    return text_;
  }

  void paragraph(int words) {
    std::string& text = begin("text");
    for (int left = words; left > 0; left -= sentence_words) {
      if (left != words) text.push_back(' ');
      append_sentence(text, choices_, std::min(left, sentence_words));
    }
  }

  int table() {
    std::string& text = begin("table");
    text += "| item | count |\n|---|---|";
    for (int row = 0; row < 3; ++row) {
      const std::string_view item = choices_.word();
      text += fmt::format("\n| {} | {} |", item, choices_.next() % 1000);
    }
    return 8;
  }

  std::string finish() && { return std::move(text_); }

 private:
  Choices choices_;
  bool grounding_;
  int top_ = 40;
  std::string text_;
};

}  // namespace

std::string page_text(const Sha256Digest& digest, const TextOptions& options) {
  Page page(digest, options.grounding);
  page.begin("title").append("# Page ").append(to_hex(digest));
  int left = options.words - 3;
  bool first = true;
  while (left > 0) {
    const int words = std::min(left, paragraph_words);
    page.paragraph(words);
    left -= words;
    if (first && left >= paragraph_words) left -= page.table();
    first = false;
  }
  return std::move(page).finish();
}

std::string looping_text(const Sha256Digest& digest, int tokens) {
  Choices choices(digest);
  std::string sentence;
  append_sentence(sentence, choices, sentence_words);
  sentence.push_back(' ');
  // The space at its end becomes a part of the next one's first word.
  const auto each = static_cast<int>(tokens_of(sentence).size()) - 1;
  std::string text = "# Page " + to_hex(digest) + "\n\n";
  for (int made = 0; made <= tokens; made += each) text += sentence;
  return text;
}

std::vector<std::string_view> tokens_of(std::string_view text) {
  constexpr std::size_t letters_max = 6;
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  std::vector<std::string_view> tokens;
  tokens.reserve(text.size() / 4);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (is_letter(text[at]) || (text[at] == ' ' && end < text.size() && is_letter(text[end])))
      while (end < text.size() && is_letter(text[end]) && end - at < letters_max) ++end;
    else
      while (end < text.size() && continues(text[end])) ++end;
    tokens.push_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

}  // namespace lectern::sim
