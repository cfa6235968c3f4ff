#include "document/render/stream_dictionary.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <vector>

namespace lectern::document {
namespace {

constexpr std::size_t dictionary_bytes_max = 8'192;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\0';
}
bool is_delimiter(char c) {
  return std::string_view("()<>[]{}/%").contains(c);
}

// Reads one value after another from the text of a dictionary.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() {
    skip_blanks();
    return at_ >= text_.size();
  }

  // The next value: a name, number, string, array or dictionary, whole; a reference ("12 0 R") counts as one value.
  std::string_view value() {
    skip_blanks();
    const std::size_t begin = at_;
    skip_one();
    if (at_ > begin && is_digits(text_.substr(begin, at_ - begin))) {
      const std::size_t number_end = at_;
      skip_blanks();
      const std::size_t second = at_;
      skip_one();
      const bool digits = is_digits(text_.substr(second, at_ - second));
      skip_blanks();
      if (digits && at_ < text_.size() && text_[at_] == 'R' &&
          (at_ + 1 == text_.size() || is_blank(text_[at_ + 1]) || is_delimiter(text_[at_ + 1]))) {
        ++at_;
      } else {
        at_ = number_end;
      }
    }
    return text_.substr(begin, at_ - begin);
  }

 private:
  static bool is_digits(std::string_view word) {
    return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (is_blank(text_[at_])) {
        ++at_;
      } else if (text_[at_] == '%') {
        while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
      } else {
        break;
      }
    }
  }

  void skip_string() {
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '\\' && at_ < text_.size()) ++at_;
      if (c == '(') ++depth;
      if (c == ')' && --depth == 0) return;
    }
  }

  // One token, or a bracketed group with all that is inside. Always moves on, so that any bytes come to an end.
  void skip_one() {
    int depth = 0;
    do {
      skip_blanks();
      if (at_ >= text_.size()) return;
      const char c = text_[at_];
      const bool doubled = at_ + 1 < text_.size() && text_[at_ + 1] == c;
      if (c == '(') {
        skip_string();
      } else if (c == '[' || (c == '<' && doubled)) {
        at_ += c == '[' ? 1 : 2;
        ++depth;
      } else if (c == ']' || (c == '>' && doubled)) {
        at_ += c == ']' ? 1 : 2;
        --depth;
      } else if (c == '<') {
        while (at_ < text_.size() && text_[at_] != '>') ++at_;
        at_ = std::min(at_ + 1, text_.size());
      } else {
        ++at_;
        while (at_ < text_.size() && !is_blank(text_[at_]) && !is_delimiter(text_[at_])) ++at_;
      }
    } while (depth > 0);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::vector<std::string_view> array_items(std::string_view value) {
  std::vector<std::string_view> items;
  if (value.size() < 2 || value.front() != '[') return items;
  Scanner scanner(value.substr(1, value.size() - 2));
  while (!scanner.at_end() && items.size() < 64) items.push_back(scanner.value());
  return items;
}

bool is_number(std::string_view word, char digit) {
  // "1", "1.0", "1." and "0", "0.0" are all that writers use here.
  return !word.empty() && word.front() == digit &&
         std::ranges::all_of(word.substr(1), [](char c) { return c == '0' || c == '.'; }) &&
         (word.size() == 1 || word[1] == '.');
}

void read_decode(std::string_view value, PictureDictionary& picture) {
  const auto items = array_items(value);
  bool plain = !items.empty() && items.size() % 2 == 0;
  bool inverted = plain;
  for (std::size_t i = 0; i < items.size(); ++i) {
    plain = plain && is_number(items[i], i % 2 == 0 ? '0' : '1');
    inverted = inverted && is_number(items[i], i % 2 == 0 ? '1' : '0');
  }
  picture.inverted = inverted;
  picture.odd_decode = !plain && !inverted;
}

// `value` is the dictionary of the filter's parameters, or an array that holds it alone.
void read_fax_parameters(std::string_view value, PictureDictionary& picture) {
  if (const auto items = array_items(value); items.size() == 1) value = items[0];
  if (!value.starts_with("<<") || !value.ends_with(">>")) return;
  const std::string_view parameters = value.substr(2, value.size() - 4);
  const std::string_view k = dictionary_value(parameters, "K").value_or("0");
  const bool extras = dictionary_value(parameters, "EncodedByteAlign").value_or("false") != "false";
  if (!k.starts_with("-") || extras) return;
  picture.black_is_one = dictionary_value(parameters, "BlackIs1").value_or("false") != "false";
  const std::string_view columns = dictionary_value(parameters, "Columns").value_or("1728");
  std::from_chars(columns.data(), columns.data() + columns.size(), picture.group4_columns);
}

PictureDictionary::Color read_color(std::string_view value) {
  using Color = PictureDictionary::Color;
  if (value.starts_with("[")) {
    const auto items = array_items(value);
    if (!items.empty() && items[0] == "/ICCBased") return Color::icc;
    if (!items.empty() && items[0] == "/CalGray") return Color::gray;
    if (!items.empty() && items[0] == "/CalRGB") return Color::rgb;
    return Color::other;
  }
  if (value == "/DeviceGray" || value == "/G") return Color::gray;
  if (value == "/DeviceRGB" || value == "/RGB") return Color::rgb;
  return Color::other;
}

}  // namespace

