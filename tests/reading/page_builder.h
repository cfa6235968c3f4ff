// Builds PageContent for tests: text set at positions in a font of known widths, rules, fills, pictures.
#pragma once

#include <string>
#include <string_view>

#include "document/page_content.h"
#include "reading/layout/unicode.h"

namespace lectern::reading {

struct TextStyle {
  float size = 10;
  bool bold = false;
  bool italic = false;
  bool mono = false;
  float angle = 0;
  std::string family = "Serif";
};

class PageBuilder {
 public:
  explicit PageBuilder(float width = 600, float height = 800) {
    page_.page_number = 1;
    page_.size = {width, height};
  }

  // One line, its baseline at `y`, from `x` on. Every character is half its size wide, blanks a quarter.
  PageBuilder& text(float x, float y, std::string_view line, const TextStyle& style = {}) {
    const std::uint16_t font = font_of(style);
    for (const char32_t c : layout::from_utf8(line)) {
      const float advance = advance_of(c, style.size);
      add(c, font, x, y, advance, style);
      x += advance;
    }
    return *this;
  }

  // Lines below each other, `pitch` sizes apart.
  PageBuilder& lines(float x, float y, std::initializer_list<std::string_view> lines, const TextStyle& style = {},
                     float pitch = 1.2F) {
    for (const std::string_view line : lines) {
      text(x, y, line, style);
      y += pitch * style.size;
    }
    return *this;
  }

  // Right-to-left text as PDFium gives it: logical order, each character left of the one before; `x` is the right end.
  PageBuilder& rtl(float x, float y, std::string_view line, const TextStyle& style = {}) {
    const std::uint16_t font = font_of(style);
    for (const char32_t c : layout::from_utf8(line)) {
      const float advance = advance_of(c, style.size);
      x -= advance;
      add(c, font, x, y, advance, style);
    }
    return *this;
  }

  PageBuilder& rule(float x0, float y0, float x1, float y1) {
    page_.rules.push_back({{x0 - 0.25F, y0 - 0.25F, x1 + 0.25F, y1 + 0.25F}, 0});
    return *this;
  }
  // A full grid of rules.
  PageBuilder& grid(std::initializer_list<float> xs, std::initializer_list<float> ys) {
    for (const float x : xs) rule(x, *ys.begin(), x, *(ys.end() - 1));
    for (const float y : ys) rule(*xs.begin(), y, *(xs.end() - 1), y);
    return *this;
  }
  PageBuilder& fill(float x0, float y0, float x1, float y1) {
    page_.fills.push_back({{x0, y0, x1, y1}, 0xDDDDDD});
    return *this;
  }
  PageBuilder& picture(float x0, float y0, float x1, float y1) {
    page_.pictures.push_back(
        {static_cast<int>(page_.pictures.size()), {x0, y0, x1, y1}, 400, 300, 24, document::ImageCoding::jpeg});
    return *this;
  }
  PageBuilder& drawing(float x0, float y0, float x1, float y1, int paths = 40) {
    page_.drawings.push_back({{x0, y0, x1, y1}, paths});
    return *this;
  }
  PageBuilder& link(float x0, float y0, float x1, float y1, std::string uri) {
    page_.links.push_back({{x0, y0, x1, y1}, std::move(uri), 0});
    return *this;
  }
  PageBuilder& flag_last(std::size_t chars, std::uint16_t flags) {
    for (std::size_t i = page_.chars.size() - std::min(chars, page_.chars.size()); i < page_.chars.size(); ++i)
      page_.chars[i].flags |= flags;
    return *this;
  }

  document::PageContent& content() { return page_; }
  const document::PageContent& content() const { return page_; }

 private:
  static float advance_of(char32_t c, float size) { return (c == ' ' ? 0.25F : 0.5F) * size; }

  std::uint16_t font_of(const TextStyle& style) {
    const document::Font font{style.family, style.bold, style.italic, style.mono, true};
    for (std::size_t i = 0; i < page_.fonts.size(); ++i) {
      if (page_.fonts[i] == font) return static_cast<std::uint16_t>(i);
    }
    page_.fonts.push_back(font);
    return static_cast<std::uint16_t>(page_.fonts.size() - 1);
  }

  void add(char32_t code, std::uint16_t font, float x, float y, float advance, const TextStyle& style) {
    document::Char c;
    c.code = code;
    c.font = font;
    c.size_pt = style.size;
    c.angle_deg = style.angle;
    c.box = {x + 0.05F * style.size, y - 0.7F * style.size, x + advance - 0.05F * style.size, y};
    c.loose = {x, y - 0.8F * style.size, x + advance, y + 0.2F * style.size};
    if (layout::is_rtl(code)) c.flags |= document::Char::rtl;
    page_.chars.push_back(c);
  }

  document::PageContent page_;
};

}  // namespace lectern::reading
