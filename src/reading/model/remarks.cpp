// What chat models say around a transcription.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "reading/model/reply_wrapping.h"
#include "reading/model/text_pieces.h"

namespace lectern::reading {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t remark_bytes_max = 240;

constexpr std::array openings = {"here is"sv,
                                 "here's"sv,
                                 "here’s"sv,
                                 "here are"sv,
                                 "below is"sv,
                                 "the following is"sv,
                                 "this is the"sv,
                                 "i have "sv,
                                 "i've "sv,
                                 "the text "sv,
                                 "the content"sv,
                                 "the image "sv,
                                 "the transcription"sv,
                                 "transcription"sv,
                                 "extracted "sv,
                                 "markdown"sv,
                                 "the markdown"sv,
                                 "aqui est"sv,
                                 "segue"sv,
                                 "abaixo"sv,
                                 "a seguir"sv,
                                 "aquí est"sv,
                                 "a continuación"sv,
                                 "voici"sv,
                                 "ci-dessous"sv,
                                 "hier ist"sv,
                                 "nachfolgend"sv,
                                 "ecco"sv,
                                 "di seguito"sv,
                                 "以下是"sv,
                                 "这是"sv,
                                 "以下は"sv,
                                 "以下に"sv,
                                 "다음은"sv,
                                 "вот "sv};
constexpr std::array pleasantries = {"sure"sv,      "certainly"sv, "of course"sv,   "absolutely"sv,   "okay"sv,
                                     "ok"sv,        "claro"sv,     "com certeza"sv, "por supuesto"sv, "bien sûr"sv,
                                     "natürlich"sv, "certo"sv,     "当然"sv,        "好的"sv,         "はい"sv};
// What only somebody speaks of who was given a picture and asked for its text.
constexpr std::array about_the_task = {"transcri"sv,
                                       "markdown"sv,
                                       "ocr"sv,
                                       "extracted"sv,
                                       "the image"sv,
                                       "this image"sv,
                                       "provided image"sv,
                                       "screenshot"sv,
                                       "scanned page"sv,
                                       "text from the"sv,
                                       "text in the"sv,
                                       "text on the page"sv,
                                       "content of the page"sv,
                                       "contents of the page"sv,
                                       "content of the document"sv,
                                       "page content"sv,
                                       "converted"sv,
                                       "trascrizione"sv,
                                       "transkri"sv,
                                       "da imagem"sv,
                                       "de la imagen"sv,
                                       "de l'image"sv,
                                       "des bildes"sv,
                                       "dell'immagine"sv,
                                       "图片"sv,
                                       "图像"sv,
                                       "识别"sv,
                                       "转录"sv,
                                       "提取"sv,
                                       "画像"sv,
                                       "文字起こし"sv,
                                       "이미지"sv,
                                       "изображени"sv};
constexpr std::array closings = {"let me know"sv,
                                 "please let me know"sv,
                                 "i hope this"sv,
                                 "feel free to"sv,
                                 "if you need"sv,
                                 "if you have any"sv,
                                 "is there anything"sv,
                                 "would you like me"sv,
                                 "note:"sv,
                                 "*note:"sv,
                                 "**note:"sv,
                                 "(note:"sv,
                                 "this transcription"sv,
                                 "the transcription"sv,
                                 "please note"sv,
                                 "espero que"sv,
                                 "se precisar"sv,
                                 "si necesitas"sv,
                                 "n'hésitez pas"sv,
                                 "如果您"sv,
                                 "希望"sv};

template <std::size_t N>
bool starts_with_any(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.starts_with(word); });
}
template <std::size_t N>
bool contains_any(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

bool ends_in_colon(std::string_view line) {
  while (line.ends_with('*')) line.remove_suffix(1);
  return line.ends_with(':') || line.ends_with("："sv);
}

// "Sure!", "Certainly." alone on their line.
bool is_pleasantry(std::string_view line) {
  const std::string text = lower(trimmed(line));
  if (text.size() > 40 || !starts_with_any(text, pleasantries)) return false;
  return text.ends_with('!') || text.ends_with('.') || text.ends_with(',') || text.ends_with("！"sv) ||
         text.ends_with("。"sv);
}

// "Here is the transcription:", "Sure! Here's the markdown of the page:".
bool is_opening(std::string_view line) {
  std::string text = lower(trimmed(line));
  if (text.size() > remark_bytes_max || text.empty()) return false;
  while (text.starts_with('*')) text.erase(0, 1);
  bool pleased = false;
  if (starts_with_any(text, pleasantries)) {
    const std::size_t end = text.find_first_of("!.,");
    const std::size_t wide = std::min(text.find("！"), text.find("，"));
    if (end != std::string::npos && end + 1 < text.size()) {
      text = std::string(trimmed(std::string_view(text).substr(end + 1)));
      pleased = true;
    } else if (wide != std::string::npos) {
      text = text.substr(wide + 3);
      pleased = true;
    }
  }
  if (!ends_in_colon(text) && !(pleased && text.ends_with('.'))) return false;
  return starts_with_any(text, openings) && contains_any(text, about_the_task);
}

bool is_closing(std::string_view line, bool framed) {
  const std::string text = lower(trimmed(line));
  if (text.size() > 2 * remark_bytes_max || !starts_with_any(text, closings)) return false;
  return framed || contains_any(text, about_the_task);
}

bool is_rule(std::string_view line) {
  const std::string_view text = trimmed(line);
  return text.size() >= 3 && text.find_first_not_of('-') == std::string_view::npos;
}

struct Fence {
  std::size_t ticks = 0;
  std::string language;
};
Fence fence_of(std::string_view line) {
  const std::string_view text = trimmed(line);
  const std::size_t ticks = std::min(text.find_first_not_of('`'), text.size());
  if (ticks < 3) return {};
  const std::string_view language = trimmed(text.substr(ticks));
  if (language.find_first_of(" `") != std::string_view::npos) return {};
  return {.ticks = ticks, .language = lower(language)};
}

bool is_wrapper_language(std::string_view language) {
  return language == "markdown" || language == "md" || language == "gfm" || language == "mdx";
}

std::string joined(const std::vector<std::string_view>& lines, std::size_t begin, std::size_t end) {
  std::string out;
  for (std::size_t i = begin; i < end; ++i) out.append(lines[i]) += '\n';
  return out;
}

}  // namespace

