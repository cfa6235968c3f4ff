#include "reading/model/grounding.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "reading/model/text_pieces.h"

namespace lectern::reading {
namespace {

using namespace std::string_view_literals;

constexpr auto ref = "<|ref|>"sv;
constexpr auto end_ref = "<|/ref|>"sv;
constexpr auto det = "<|det|>"sv;
constexpr auto end_det = "<|/det|>"sv;
constexpr std::array marks = {ref, end_ref, det, end_det};

constexpr int largest = 999;
constexpr std::size_t label_bytes_max = 2000;  // "OCR this image" gives whole lines as labels

constexpr std::array labels = {"text"sv,          "title"sv,
                               "sub_title"sv,     "subtitle"sv,
                               "image"sv,         "figure"sv,
                               "table"sv,         "caption"sv,
                               "image_caption"sv, "figure_caption"sv,
                               "table_caption"sv, "table_footnote"sv,
                               "equation"sv,      "formula"sv,
                               "list"sv,          "list_item"sv,
                               "code"sv,          "footnote"sv,
                               "page_footnote"sv, "header"sv,
                               "page_header"sv,   "footer"sv,
                               "page_footer"sv,   "page_number"sv,
                               "reference"sv,     "interline_equation"sv,
                               "abstract"sv,      "aside_text"sv};

bool only_coordinates(std::string_view text) {
  return text.find_first_not_of("0123456789[](),.- \t\n") == std::string_view::npos;
}

// A label names a kind; in "OCR this image" it is the text itself, and nothing follows.
bool names_a_kind(std::string_view label, std::string_view text) {
  if (std::ranges::find(labels, label) != labels.end()) return true;
  if (trimmed(text).empty()) return false;
  return label.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos;
}

// Marks that belong to nothing are dropped, what they surround stays.
std::string without_marks(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t length = 0;
    for (const std::string_view mark : marks) {
      if (text.substr(i).starts_with(mark)) length = mark.size();
    }
    if (length > 0 && text.substr(i).starts_with(det)) {
      // A list of boxes without its label, or one that breaks off at the end of the reply.
      const std::size_t end = text.find(end_det, i);
      const std::string_view list = text.substr(i + det.size(), end == text.npos ? text.npos : end - i - det.size());
      if (only_coordinates(list)) length += list.size();
    }
    if (length == 0) out += text[i++];
    i += length;
  }
  return out;
}

std::size_t blanks_at(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(" \t\n", at), text.size());
}

}  // namespace

bool is_grounded(std::string_view reply) {
  return std::ranges::any_of(marks, [&](std::string_view mark) { return reply.find(mark) != reply.npos; });
}

std::vector<GroundedBox> grounded_boxes(std::string_view list) {
  std::vector<int> numbers;
  for (const char* at = list.data(); at < list.data() + list.size();) {
    double value = 0;
    const auto [after, error] = std::from_chars(at, list.data() + list.size(), value);
    if (error == std::errc::invalid_argument) {
      ++at;
      continue;
    }
    at = after;
    const bool finite = error == std::errc{} && std::isfinite(value);
    numbers.push_back(finite ? static_cast<int>(std::clamp(value, 0.0, static_cast<double>(largest))) : largest);
  }
  std::vector<GroundedBox> boxes;
  for (std::size_t i = 0; i + 4 <= numbers.size(); i += 4) {
    const auto [x0, x1] = std::minmax(numbers[i], numbers[i + 2]);
    const auto [y0, y1] = std::minmax(numbers[i + 1], numbers[i + 3]);
    if (x1 > x0 && y1 > y0) boxes.push_back({x0, y0, x1, y1});
  }
  return boxes;
}

std::vector<GroundedPart> grounded_parts(std::string_view reply) {
  std::vector<GroundedPart> parts;
  GroundedPart part;
  std::string text;
  const auto close = [&] {
    const std::string clean = without_marks(text);
    text.clear();
    if (!part.label.empty() && !names_a_kind(lower(part.label), clean)) {
      part.text = part.label + (trimmed(clean).empty() ? "" : "\n\n" + std::string(trimmed(clean)));
      part.label = "text";
    } else {
      part.text = std::string(trimmed(clean));
      part.label = lower(part.label);
    }
    if (!part.label.empty() || !part.text.empty()) parts.push_back(std::move(part));
    part = {};
  };
  std::size_t at = 0;
  while (at < reply.size()) {
    const std::size_t begin = reply.find(ref, at);
    if (begin == reply.npos) break;
    text += reply.substr(at, begin - at);
    const std::size_t label_at = begin + ref.size();
    const std::size_t label_end = reply.substr(label_at, label_bytes_max).find(end_ref);
    const std::string_view label = label_end == reply.npos ? ""sv : trimmed(reply.substr(label_at, label_end));
    const bool nested = label.find(ref) != label.npos;
    const std::size_t after =
        label_end == reply.npos ? label_at : blanks_at(reply, label_at + label_end + end_ref.size());
    const bool boxed = label_end != reply.npos && !nested && reply.substr(after).starts_with(det);
    if (!boxed) {  // a reference in a sentence, or a broken one: its words stay
      text += ref;
      at = label_at;
      continue;
    }
    close();
    part.label = std::string(label);
    const std::size_t list_at = after + det.size();
    const std::size_t list_end = reply.find(end_det, list_at);
    const std::size_t next_ref = reply.find(ref, list_at);
    if (list_end == reply.npos || next_ref < list_end) {
      // Not closed: its numbers go, what follows them stays.
      const std::size_t words = std::min(reply.find_first_not_of("0123456789[](),.- \t\n", list_at), reply.size());
      if (words < reply.size() && words != next_ref)
        part.boxes = grounded_boxes(reply.substr(list_at, words - list_at));
      at = words;
      continue;
    }
    const std::string_view list = reply.substr(list_at, list_end - list_at);
    part.boxes = grounded_boxes(list);
    if (!only_coordinates(list)) text += std::string(list) + "\n";  // somebody wrote words there
    at = list_end + end_det.size();
  }
  if (at < reply.size()) text += reply.substr(at);
  close();
  return parts;
}

}  // namespace lectern::reading