std::optional<std::string_view> dictionary_before(std::string_view file, std::size_t stream_at) {
  if (stream_at > file.size()) return std::nullopt;
  std::string_view before = file.substr(0, stream_at);
  if (before.size() > dictionary_bytes_max) before = before.substr(before.size() - dictionary_bytes_max);
  if (before.ends_with("\r\n")) {
    before.remove_suffix(2);
  } else if (before.ends_with("\n") || before.ends_with("\r")) {
    before.remove_suffix(1);
  }
  if (!before.ends_with("stream")) return std::nullopt;
  before.remove_suffix(6);
  while (!before.empty() && is_blank(before.back())) before.remove_suffix(1);
  if (!before.ends_with(">>")) return std::nullopt;
  // Back to the << that opens it. A string with brackets inside would mislead, but then the count does not come out.
  int depth = 0;
  for (std::size_t i = before.size(); i >= 2;) {
    const std::string_view pair = before.substr(i - 2, 2);
    if (pair == ">>") {
      ++depth;
      i -= 2;
    } else if (pair == "<<") {
      i -= 2;
      if (--depth == 0) return before.substr(i + 2, before.size() - i - 4);
    } else {
      --i;
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> dictionary_value(std::string_view dictionary, std::string_view key) {
  Scanner scanner(dictionary);
  while (!scanner.at_end()) {
    const std::string_view name = scanner.value();
    if (scanner.at_end()) break;
    const std::string_view value = scanner.value();
    if (name.size() == key.size() + 1 && name.front() == '/' && name.substr(1) == key) return value;
  }
  return std::nullopt;
}

PictureDictionary read_picture_dictionary(std::string_view dictionary) {
  PictureDictionary picture;
  if (const auto color = dictionary_value(dictionary, "ColorSpace")) picture.color = read_color(*color);
  if (const auto decode = dictionary_value(dictionary, "Decode")) read_decode(*decode, picture);
  picture.masked = dictionary_value(dictionary, "SMask").has_value() ||
                   dictionary_value(dictionary, "Mask").has_value() ||
                   dictionary_value(dictionary, "SMaskInData").value_or("0") != "0";
  const auto stencil = dictionary_value(dictionary, "ImageMask");
  picture.stencil = stencil.has_value() && *stencil != "false";
  const auto parameters = dictionary_value(dictionary, "DecodeParms");
  picture.has_parameters = parameters.has_value();
  if (parameters) read_fax_parameters(*parameters, picture);
  return picture;
}

std::optional<std::size_t> find_stream(std::span<const std::uint8_t> file, std::span<const std::uint8_t> stream,
                                       std::size_t hint, const std::function<void()>& between) {
  constexpr std::size_t probe_size = 48;
  if (stream.size() < probe_size || stream.size() > file.size()) return std::nullopt;
  // Scanners begin every picture with the same headers; the middle is what tells them apart.
  const std::size_t middle = (stream.size() - probe_size) / 2;
  const auto probe = stream.subspan(middle, probe_size);
  // Skips nearly as many bytes as the probe has at a time: compressed pictures look random.
  const std::boyer_moore_horspool_searcher searcher(probe.begin(), probe.end());
  // Among the probes that begin in [begin, end).
  const auto search = [&](std::size_t begin, std::size_t end) -> std::optional<std::size_t> {
    const auto last = file.begin() + static_cast<std::ptrdiff_t>(std::min(file.size(), end + probe_size - 1));
    while (begin < end) {
      const auto hit = searcher(file.begin() + static_cast<std::ptrdiff_t>(begin), last).first;
      if (hit == last) return std::nullopt;
      const auto at = static_cast<std::size_t>(hit - file.begin());
      if (at >= middle && file.size() - (at - middle) >= stream.size() &&
          std::memcmp(file.data() + at - middle, stream.data(), stream.size()) == 0) {
        return at - middle;
      }
      begin = at + 1;
    }
    return std::nullopt;
  };
  // Where the probe is if the hint is right, and from there outwards.
  hint = std::min(hint, file.size() - stream.size()) + middle;
  std::size_t begin = hint;  // what was searched so far
  std::size_t end = hint;
  constexpr std::size_t reach_min = std::size_t{64} << 10;
  constexpr std::size_t reach_max = std::size_t{4} << 20;
  for (std::size_t reach = reach_min; begin > 0 || end < file.size(); reach = std::min(2 * reach, reach_max)) {
    if (between && reach == reach_max) between();
    const std::size_t farther = file.size() - end > reach ? end + reach : file.size();
    if (const auto found = search(end, farther)) return found;
    end = farther;
    const std::size_t nearer = begin > reach ? begin - reach : 0;
    if (const auto found = search(nearer, begin)) return found;
    begin = nearer;
  }
  return std::nullopt;
}

}  // namespace lectern::document
