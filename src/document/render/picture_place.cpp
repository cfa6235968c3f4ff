#include "document/render/picture_place.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "image/resize.h"

namespace lectern::document {
namespace {

constexpr float askew_max = 0.005F;  // of the longer side; less than a pixel in two hundred

// A stretch of the page in one direction, and which pixels of picture and result it falls on.
struct Span {
  int out_begin = 0;  // in the result
  int out_end = 0;
  int in_begin = 0;  // in the upright picture
  int in_end = 0;
};

// `area` and `box` are intervals in points; `out` and `in` the pixels of result and picture across them.
Span overlap(float area_begin, float area_end, int out, float box_begin, float box_end, int in) {
  const double out_scale = out / static_cast<double>(area_end - area_begin);
  const double in_scale = in / static_cast<double>(box_end - box_begin);
  const auto to_out = [&](float pt) { return static_cast<int>(std::lround((pt - area_begin) * out_scale)); };
  const auto to_in = [&](double pt) {
    return static_cast<int>(std::lround((pt - static_cast<double>(box_begin)) * in_scale));
  };
  Span span;
  span.out_begin = std::clamp(to_out(box_begin), 0, out);
  span.out_end = std::clamp(to_out(box_end), span.out_begin, out);
  span.in_begin = std::clamp(to_in(static_cast<double>(area_begin) + span.out_begin / out_scale), 0, in);
  span.in_end = std::clamp(to_in(static_cast<double>(area_begin) + span.out_end / out_scale), span.in_begin, in);
  return span;
}

// How many stored pixels the whole picture needs so that its visible part has `out` pixels.
int wanted(int out, int in_part, int in_whole) {
  if (in_part <= 0) return in_whole;
  const double whole = std::ceil(static_cast<double>(out) * in_whole / in_part);
  return static_cast<int>(std::min<double>(whole, in_whole));
}

void paste(const image::Image& from, image::Image& to, int x, int y) {
  const auto offset = static_cast<std::ptrdiff_t>(x) * channels(to.format);
  for (int row = 0; row < from.height_px; ++row) std::memcpy(to.row(y + row) + offset, from.row(row), from.stride());
}

}  // namespace

std::optional<image::Turn> turn_of(const fpdf::Matrix& m) {
  // A step right in the picture moves (a, b) on the page, a step down (-c, -d): the unit square counts upwards.
  const bool straight = std::max(std::abs(m.b), std::abs(m.c)) <= askew_max * std::max(std::abs(m.a), std::abs(m.d));
  const bool sideways = std::max(std::abs(m.a), std::abs(m.d)) <= askew_max * std::max(std::abs(m.b), std::abs(m.c));
  if (straight == sideways) return std::nullopt;
  if (straight) {
    if (m.d < 0) return image::Turn{0, m.a < 0};
    return image::Turn{180, m.a > 0};
  }
  if (m.b > 0) return m.c > 0 ? image::Turn{90, false} : image::Turn{270, true};
  return m.c > 0 ? image::Turn{90, true} : image::Turn{270, false};
}

RenderSize size_for_picture(const RenderRequest& request, const RenderSize& asked, const PicturePlace& place,
                            std::int64_t pixels_max) {
  const float dpi = place.dpi_x();
  const bool even = std::abs(dpi / place.dpi_y() - 1) < 0.03F;  // fax pixels are not square: those must be resampled
  if (request.exact || request.native_dpi_max <= 0 || !even || dpi > asked.px_per_pt * 72 + request.native_dpi_max)
    return asked;
  RenderSize size = asked;
  size.width_px = std::max(1, static_cast<int>(std::lround(asked.area.width() * dpi / 72)));
  size.height_px = std::max(1, static_cast<int>(std::lround(asked.area.height() * place.dpi_y() / 72)));
  // A scan that all but fills the page keeps every one of its pixels, rather than lose a column to rounding.
  if (std::abs(size.width_px - place.upright_width_px()) * 200 <= size.width_px &&
      std::abs(size.height_px - place.upright_height_px()) * 200 <= size.height_px) {
    size.width_px = place.upright_width_px();
    size.height_px = place.upright_height_px();
  }
  if (static_cast<std::int64_t>(size.width_px) * size.height_px > pixels_max) return asked;
  if (std::max(size.width_px, size.height_px) > side_px_max) return asked;
  size.px_per_pt = static_cast<float>(size.width_px) / size.area.width();
  return size;
}

bool fits_untouched(const RenderRequest& request, const RenderSize& size, const PicturePlace& place, SizePt page) {
  if (!request.allow_passthrough || request.clip || !place.turn.none()) return false;
  const float slack_x = page.width * 0.01F;
  const float slack_y = page.height * 0.01F;
  const bool whole_page = std::abs(place.box.x0) <= slack_x && std::abs(place.box.x1 - page.width) <= slack_x &&
                          std::abs(place.box.y0) <= slack_y && std::abs(place.box.y1 - page.height) <= slack_y;
  const bool even = std::abs(place.dpi_x() / place.dpi_y() - 1) < 0.02F;
  if (request.exact) return whole_page && place.width_px == size.width_px && place.height_px == size.height_px;
  return whole_page && even && place.width_px <= size.width_px && place.height_px <= size.height_px;
}

Result<Rendered> place_picture(const PicturePlace& place, const RenderSize& size, const PlaceOptions& options,
                               const DecodePicture& decode) {
  const int full_width = place.upright_width_px();
  const int full_height = place.upright_height_px();
  // First on the full picture, to learn how much of it the result needs.
  const Span full_x = overlap(size.area.x0, size.area.x1, size.width_px, place.box.x0, place.box.x1, full_width);
  const Span full_y = overlap(size.area.y0, size.area.y1, size.height_px, place.box.y0, place.box.y1, full_height);
  // A scan that is the whole page, as nearly all are, can be resized while it is decoded.
  const bool whole = place.turn.none() && full_x.out_begin == 0 && full_x.out_end == size.width_px &&
                     full_y.out_begin == 0 && full_y.out_end == size.height_px && full_x.in_begin == 0 &&
                     full_x.in_end == full_width && full_y.in_begin == 0 && full_y.in_end == full_height;
  int width = wanted(full_x.out_end - full_x.out_begin, full_x.in_end - full_x.in_begin, full_width);
  int height = wanted(full_y.out_end - full_y.out_begin, full_y.in_end - full_y.in_begin, full_height);
  if (place.turn.swaps_sides()) std::swap(width, height);
  const bool exactly = whole && size.width_px <= full_width && size.height_px <= full_height;
  Result<DecodedPicture> decoded = decode(width, height, exactly);
  if (!decoded) return std::unexpected(decoded.error());
  Rendered out{
      .width_px = size.width_px, .height_px = size.height_px, .path = options.path, .px_per_pt = size.px_per_pt};
  if (decoded->chroma) {
    out.image = std::move(decoded->image);
    out.image.dpi = size.px_per_pt * 72;
    out.chroma = std::move(decoded->chroma);
    return out;
  }
  image::Image upright = image::turned(std::move(decoded->image), place.turn);

  // Then on the picture as it was decoded, which may be smaller.
  const Span x = overlap(size.area.x0, size.area.x1, size.width_px, place.box.x0, place.box.x1, upright.width_px);
  const Span y = overlap(size.area.y0, size.area.y1, size.height_px, place.box.y0, place.box.y1, upright.height_px);
  if (x.in_begin > 0 || y.in_begin > 0 || x.in_end < upright.width_px || y.in_end < upright.height_px) {
    upright = image::crop(upright, {x.in_begin, y.in_begin, x.in_end, y.in_end});
  }
  const int out_width = x.out_end - x.out_begin;
  const int out_height = y.out_end - y.out_begin;
  if (!upright.empty() && out_width > 0 && out_height > 0) upright = image::resize_fast(upright, out_width, out_height);

  if (upright.width_px == size.width_px && upright.height_px == size.height_px) {
    out.image = std::move(upright);
  } else {
    constexpr std::uint8_t white = 255;
    out.image = image::Image(size.width_px, size.height_px, upright.format, white);
    if (!upright.empty()) paste(upright, out.image, x.out_begin, y.out_begin);
  }
  if (out.image.format != options.format) {
    out.image = options.format == image::PixelFormat::gray8 ? image::to_gray(out.image) : image::to_rgb(out.image);
  }
  out.image.dpi = size.px_per_pt * 72;
  return out;
}

}  // namespace lectern::document
