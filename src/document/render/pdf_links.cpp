#include "document/render/pdf_links.h"

#include <unordered_set>

#include "document/render/unicode.h"

namespace lectern::document {
namespace {

constexpr std::size_t links_max = 5'000;
constexpr std::size_t outline_max = 1'000;
constexpr int outline_depth_max = 32;
constexpr unsigned long text_bytes_max = 8'192;

// PDFium's strings: UTF-16 with a final NUL, asked for by byte count.
template <class Read>
std::string read_utf16(Read read) {
  std::vector<std::uint16_t> buffer(256);
  unsigned long bytes = read(buffer.data(), buffer.size() * 2);
  if (bytes > buffer.size() * 2) {
    buffer.assign(std::min(bytes, text_bytes_max) / 2 + 1, 0);
    if (bytes > buffer.size() * 2) return {};  // a title of this length is an attack, not a title
    bytes = read(buffer.data(), buffer.size() * 2);
  }
  return utf8_from_utf16(std::span(buffer).first(std::min<std::size_t>(bytes / 2, buffer.size())));
}

std::string uri_of(const fpdf::Functions& f, fpdf::Document document, fpdf::Action action) {
  const unsigned long size = f.FPDFAction_GetURIPath(document, action, nullptr, 0);
  if (size <= 1 || size > text_bytes_max) return {};
  std::string uri(size, 0);
  f.FPDFAction_GetURIPath(document, action, uri.data(), size);
  uri.resize(size - 1);  // without the NUL
  return clean_uri(uri);
}

struct Target {
  std::string uri;
  int page_number = 0;
};

Target target_of(const fpdf::Functions& f, fpdf::Document document, fpdf::Dest dest, fpdf::Action action) {
  Target target;
  if (dest == nullptr && action != nullptr) {
    const unsigned long type = f.FPDFAction_GetType(action);
    if (type == fpdf::action_uri) target.uri = uri_of(f, document, action);
    if (type == fpdf::action_goto) dest = f.FPDFAction_GetDest(document, action);
  }
  if (dest != nullptr) target.page_number = std::max(0, f.FPDFDest_GetDestPageIndex(document, dest) + 1);
  return target;
}

void walk_outline(const fpdf::Functions& f, fpdf::Document document, fpdf::Bookmark parent, int level,
                  std::unordered_set<fpdf::Bookmark>& seen, std::vector<OutlineEntry>& entries) {
  if (level > outline_depth_max) return;
  for (fpdf::Bookmark b = f.FPDFBookmark_GetFirstChild(document, parent); b != nullptr;
       b = f.FPDFBookmark_GetNextSibling(document, b)) {
    if (entries.size() >= outline_max || !seen.insert(b).second) return;  // outlines with cycles exist
    OutlineEntry entry{.level = level};
    entry.title = read_utf16([&](void* to, unsigned long size) { return f.FPDFBookmark_GetTitle(b, to, size); });
    entry.page_number =
        target_of(f, document, f.FPDFBookmark_GetDest(document, b), f.FPDFBookmark_GetAction(b)).page_number;
    entries.push_back(std::move(entry));
    walk_outline(f, document, b, level + 1, seen, entries);
  }
}

}  // namespace

std::vector<Link> annotation_links(fpdf::Document document, fpdf::Page page, const PageSpace& space) {
  const auto& f = fpdf::functions();
  std::vector<Link> links;
  int position = 0;
  fpdf::LinkHandle handle = nullptr;
  while (links.size() < links_max && f.FPDFLink_Enumerate(page, &position, &handle) != 0) {
    Target target = target_of(f, document, f.FPDFLink_GetDest(document, handle), f.FPDFLink_GetAction(handle));
    if (target.uri.empty() && target.page_number == 0) continue;
    // A link over several lines has one quadrilateral a line; its rectangle would cover the words between.
    const int quads = std::min(f.FPDFLink_CountQuadPoints(handle), 64);
    const auto before = links.size();
    for (int q = 0; q < quads; ++q) {
      fpdf::QuadPoints p;
      if (f.FPDFLink_GetQuadPoints(handle, q, &p) == 0) continue;
      const auto [x0, x1] = std::minmax({p.x1, p.x2, p.x3, p.x4});
      const auto [y0, y1] = std::minmax({p.y1, p.y2, p.y3, p.y4});
      const RectPt box = intersection(apply(space.to_upright, x0, y0, x1, y1), space.bounds());
      if (!box.empty()) links.push_back({box, target.uri, target.page_number});
    }
    if (fpdf::RectF r; links.size() == before && f.FPDFLink_GetAnnotRect(handle, &r) != 0) {
      const RectPt box = intersection(apply(space.to_upright, r.left, r.bottom, r.right, r.top), space.bounds());
      if (!box.empty()) links.push_back({box, std::move(target.uri), target.page_number});
    }
  }
  return links;
}

void add_web_links(fpdf::TextPage text, const PageSpace& space, std::vector<Link>& links) {
  const auto& f = fpdf::functions();
  const fpdf::OwnedPageLink found(f.FPDFLink_LoadWebLinks(text));
  if (!found) return;
  const std::size_t annotations = links.size();
  const int count = f.FPDFLink_CountWebLinks(found.get());
  for (int i = 0; i < count && links.size() < links_max; ++i) {
    const int length = f.FPDFLink_GetURL(found.get(), i, nullptr, 0);
    if (length <= 1 || length > 4096) continue;
    std::vector<std::uint16_t> url(static_cast<std::size_t>(length));
    f.FPDFLink_GetURL(found.get(), i, url.data(), length);
    const std::string uri = clean_uri(utf8_from_utf16(url));
    const int rects = std::min(f.FPDFLink_CountRects(found.get(), i), 64);
    for (int r = 0; r < rects; ++r) {
      double left = 0;
      double top = 0;
      double right = 0;
      double bottom = 0;
      if (f.FPDFLink_GetRect(found.get(), i, r, &left, &top, &right, &bottom) == 0) continue;
      const RectPt box = intersection(apply(space.to_upright, static_cast<float>(left), static_cast<float>(bottom),
                                            static_cast<float>(right), static_cast<float>(top)),
                                      space.bounds());
      const bool covered =
          std::any_of(links.begin(), links.begin() + static_cast<std::ptrdiff_t>(annotations),
                      [&](const Link& link) { return intersection(link.box, box).area() > 0.3F * box.area(); });
      if (!box.empty() && !covered) links.push_back({box, uri, 0});
    }
  }
}

std::string document_title(fpdf::Document document) {
  const auto& f = fpdf::functions();
  return read_utf16([&](void* to, unsigned long size) { return f.FPDF_GetMetaText(document, "Title", to, size); });
}

std::vector<OutlineEntry> document_outline(fpdf::Document document) {
  const auto& f = fpdf::functions();
  std::vector<OutlineEntry> entries;
  std::unordered_set<fpdf::Bookmark> seen;
  walk_outline(f, document, nullptr, 1, seen, entries);
  return entries;
}

}  // namespace lectern::document
