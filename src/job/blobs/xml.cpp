#include "job/blobs/xml.h"

#include <charconv>
#include <cstdint>
#include <utility>

namespace lectern::job {
namespace {

constexpr int depth_max = 16;
constexpr int elements_max = 50'000;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_name(char c) {
  return is_name_start(c) || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == ':';
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | code >> 6);
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3F));
    byte(0x80 | (code >> 6 & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

class Parser {
 public:
  explicit Parser(std::string_view xml) : xml_(xml) {}

  Result<XmlElement> document() {
    if (xml_.substr(at_).starts_with("<?xml") && !declaration()) return broken();
    spaces();
    XmlElement root;
    if (!element(root, 1)) return broken();
    spaces();
    if (at_ != xml_.size()) return broken();
    return root;
  }

 private:
  std::unexpected<Error> broken() const {
    return fail(ErrorKind::corrupt, "broken XML at byte {} of {}", at_, xml_.size());
  }

  bool take(std::string_view text) {
    if (!xml_.substr(at_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  void spaces() {
    while (at_ < xml_.size() && is_space(xml_[at_])) ++at_;
  }
  char peek() const { return at_ < xml_.size() ? xml_[at_] : '\0'; }

  bool declaration() {
    const std::size_t end = xml_.find("?>", at_);
    if (end == std::string_view::npos) return false;
    at_ = end + 2;
    return true;
  }

  std::string_view name() {
    const std::size_t begin = at_;
    if (is_name_start(peek())) {
      while (at_ < xml_.size() && is_name(xml_[at_])) ++at_;
    }
    return xml_.substr(begin, at_ - begin);
  }

  bool attributes() {
    for (;;) {
      const std::size_t before = at_;
      spaces();
      if (!is_name_start(peek())) return true;
      if (at_ == before) return false;
      name();
      spaces();
      if (!take("=")) return false;
      spaces();
      const char quote = peek();
      if (quote != '"' && quote != '\'') return false;
      const std::size_t end = xml_.find(quote, at_ + 1);
      if (end == std::string_view::npos || xml_.substr(at_, end - at_).contains('<')) return false;
      at_ = end + 1;
    }
  }

  // REQUIRES: peek() is '&'.
  bool reference(std::string& out) {
    const std::size_t end = xml_.find(';', at_);
    if (end == std::string_view::npos || end - at_ > 10) return false;
    std::string_view what = xml_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    static constexpr std::pair<std::string_view, char> known[] = {
        {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    for (const auto& [entity, character] : known) {
      if (what != entity) continue;
      out += character;
      return true;
    }
    if (!what.starts_with('#')) return false;
    what.remove_prefix(1);
    const bool hex = what.starts_with('x');
    if (hex) what.remove_prefix(1);
    std::uint32_t code = 0;
    const auto [stop, error] = std::from_chars(what.data(), what.data() + what.size(), code, hex ? 16 : 10);
    if (error != std::errc{} || stop != what.data() + what.size()) return false;
    if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
    append_utf8(out, code);
    return true;
  }

  bool element(XmlElement& into, int depth) {
    if (depth > depth_max || ++elements_ > elements_max || !take("<")) return false;
    into.name = name();
    if (into.name.empty() || !attributes()) return false;
    if (take("/>")) return true;
    if (!take(">")) return false;
    for (;;) {
      const char c = peek();
      if (at_ == xml_.size() || c == '\0') return false;
      if (c == '&') {
        if (!reference(into.text)) return false;
      } else if (c != '<') {
        into.text += c;
        ++at_;
      } else if (take("</")) {
        const bool same = name() == into.name;
        spaces();
        return same && take(">");
      } else if (!element(into.children.emplace_back(), depth + 1)) {
        return false;
      }
    }
  }

  const std::string_view xml_;
  std::size_t at_ = 0;
  int elements_ = 0;
};

}  // namespace

const XmlElement* XmlElement::child(std::string_view wanted) const {
  for (const XmlElement& element : children) {
    if (element.name == wanted) return &element;
  }
  return nullptr;
}

std::string_view XmlElement::text_of(std::string_view wanted) const {
  const XmlElement* found = child(wanted);
  return found == nullptr ? std::string_view() : std::string_view(found->text);
}

Result<XmlElement> parse_xml(std::string_view xml) {
  return Parser(xml).document();
}

std::string xml_escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace lectern::job
