#include "document/render/pdf_objects.h"

#include <array>
#include <cmath>
#include <string_view>

#include "base/color.h"
#include "document/render/drawing_areas.h"
#include "document/render/path_shapes.h"

namespace lectern::document {
namespace {

constexpr float scan_cover_min = 0.9F;  // of the page's area; scanners often leave a thin margin

std::uint32_t color_or_black(bool known, unsigned r, unsigned g, unsigned b) {
  return known ? (r << 16) | (g << 8) | b : 0;
}

ImageCoding coding_of(const fpdf::Functions& f, fpdf::PageObject object) {
  // The last filter is the codec of the pixels; those before it only wrap the bytes.
  const int count = f.FPDFImageObj_GetImageFilterCount(object);
  if (count <= 0) return ImageCoding::flate;  // stored plain: as cheap as Flate
  char name[32] = {};
  f.FPDFImageObj_GetImageFilter(object, count - 1, name, sizeof(name));
  name[sizeof(name) - 1] = 0;
  const std::string_view filter = name;
  if (filter == "DCTDecode" || filter == "DCT") return ImageCoding::jpeg;
  if (filter == "JPXDecode") return ImageCoding::jpeg2000;
  if (filter == "CCITTFaxDecode" || filter == "CCF") return ImageCoding::ccitt;
  if (filter == "JBIG2Decode") return ImageCoding::jbig2;
  if (filter == "FlateDecode" || filter == "Fl") return ImageCoding::flate;
  return ImageCoding::other;
}

class ObjectCollector {
 public:
  ObjectCollector(const PageSpace& space, const ObjectLimits& limits, PageContent& content)
      : f_(fpdf::functions()), space_(space), limits_(limits), content_(content) {}

  FoundObjects run(fpdf::Page page) {
    const int count = f_.FPDFPage_CountObjects(page);
    for (int i = 0; i < count && within_limits(); ++i) {
      visit(f_.FPDFPage_GetObject(page, i), space_.to_upright, space_.bounds(), 0);
    }
    content_.drawings = find_drawing_areas(shapes_, content_.rules, content_.fills, space_.size);
    content_.truncated |= found_.truncated;
    content_.drawn_in_gray = !colored_ && !content_.truncated;
    return std::move(found_);
  }

 private:
  bool within_limits() {
    if (visited_ < limits_.objects_max) return true;
    found_.truncated = true;
    return false;
  }

  // `to_upright` leads from the space the object stands in; `clip` is what the forms around it leave visible.
  void visit(fpdf::PageObject object, const fpdf::Matrix& to_upright, const RectPt& clip, int depth) {
    if (object == nullptr) return;
    ++visited_;
    switch (f_.FPDFPageObj_GetType(object)) {
      case fpdf::object_path:
        add_path(object, to_upright, clip);
        break;
      case fpdf::object_image:
        add_picture(object, to_upright, clip);
        break;
      case fpdf::object_form:
        add_form(object, to_upright, clip, depth);
        break;
      case fpdf::object_shading:
        ++found_.shadings;
        colored_ = true;
        break;
      default:
        break;
    }
  }

  void add_form(fpdf::PageObject form, const fpdf::Matrix& to_upright, const RectPt& clip, int depth) {
    if (depth >= limits_.depth_max) {
      found_.truncated = true;
      return;
    }
    fpdf::Matrix m;
    if (f_.FPDFPageObj_GetMatrix(form, &m) == 0) return;
    const fpdf::Matrix inner = concat(m, to_upright);
    const RectPt inner_clip = clipped(form, to_upright, clip);
    if (inner_clip.empty()) return;
    const int count = f_.FPDFFormObj_CountObjects(form);
    for (int i = 0; i < count && within_limits(); ++i) {
      visit(f_.FPDFFormObj_GetObject(form, static_cast<unsigned long>(i)), inner, inner_clip, depth + 1);
    }
  }

