// lectern-inspect: shows what a backend finds on a page. For developers: it opens the file in this process, without the
// sandbox, so give it no file that you do not trust.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include "document/render/backend.h"
#include "document/render/unicode.h"

namespace {

using namespace lectern;
using namespace lectern::document;

struct Arguments {
  std::string file;
  int page = 0;  // 0 = all
  bool json = false;
  bool quiet = false;  // only one line a page, with times
  std::string password;
  std::string render_to;  // .pgm or .ppm
  float dpi = 150;
  float native_dpi_max = 0;
  bool passthrough = false;
};

constexpr const char* usage =
    "usage: lectern-inspect FILE [PAGE] [--json | --quiet] [--password WORD]\n"
    "                       [--render OUT.pgm|OUT.ppm [--dpi N] [--native N] [--passthrough]]\n";

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string json_box(const RectPt& b) {
  return fmt::format("[{:.2f},{:.2f},{:.2f},{:.2f}]", b.x0, b.y0, b.x1, b.y1);
}
std::string plain_box(const RectPt& b) {
  return fmt::format("({:.1f},{:.1f})-({:.1f},{:.1f})", b.x0, b.y0, b.x1, b.y1);
}

std::string_view name_of(ImageCoding coding) {
  switch (coding) {
    case ImageCoding::other:
      return "other";
    case ImageCoding::jpeg:
      return "jpeg";
    case ImageCoding::jpeg2000:
      return "jpeg2000";
    case ImageCoding::ccitt:
      return "ccitt";
    case ImageCoding::jbig2:
      return "jbig2";
    case ImageCoding::flate:
      return "flate";
  }
  return "?";
}

std::string_view name_of(RenderPath path) {
  switch (path) {
    case RenderPath::page:
      return "page";
    case RenderPath::jpeg_scaled:
      return "jpeg_scaled";
    case RenderPath::passthrough:
      return "passthrough";
    case RenderPath::bilevel:
      return "bilevel";
    case RenderPath::picture:
      return "picture";
  }
  return "?";
}

template <class T, class Write>
void json_list(std::string_view name, const std::vector<T>& items, Write write) {
  fmt::print(",\"{}\":[", name);
  bool first = true;
  for (const T& item : items) {
    fmt::print("{}{}", first ? "" : ",", write(item));
    first = false;
  }
  fmt::print("]");
}

void print_json(const PageContent& page) {
  fmt::print("{{\"page\":{},\"width\":{:.2f},\"height\":{:.2f},\"rotate\":{},\"truncated\":{}", page.page_number,
             page.size.width, page.size.height, page.page_rotate, page.truncated);
  if (page.full_page_scan) fmt::print(",\"full_page_scan\":{}", *page.full_page_scan);
  json_list("fonts", page.fonts, [](const Font& f) {
    return fmt::format("{{\"name\":{},\"bold\":{},\"italic\":{},\"monospace\":{},\"serif\":{}}}", json_string(f.name),
                       f.bold, f.italic, f.monospace, f.serif);
  });
  json_list("chars", page.chars, [](const Char& c) {
    std::string text;
    append_utf8(text, c.code);
    return fmt::format(
        "{{\"c\":{},\"font\":{},\"size\":{:.2f},\"angle\":{:.1f},\"flags\":{},\"rgb\":\"{:06x}\",\"box\":{},"
        "\"loose\":{}}}",
        json_string(text), c.font, c.size_pt, c.angle_deg, c.flags, c.color_rgb, json_box(c.box), json_box(c.loose));
  });
  json_list("rules", page.rules, [](const Rule& r) {
    return fmt::format("{{\"box\":{},\"rgb\":\"{:06x}\"}}", json_box(r.box), r.color_rgb);
  });
  json_list("fills", page.fills, [](const Fill& f) {
    return fmt::format("{{\"box\":{},\"rgb\":\"{:06x}\"}}", json_box(f.box), f.color_rgb);
  });
  json_list("pictures", page.pictures, [](const PictureObject& p) {
    return fmt::format("{{\"box\":{},\"width\":{},\"height\":{},\"bits\":{},\"coding\":\"{}\"}}", json_box(p.box),
                       p.width_px, p.height_px, p.bits_per_pixel, name_of(p.coding));
  });
  json_list("drawings", page.drawings,
            [](const DrawingArea& d) { return fmt::format("{{\"box\":{},\"paths\":{}}}", json_box(d.box), d.paths); });
  json_list("links", page.links, [](const Link& l) {
    return fmt::format("{{\"box\":{},\"uri\":{},\"page\":{}}}", json_box(l.box), json_string(l.uri), l.page_number);
  });
  fmt::print("}}\n");
}

// One line of output for each run of characters that share line and style.
void print_text(const PageContent& page) {
  std::string run;
  const Char* style = nullptr;
  RectPt box;
  const auto flush = [&] {
    if (style != nullptr && !run.empty()) {
      const Font& font = page.fonts[style->font];
      fmt::print("  {:<34} {:5.1f}pt {}{}{}{} #{:06x}{}{}{} {}| {}\n", plain_box(box), style->size_pt,
                 font.bold ? "B" : "-", font.italic ? "I" : "-", font.monospace ? "M" : "-", font.serif ? "S" : "-",
                 style->color_rgb, (style->flags & Char::invisible) != 0 ? " invisible" : "",
                 (style->flags & Char::unmapped) != 0 ? " unmapped" : "",
                 style->angle_deg != 0 ? fmt::format(" {:.0f}°", style->angle_deg) : "", font.name, run);
    }
    run.clear();
    style = nullptr;
    box = {};
  };
  constexpr auto style_flags = Char::invisible | Char::unmapped;
  for (const Char& c : page.chars) {
    if (c.code == U'\r' || c.code == U'\n') {
      flush();
      continue;
    }
    const bool blank = c.code == U' ' || (c.flags & Char::generated) != 0;
    if (style != nullptr && !blank &&
        (c.font != style->font || std::abs(c.size_pt - style->size_pt) > 0.1F || c.color_rgb != style->color_rgb ||
         (c.flags & style_flags) != (style->flags & style_flags))) {
      flush();
    }
    if (style == nullptr && !blank) style = &c;
    append_utf8(run, c.code);
    if (!blank) box = union_of(box, c.box);
  }
  flush();
}

void print_plain(const PageContent& page) {
  fmt::print("page {}: {:.1f} x {:.1f} pt, rotate {}{}{}\n", page.page_number, page.size.width, page.size.height,
             page.page_rotate, page.truncated ? ", TRUNCATED" : "",
             page.full_page_scan ? fmt::format(", full-page scan (picture {})", *page.full_page_scan) : "");
  print_text(page);
  for (const Rule& r : page.rules) {
    fmt::print("  rule    {} {} #{:06x}\n", r.horizontal() ? "h" : "v", plain_box(r.box), r.color_rgb);
  }
  for (const Fill& f : page.fills) fmt::print("  fill    {} #{:06x}\n", plain_box(f.box), f.color_rgb);
  for (const PictureObject& p : page.pictures) {
    fmt::print("  picture {} {}x{} px {} bits {}\n", plain_box(p.box), p.width_px, p.height_px, p.bits_per_pixel,
               name_of(p.coding));
  }
  for (const DrawingArea& d : page.drawings) fmt::print("  drawing {} {} paths\n", plain_box(d.box), d.paths);
  for (const Link& l : page.links) {
    fmt::print("  link    {} {}\n", plain_box(l.box), l.uri.empty() ? fmt::format("page {}", l.page_number) : l.uri);
  }
}

bool write_picture(const Rendered& rendered, const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  if (!rendered.jpeg.empty()) {
    out.write(reinterpret_cast<const char*>(rendered.jpeg.data()), static_cast<std::streamsize>(rendered.jpeg.size()));
  } else {
    const bool gray = rendered.image.format == image::PixelFormat::gray8;
    out << fmt::format("P{}\n{} {}\n255\n", gray ? 5 : 6, rendered.width_px, rendered.height_px);
    out.write(reinterpret_cast<const char*>(rendered.image.pixels.data()),
              static_cast<std::streamsize>(rendered.image.pixels.size()));
  }
  return out.good();
}

std::optional<Arguments> parse(std::span<char*> words) {
  Arguments a;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const auto value = [&]() -> const char* { return i + 1 < words.size() ? words[++i] : ""; };
    if (word == "--json")
      a.json = true;
    else if (word == "--quiet")
      a.quiet = true;
    else if (word == "--password")
      a.password = value();
    else if (word == "--render")
      a.render_to = value();
    else if (word == "--dpi")
      a.dpi = std::strtof(value(), nullptr);
    else if (word == "--native")
      a.native_dpi_max = std::strtof(value(), nullptr);
    else if (word == "--passthrough")
      a.passthrough = true;
    else if (word.starts_with("--"))
      return std::nullopt;
    else if (a.file.empty())
      a.file = word;
    else
      a.page = std::atoi(words[i]);
  }
  if (a.file.empty() || a.page < 0) return std::nullopt;
  return a;
}

