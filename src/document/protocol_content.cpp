// A page's contents on the wire.
#include "document/protocol_parts.h"

namespace lectern::document::protocol {
namespace {

// The least bytes an element takes.
constexpr std::size_t rect_bytes = 4 * sizeof(float);
constexpr std::size_t char_bytes = 4 + 2 + 2 + 4 + 4 + 4 + 2 * rect_bytes;
constexpr std::size_t painted_bytes = rect_bytes + 4;
constexpr std::size_t picture_bytes = 4 + rect_bytes + 4 + 4 + 4 + 1;
constexpr std::size_t drawing_bytes = rect_bytes + 4;
constexpr std::size_t link_bytes = rect_bytes + 4 + 4;
constexpr std::size_t font_bytes = 4 + 4;

bool is_scalar_value(std::uint32_t code) {
  return code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

void put(Writer& out, const Font& font) {
  out.text(font.name, caps.name_bytes);
  out.boolean(font.bold);
  out.boolean(font.italic);
  out.boolean(font.monospace);
  out.boolean(font.serif);
}

Font take_font(Reader& in) {
  Font font;
  font.name = in.text(caps.name_bytes);
  font.bold = in.boolean();
  font.italic = in.boolean();
  font.monospace = in.boolean();
  font.serif = in.boolean();
  return font;
}

constexpr std::uint16_t all_char_flags = Char::generated | Char::hyphen | Char::unmapped | Char::invisible | Char::rtl;

void put(Writer& out, const Char& c) {
  out.u32(is_scalar_value(c.code) ? static_cast<std::uint32_t>(c.code) : 0xFFFDU);
  out.u16(c.font);
  out.u16(c.flags & all_char_flags);
  out.u32(c.color_rgb & 0xFFFFFF);
  out.f32(c.size_pt);
  out.f32(c.angle_deg);
  put_rect(out, c.box);
  put_rect(out, c.loose);
}

Char take_char(Reader& in, std::size_t fonts) {
  Char c;
  c.code = in.u32();
  in.require(is_scalar_value(c.code), "a character outside Unicode");
  c.font = in.u16();
  in.require(c.font < fonts, "a character in a font that is not there");
  c.flags = in.u16();
  in.require((c.flags & ~all_char_flags) == 0, "an unknown character flag");
  c.color_rgb = in.u32();
  in.require(c.color_rgb <= 0xFFFFFF, "a color outside RGB");
  c.size_pt = in.f32();
  c.angle_deg = in.f32();
  c.box = take_rect(in);
  c.loose = take_rect(in);
  return c;
}

template <class Painted>  // Rule or Fill
void put_painted(Writer& out, const Painted& painted) {
  put_rect(out, painted.box);
  out.u32(painted.color_rgb & 0xFFFFFF);
}

template <class Painted>
Painted take_painted(Reader& in) {
  Painted painted;
  painted.box = take_rect(in);
  painted.color_rgb = in.u32();
  in.require(painted.color_rgb <= 0xFFFFFF, "a color outside RGB");
  return painted;
}

void put(Writer& out, const PictureObject& picture) {
  out.i32(std::max(picture.object_index, 0));
  put_rect(out, picture.box);
  out.i32(std::clamp(picture.width_px, 0, side_px_max));
  out.i32(std::clamp(picture.height_px, 0, side_px_max));
  out.i32(std::clamp(picture.bits_per_pixel, 0, 256));
  out.enumerator(picture.coding);
}

PictureObject take_picture(Reader& in) {
  PictureObject picture;
  picture.object_index = in.i32_between(0, int_max, "a negative object index");
  picture.box = take_rect(in);
  picture.width_px = in.i32_between(0, side_px_max, "a picture width out of range");
  picture.height_px = in.i32_between(0, side_px_max, "a picture height out of range");
  picture.bits_per_pixel = in.i32_between(0, 256, "a color depth out of range");
  picture.coding = in.enumerator(ImageCoding::other, ImageCoding::flate);
  return picture;
}

void put(Writer& out, const DrawingArea& drawing) {
  put_rect(out, drawing.box);
  out.i32(std::max(drawing.paths, 0));
}

DrawingArea take_drawing(Reader& in) {
  DrawingArea drawing;
  drawing.box = take_rect(in);
  drawing.paths = in.i32_between(0, int_max, "a negative path count");
  return drawing;
}

void put(Writer& out, const Link& link) {
  put_rect(out, link.box);
  // Half an address leads nowhere good: a longer one is left out.
  out.text(link.uri.size() <= caps.uri_bytes ? std::string_view(link.uri) : std::string_view(), caps.uri_bytes);
  out.i32(std::max(link.page_number, 0));
}

Link take_link(Reader& in) {
  Link link;
  link.box = take_rect(in);
  link.uri = in.text(caps.uri_bytes);
  link.page_number = in.i32_between(0, int_max, "a negative page number");
  return link;
}

}  // namespace

Payload encode(const PageContent& content) {
  Writer out;
  out.i32(content.page_number);
  out.f32(std::max(content.size.width, 0.0F));
  out.f32(std::max(content.size.height, 0.0F));
  out.i32(content.page_rotate);
  bool cut = put_list(out, content.fonts, caps.fonts, [](Writer& to, const Font& font) { put(to, font); });
  cut |= put_list(out, content.chars, caps.chars, [](Writer& to, const Char& c) { put(to, c); });
  cut |= put_list(out, content.rules, caps.rules, put_painted<Rule>);
  cut |= put_list(out, content.fills, caps.fills, put_painted<Fill>);
  cut |= put_list(out, content.pictures, caps.pictures, [](Writer& to, const PictureObject& p) { put(to, p); });
  cut |= put_list(out, content.drawings, caps.drawings, [](Writer& to, const DrawingArea& d) { put(to, d); });
  cut |= put_list(out, content.links, caps.links, [](Writer& to, const Link& link) { put(to, link); });
  out.boolean(content.drawn_in_gray);
  out.boolean(content.truncated || cut);
  const bool scan =
      content.full_page_scan && *content.full_page_scan < std::min(content.pictures.size(), caps.pictures);
  out.boolean(scan);
  if (scan) out.u32(*content.full_page_scan);
  return out.take();
}

Result<PageContent> decode_content(Bytes bytes) {
  Reader in(bytes);
  PageContent content;
  content.page_number = in.i32_between(1, int_max, "a page number below 1");
  content.size.width = in.f32();
  content.size.height = in.f32();
  in.require(content.size.width >= 0 && content.size.height >= 0, "a page of negative size");
  content.page_rotate = in.i32_between(0, 270, "a page turned by an odd angle");
  in.require(content.page_rotate % 90 == 0, "a page turned by an odd angle");
  content.fonts = take_list(in, caps.fonts, font_bytes, take_font);
  const std::size_t fonts = content.fonts.size();
  content.chars = take_list(in, caps.chars, char_bytes, [fonts](Reader& from) { return take_char(from, fonts); });
  content.rules = take_list(in, caps.rules, painted_bytes, take_painted<Rule>);
  content.fills = take_list(in, caps.fills, painted_bytes, take_painted<Fill>);
  content.pictures = take_list(in, caps.pictures, picture_bytes, take_picture);
  content.drawings = take_list(in, caps.drawings, drawing_bytes, take_drawing);
  content.links = take_list(in, caps.links, link_bytes, take_link);
  content.drawn_in_gray = in.boolean();
  content.truncated = in.boolean();
  if (in.boolean()) {
    content.full_page_scan = in.u32();
    in.require(*content.full_page_scan < content.pictures.size(), "a full-page scan that is not there");
  }
  return finished(in, std::move(content), MessageType::content);
}

}  // namespace lectern::document::protocol