  // The box of what the object's clip paths leave visible. Odd clips (many paths, curves) are taken by their bounds
  // too, which can only be too generous.
  RectPt clipped(fpdf::PageObject object, const fpdf::Matrix& to_upright, RectPt clip) const {
    const fpdf::ClipPath path = f_.FPDFPageObj_GetClipPath(object);
    if (path == nullptr) return clip;
    const int paths = std::min(f_.FPDFClipPath_CountPaths(path), 16);
    for (int p = 0; p < paths; ++p) {
      const int segments = f_.FPDFClipPath_CountPathSegments(path, p);
      if (segments < 3 || segments > 256) continue;
      RectPt box{INFINITY, INFINITY, -INFINITY, -INFINITY};
      for (int s = 0; s < segments; ++s) {
        float x = 0;
        float y = 0;
        if (f_.FPDFPathSegment_GetPoint(f_.FPDFClipPath_GetPathSegment(path, p, s), &x, &y) == 0) continue;
        const PointPt at = apply(to_upright, x, y);
        box = {std::min(box.x0, at.x), std::min(box.y0, at.y), std::max(box.x1, at.x), std::max(box.y1, at.y)};
      }
      clip = intersection(clip, box);
    }
    return clip;
  }

  void add_picture(fpdf::PageObject object, const fpdf::Matrix& to_upright, const RectPt& clip) {
    colored_ = true;  // or it may be: only decoding it would tell
    fpdf::Matrix m;
    if (f_.FPDFPageObj_GetMatrix(object, &m) == 0) return;
    FoundPicture found{.object = object, .to_upright = concat(m, to_upright)};
    found.unclipped = apply(found.to_upright, 0, 0, 1, 1);
    PictureObject& picture = found.picture;
    picture.box = intersection(found.unclipped, clipped(object, to_upright, clip));
    if (picture.box.empty()) return;
    unsigned width = 0;
    unsigned height = 0;
    f_.FPDFImageObj_GetImagePixelSize(object, &width, &height);
    picture.object_index = static_cast<std::int32_t>(found_.pictures.size());
    picture.width_px = static_cast<int>(std::min(width, 1'000'000U));
    picture.height_px = static_cast<int>(std::min(height, 1'000'000U));
    picture.coding = coding_of(f_, object);
    // PDFium would have to begin decoding to tell the depth of other codings.
    if (picture.coding == ImageCoding::ccitt || picture.coding == ImageCoding::jbig2) picture.bits_per_pixel = 1;
    content_.pictures.push_back(picture);
    found_.pictures.push_back(found);
  }

  void add_path(fpdf::PageObject object, const fpdf::Matrix& to_upright, const RectPt& clip) {
    int fill_mode = 0;
    int stroke = 0;
    if (f_.FPDFPath_GetDrawMode(object, &fill_mode, &stroke) == 0 || (fill_mode == 0 && stroke == 0)) return;
    PathPaint paint;
    unsigned r = 0;
    unsigned g = 0;
    unsigned b = 0;
    unsigned alpha = 255;
    if (fill_mode != 0) {
      const bool known = f_.FPDFPageObj_GetFillColor(object, &r, &g, &b, &alpha) != 0;
      paint.filled = !known || alpha > 0;
      paint.fill_rgb = color_or_black(known, r, g, b);
      colored_ |= !known;  // a pattern
    }
    if (stroke != 0) {
      const bool known = f_.FPDFPageObj_GetStrokeColor(object, &r, &g, &b, &alpha) != 0;
      paint.stroked = !known || alpha > 0;
      paint.stroke_rgb = color_or_black(known, r, g, b);
      colored_ |= !known;
    }
    colored_ |= (paint.filled && !is_gray(paint.fill_rgb)) || (paint.stroked && !is_gray(paint.stroke_rgb));
    fpdf::Matrix m;
    if ((!paint.filled && !paint.stroked) || f_.FPDFPageObj_GetMatrix(object, &m) == 0) return;
    const fpdf::Matrix whole = concat(m, to_upright);
    float width = 1;
    f_.FPDFPageObj_GetStrokeWidth(object, &width);
    // The stroke's width on paper: PDF's 0 means "as thin as can be seen".
    paint.stroke_width_pt = std::max(width * std::sqrt(std::abs(whole.a * whole.d - whole.b * whole.c)), 0.2F);
    paint.clip = clipped(object, to_upright, clip);
    if (paint.clip.empty()) return;

    if (!read_points(object, whole)) {  // too long to look at each segment: surely a drawing
      float left = 0;
      float bottom = 0;
      float right = 0;
      float top = 0;
      if (f_.FPDFPageObj_GetBounds(object, &left, &bottom, &right, &top) != 0) {
        add_shape(intersection(apply(to_upright, left, bottom, right, top), paint.clip));
      }
      return;
    }
    const auto rules_before = content_.rules.size();
    const auto fills_before = content_.fills.size();
    classify_path(points_, paint, {content_.rules, content_.fills, shapes_});
    // A page-wide ground is paper, not content.
    std::erase_if(content_.fills, [&, i = std::size_t{0}](const Fill& fill) mutable {
      return i++ >= fills_before && fill.box.area() >= 0.95F * space_.bounds().area();
    });
    found_.visible_shapes +=
        static_cast<int>(content_.rules.size() - rules_before + content_.fills.size() - fills_before);
  }