// CPU time, because developers' machines are busy.
double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

int report(const std::string& what, const Error& error) {
  fmt::print(stderr, "{}: {}\n", what, error.for_caller);
  return 1;
}

int show_page(Backend& backend, const Arguments& a, int page) {
  const double start = cpu_ms();
  const Result<PageContent> content = backend.inspect(page);
  const double inspect_ms = cpu_ms() - start;
  if (!content) return report(fmt::format("{} page {}", a.file, page), content.error());
  if (a.json) {
    print_json(*content);
  } else if (a.quiet) {
    struct rusage used{};
    getrusage(RUSAGE_SELF, &used);
    fmt::print(
        "page {} {:.2f} ms chars {} fonts {} rules {} fills {} pictures {} drawings {} links {}{}{} peak {} MB\n", page,
        inspect_ms, content->chars.size(), content->fonts.size(), content->rules.size(), content->fills.size(),
        content->pictures.size(), content->drawings.size(), content->links.size(),
        content->full_page_scan ? " scan" : "", content->truncated ? " truncated" : "", used.ru_maxrss / 1024);
  } else {
    print_plain(*content);
  }
  if (a.render_to.empty()) return 0;
  RenderRequest request{
      .page_number = page, .dpi = a.dpi, .allow_passthrough = a.passthrough, .native_dpi_max = a.native_dpi_max};
  if (a.render_to.ends_with(".ppm")) request.format = image::PixelFormat::rgb24;
  const double render_start = cpu_ms();
  const Result<Rendered> rendered = backend.render(request);
  const double render_ms = cpu_ms() - render_start;
  if (!rendered) return report(fmt::format("{} page {}", a.file, page), rendered.error());
  fmt::print(stderr, "page {} rendered {}x{} by {} in {:.2f} ms\n", page, rendered->width_px, rendered->height_px,
             name_of(rendered->path), render_ms);
  if (a.render_to != "/dev/null" && !write_picture(*rendered, a.render_to)) {
    fmt::print(stderr, "cannot write {}\n", a.render_to);
    return 1;
  }
  return 0;
}

