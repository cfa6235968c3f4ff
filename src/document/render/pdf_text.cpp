#include "document/render/pdf_text.h"

#include <cmath>
#include <numbers>
#include <string>
#include <unordered_map>

#include "document/render/font_style.h"
#include "document/render/unicode.h"

namespace lectern::document {
namespace {

std::uint32_t pack_rgb(unsigned r, unsigned g, unsigned b) {
  return (r << 16) | (g << 8) | b;
}

// What all characters of one text object share. Asking PDFium once an object, not once a character, halves the time.
struct Style {
  std::uint16_t font = 0;
  std::uint16_t flags = 0;
  std::uint32_t color_rgb = 0;
  float size_pt = 0;
  float angle_deg = 0;
};

class TextCollector {
 public:
  TextCollector(fpdf::TextPage text, const PageSpace& space, PageContent& content)
      : f_(fpdf::functions()), text_(text), space_(space), content_(content) {}

  void run(int chars_max) {
    const int count = f_.FPDFText_CountChars(text_);
    if (count <= 0) return;
    content_.truncated |= count > chars_max;
    const int last = std::min(count, chars_max);
    content_.chars.reserve(static_cast<std::size_t>(last));
    for (int i = 0; i < last; ++i) i += add(i, last);
  }

 private:
  // Returns how many further entries of PDFium's list were used up (1 for the second half of a surrogate pair).
  int add(int index, int last) {
    char32_t code = f_.FPDFText_GetUnicode(text_, index);
    int used = 0;
    if (is_high_surrogate(code) && index + 1 < last) {
      const char32_t low = f_.FPDFText_GetUnicode(text_, index + 1);
      if (is_low_surrogate(low)) {
        code = join_surrogates(code, low);
        used = 1;
      }
    }
    const bool generated = f_.FPDFText_IsGenerated(text_, index) == 1;
    if (fpdf::PageObject object = f_.FPDFText_GetTextObject(text_, index); object != nullptr && object != object_) {
      object_ = object;
      style_ = style_of(object, index);
    }
    Char c{.code = code,
           .font = style_.font,
           .flags = style_.flags,
           .color_rgb = style_.color_rgb,
           .size_pt = style_.size_pt,
           .angle_deg = style_.angle_deg};
    if (generated) c.flags |= Char::generated;
    if (f_.FPDFText_IsHyphen(text_, index) == 1) {
      c.flags |= Char::hyphen;
      c.code = U'-';  // PDFium puts a control character in place of a hyphen that breaks a word
    }
    if (f_.FPDFText_HasUnicodeMapError(text_, index) == 1 || code == 0 || code == 0xFFFD ||
        (code >= 0xFFFE && code <= 0xFFFF)) {
      c.flags |= Char::unmapped;
    }
    if (is_right_to_left(code)) c.flags |= Char::rtl;

    double left = 0;
    double right = 0;
    double bottom = 0;
    double top = 0;
    if (f_.FPDFText_GetCharBox(text_, index, &left, &right, &bottom, &top) != 0) {
      c.box = apply(space_.to_upright, static_cast<float>(left), static_cast<float>(bottom), static_cast<float>(right),
                    static_cast<float>(top));
    }
    c.loose = c.box;
    if (fpdf::RectF loose; f_.FPDFText_GetLooseCharBox(text_, index, &loose) != 0) {
      c.loose = apply(space_.to_upright, loose.left, loose.bottom, loose.right, loose.top);
    }
    if (c.box.empty() && !generated) c.box = c.loose;
    if (visible(c, generated)) content_.chars.push_back(c);
    return used;
  }

  // Cropped-away text must not be read. A generated blank has no place of its own: it goes with its predecessor.
  bool visible(const Char& c, bool generated) {
    if (!generated) {
      const float x = c.loose.center_x();
      const float y = c.loose.center_y();
      previous_visible_ =
          std::isfinite(x) && std::isfinite(y) && x >= 0 && y >= 0 && x <= space_.size.width && y <= space_.size.height;
    }
    return previous_visible_;
  }