  void add_shape(const RectPt& box) {
    if (!box.empty()) shapes_.push_back(box);
  }

  bool read_points(fpdf::PageObject object, const fpdf::Matrix& to_upright) {
    constexpr int segments_max = 4'000;
    points_.clear();
    const int count = f_.FPDFPath_CountSegments(object);
    if (count > segments_max) return false;
    for (int i = 0; i < count; ++i) {
      const fpdf::PathSegment segment = f_.FPDFPath_GetPathSegment(object, i);
      float x = 0;
      float y = 0;
      if (f_.FPDFPathSegment_GetPoint(segment, &x, &y) == 0) continue;
      const PointPt at = apply(to_upright, x, y);
      if (!std::isfinite(at.x) || !std::isfinite(at.y)) continue;
      PathPoint point{.at = at, .closes = f_.FPDFPathSegment_GetClose(segment) != 0};
      switch (f_.FPDFPathSegment_GetType(segment)) {
        case fpdf::segment_move:
          point.kind = PathPoint::move;
          break;
        case fpdf::segment_bezier:
          point.kind = PathPoint::curve;
          break;
        default:
          point.kind = PathPoint::line;
          break;
      }
      points_.push_back(point);
    }
    return true;
  }

  const fpdf::Functions& f_;
  const PageSpace& space_;
  const ObjectLimits& limits_;
  PageContent& content_;
  bool colored_ = false;
  FoundObjects found_;
  std::vector<RectPt> shapes_;
  std::vector<PathPoint> points_;
  int visited_ = 0;
};

}  // namespace

FoundObjects collect_objects(fpdf::Page page, const PageSpace& space, const ObjectLimits& limits,
                             PageContent& content) {
  return ObjectCollector(space, limits, content).run(page);
}

std::optional<std::uint32_t> find_full_page_scan(const FoundObjects& found, const PageContent& content) {
  if (found.truncated || found.visible_shapes > 0 || found.shadings > 0 || !content.drawings.empty())
    return std::nullopt;
  const RectPt page{0, 0, content.size.width, content.size.height};
  std::optional<std::uint32_t> scan;
  for (std::uint32_t i = 0; i < content.pictures.size(); ++i) {
    if (intersection(content.pictures[i].box, page).area() < scan_cover_min * page.area() || scan) return std::nullopt;
    scan = i;
  }
  const bool visible_text = std::ranges::any_of(content.chars, [](const Char& c) {
    return (c.flags & (Char::invisible | Char::generated)) == 0 && c.code > U' ';
  });
  return visible_text ? std::nullopt : scan;
}

}  // namespace lectern::document