int run(const Arguments& a) {
  const char* library = std::getenv("LECTERN_PDFIUM");
  if (Status loaded = pdfium_load(library == nullptr ? "" : library); !loaded)
    return report("lectern-inspect", loaded.error());
  if (!pdfium_info().warning.empty()) fmt::print(stderr, "warning: {}\n", pdfium_info().warning);
  const int fd = open(a.file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return report(a.file, fail_errno("cannot open", errno).error());
  const double start = cpu_ms();
  const auto backend = open_backend({.fd = fd, .password = a.password});
  if (!backend) return report(a.file, backend.error());
  const DocumentInfo& info = (*backend)->info();
  if (a.quiet || !a.json) {
    fmt::print("{} pages, title \"{}\", {} outline entries, opened in {:.2f} ms (CPU)\n", info.pages, info.title,
               info.outline.size(), (cpu_ms() - start));
    if (!a.quiet) {
      for (const OutlineEntry& e : info.outline)
        fmt::print("  outline {} \"{}\" page {}\n", e.level, e.title, e.page_number);
    }
  }
  int failed = 0;
  for (int page = a.page == 0 ? 1 : a.page; page <= (a.page == 0 ? info.pages : a.page); ++page) {
    failed |= show_page(**backend, a, page);
  }
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = parse(std::span(argv, static_cast<std::size_t>(argc)));
  if (!arguments) {
    std::fputs(usage, stderr);
    return 2;
  }
  return run(*arguments);
}