  Style style_of(fpdf::PageObject object, int index) {
    Style style;
    const int mode = f_.FPDFTextObj_GetTextRenderMode(object);
    const bool stroke_only = mode == 1 || mode == 5;
    unsigned r = 0;
    unsigned g = 0;
    unsigned b = 0;
    unsigned alpha = 255;
    const auto color_of = stroke_only ? f_.FPDFPageObj_GetStrokeColor : f_.FPDFPageObj_GetFillColor;
    if (color_of(object, &r, &g, &b, &alpha) != 0) style.color_rgb = pack_rgb(r, g, b);
    if (mode == fpdf::text_mode_invisible || mode == fpdf::text_mode_clip || alpha == 0) style.flags = Char::invisible;
    style.font = font_index(f_.FPDFTextObj_GetFont(object), mode == 2);

    fpdf::Matrix m;
    if (f_.FPDFText_GetMatrix(text_, index, &m) != 0) {
      const fpdf::Matrix upright = concat(m, space_.to_upright);
      style.size_pt = static_cast<float>(std::abs(f_.FPDFText_GetFontSize(text_, index))) * std::hypot(m.c, m.d);
      // In our space y grows down, so this angle is clockwise.
      const float angle = std::atan2(upright.b, upright.a) * 180 / std::numbers::pi_v<float>;
      style.angle_deg = std::abs(angle) < 0.05F ? 0.0F : angle;
    }
    if (!std::isfinite(style.size_pt)) style.size_pt = 0;
    return style;
  }

  std::uint16_t font_index(fpdf::FontHandle handle, bool stroked_outline) {
    const auto key = std::pair(handle, stroked_outline);
    if (key == last_font_key_ && !content_.fonts.empty()) return last_font_;
    auto& known = stroked_outline ? known_stroked_ : known_;
    const auto [at, added] = known.try_emplace(handle, std::uint16_t{0});
    if (added) at->second = add_font(handle, stroked_outline);
    last_font_key_ = key;
    last_font_ = at->second;
    return at->second;
  }

  std::uint16_t add_font(fpdf::FontHandle handle, bool stroked_outline) {
    Font font;
    if (handle != nullptr) {
      char name[256] = {};
      f_.FPDFFont_GetBaseFontName(handle, name, sizeof(name));
      name[sizeof(name) - 1] = 0;
      FontEvidence evidence{.base_name = name,
                            .descriptor_flags = f_.FPDFFont_GetFlags(handle),
                            .weight = f_.FPDFFont_GetWeight(handle),
                            .stroked_outline = stroked_outline};
      if (evidence.descriptor_flags < 0) evidence.descriptor_flags = 0;
      f_.FPDFFont_GetItalicAngle(handle, &evidence.italic_angle);
      font = judge_font(evidence);
      for (char& c : font.name) {
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) c = '?';
      }
    }
    auto& fonts = content_.fonts;
    const auto same = std::ranges::find(fonts, font);
    if (same != fonts.end()) return static_cast<std::uint16_t>(same - fonts.begin());
    if (fonts.size() >= 4096) return 0;
    fonts.push_back(std::move(font));
    return static_cast<std::uint16_t>(fonts.size() - 1);
  }

  const fpdf::Functions& f_;
  fpdf::TextPage text_;
  const PageSpace& space_;
  PageContent& content_;
  fpdf::PageObject object_ = nullptr;
  Style style_;
  bool previous_visible_ = true;
  std::unordered_map<fpdf::FontHandle, std::uint16_t> known_;
  std::unordered_map<fpdf::FontHandle, std::uint16_t> known_stroked_;
  std::pair<fpdf::FontHandle, bool> last_font_key_{nullptr, false};
  std::uint16_t last_font_ = 0;
};

}  // namespace

void collect_text(fpdf::TextPage text, const PageSpace& space, int chars_max, PageContent& content) {
  TextCollector(text, space, content).run(chars_max);
  if (content.fonts.empty() && !content.chars.empty()) content.fonts.emplace_back();
}

}  // namespace lectern::document