std::string without_remarks(std::string_view reply) {
  const std::vector<std::string_view> lines = lines_of(reply);
  std::size_t begin = 0;
  std::size_t end = lines.size();
  const auto skip_blank = [&] {
    while (begin < end && is_blank_line(lines[begin])) ++begin;
    while (end > begin && is_blank_line(lines[end - 1])) --end;
  };
  skip_blank();

  // Before: an opening is a paragraph of one line with something after it.
  bool framed = false;
  const std::size_t first = begin;
  for (int i = 0; i < 3 && begin + 1 < end; ++i) {
    const bool alone = is_blank_line(lines[begin + 1]) || fence_of(lines[begin + 1]).ticks > 0;
    if (is_opening(lines[begin])) {
      framed = true;
    } else if (!(alone && is_pleasantry(lines[begin]))) {
      break;
    }
    ++begin;
    skip_blank();
    if (framed && begin < end && is_rule(lines[begin])) {
      ++begin;
      skip_blank();
      break;
    }
  }
  // "Sure!" alone is no reason to think that a chat model speaks, unless a fence follows.
  if (!framed && begin < end && fence_of(lines[begin]).ticks == 0) begin = first;
  if (begin >= end) return joined(lines, first, lines.size());

  // A fence around the answer: what follows its end are remarks, if anything does.
  const Fence open = fence_of(lines[begin]);
  const bool wrapper = is_wrapper_language(open.language);
  const bool plain = open.language.empty() || open.language == "text" || open.language == "plaintext";
  if (open.ticks > 0 && (wrapper || plain)) {
    std::size_t close = end;
    int fences = 0;
    for (std::size_t i = begin + 1; i < end; ++i) {
      if (fence_of(lines[i]).ticks == 0) continue;
      ++fences;
      if (fence_of(lines[i]).language.empty()) close = i;
    }
    const bool last = close + 1 >= end;
    bool remarks_after = true;
    for (std::size_t i = close + 1; i < end; ++i)
      remarks_after = remarks_after && (is_blank_line(lines[i]) || is_rule(lines[i]) || is_closing(lines[i], true));
    if (wrapper || (fences == 1 && (last || remarks_after)) || (fences == 0 && framed)) {
      if (close >= end) return joined(lines, begin + 1, end);  // its end is missing
      if (remarks_after) return joined(lines, begin + 1, close);
      // Text after the fence that is no remark stays, and so does the order.
      return joined(lines, begin + 1, close) + joined(lines, close + 1, end);
    }
  }

  // After: closing remarks are last paragraphs of one line.
  for (int i = 0; i < 3 && end > begin + 1; ++i) {
    const bool alone = is_blank_line(lines[end - 2]) || is_rule(lines[end - 2]);
    if (!alone || !is_closing(lines[end - 1], framed)) break;
    --end;
    skip_blank();
    if (end > begin && is_rule(lines[end - 1])) {
      --end;
      skip_blank();
    }
  }
  return joined(lines, begin, end);
}

bool says_nothing(std::string_view reply) {
  std::string text = lower(trimmed(reply));
  if (text.empty() || text.size() > 120 || text.find('\n') != std::string::npos) return false;
  while (!text.empty() && std::string_view("[](){}<>*_.\"'`! ").find(text.front()) != std::string_view::npos)
    text.erase(0, 1);
  while (!text.empty() && std::string_view("[](){}<>*_.\"'`! ").find(text.back()) != std::string_view::npos)
    text.pop_back();
  if (text.find("intentionally") != std::string::npos) return false;  // that is printed on the page
  constexpr std::array exact = {"null"sv,
                                "blank"sv,
                                "blank page"sv,
                                "empty"sv,
                                "empty page"sv,
                                "no text"sv,
                                "no content"sv,
                                "no text found"sv,
                                "no text detected"sv,
                                "no visible text"sv,
                                "página em branco"sv,
                                "página en blanco"sv,
                                "page blanche"sv,
                                "leere seite"sv,
                                "空白页"sv,
                                "空白"sv,
                                "白紙"sv,
                                "the page is empty"sv,
                                "the page is blank"sv};
  if (std::ranges::find(exact, text) != exact.end()) return true;
  constexpr std::array spoken = {"there is no text"sv,
                                 "there is no visible text"sv,
                                 "there is no readable text"sv,
                                 "no text is visible"sv,
                                 "no readable text"sv,
                                 "the image is blank"sv,
                                 "the image appears to be blank"sv,
                                 "the image is empty"sv,
                                 "this page is blank"sv,
                                 "this page is empty"sv,
                                 "the page appears to be blank"sv,
                                 "the provided image is blank"sv,
                                 "the image contains no text"sv,
                                 "the image does not contain any text"sv,
                                 "this image contains no text"sv,
                                 "não há texto"sv,
                                 "no hay texto"sv,
                                 "il n'y a pas de texte"sv};
  return starts_with_any(text, spoken);
}

}  // namespace lectern::reading
