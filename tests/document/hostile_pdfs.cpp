#include "document/hostile_pdfs.h"

#include <zlib.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "document/minimal_pdf.h"

namespace lectern::document {
namespace {

std::string repeated(std::string_view piece, std::size_t times) {
  std::string all;
  all.reserve(piece.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += piece;
  return all;
}

std::string random_bytes(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// Deflates `bytes` so that the result can stand anywhere in a deflate stream, any number of times.
std::string deflate_block(std::string_view bytes, int flush) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK) throw std::runtime_error("deflate");
  std::string out(bytes.size() / 100 + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, flush);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

std::string one_page(PdfPageOptions page) {
  return pdf_of_pages({std::move(page)});
}

// A document of one page whose content stream is given as an object of its own.
std::string page_with_content_stream(std::string_view stream, std::string_view entries,
                                     std::string_view resources = "") {
  PdfWriter pdf;
  const int catalog = pdf.reserve();
  const int tree = pdf.reserve();
  const int content = pdf.add_stream(stream, entries);
  const int page = pdf.add(
      fmt::format("<< /Type /Page /Parent {} 0 R /MediaBox [0 0 612 792] /Contents {} 0 R /Resources << {} >> >>", tree,
                  content, resources));
  pdf.set(catalog, fmt::format("<< /Type /Catalog /Pages {} 0 R >>", tree));
  pdf.set(tree, fmt::format("<< /Type /Pages /Count 1 /Kids [{} 0 R] >>", page));
  return pdf.finish(catalog);
}

// A page that shows one picture with these entries and bytes.
std::string page_with_picture(std::string_view entries, std::string_view bytes) {
  PdfWriter pdf;
  const int catalog = pdf.reserve();
  const int tree = pdf.reserve();
  const int picture = pdf.add_stream(bytes, fmt::format("/Type /XObject /Subtype /Image {}", entries));
  const int content = pdf.add_stream("q 612 0 0 792 0 0 cm /P Do Q");
  const int page =
      pdf.add(fmt::format("<< /Type /Page /Parent {} 0 R /MediaBox [0 0 612 792] /Contents {} 0 R "
                          "/Resources << /XObject << /P {} 0 R >> >> >>",
                          tree, content, picture));
  pdf.set(catalog, fmt::format("<< /Type /Catalog /Pages {} 0 R >>", tree));
  pdf.set(tree, fmt::format("<< /Type /Pages /Count 1 /Kids [{} 0 R] >>", page));
  return pdf.finish(catalog);
}

std::string page_tree_cycle() {
  PdfWriter pdf;
  const int catalog = pdf.add("<< /Type /Catalog /Pages 2 0 R >>");
  pdf.add("<< /Type /Pages /Count 9 /Kids [3 0 R 2 0 R] /Parent 3 0 R >>");
  pdf.add("<< /Type /Pages /Count 9 /Kids [2 0 R 3 0 R] /Parent 2 0 R >>");
  return pdf.finish(catalog);
}

std::string page_count_lie(std::string_view count) {
  PdfWriter pdf;
  const int catalog = pdf.add("<< /Type /Catalog /Pages 2 0 R >>");
  pdf.add(fmt::format("<< /Type /Pages /Count {} /Kids [3 0 R] >>", count));
  pdf.add("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] >>");
  return pdf.finish(catalog);
}

// 10^levels pages out of a few objects: every inner node holds the same child ten times.
std::string shared_page_tree(int levels) {
  PdfWriter pdf;
  const int catalog = pdf.add("<< /Type /Catalog /Pages 2 0 R >>");
  long count = 1;
  for (int i = 0; i < levels; ++i) count *= 10;
  for (int level = 0; level < levels; ++level, count /= 10) {
    const int child = 2 + level + 1;
    pdf.add(fmt::format("<< /Type /Pages /Count {} /Kids [{}] >>", count, repeated(fmt::format("{} 0 R ", child), 10)));
  }
  pdf.add("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 10 10] >>");
  return pdf.finish(catalog);
}

std::string many_pages(int pages) {
  PdfWriter pdf;
  const int catalog = pdf.add("<< /Type /Catalog /Pages 2 0 R >>");
  std::string kids;
  const int tree = pdf.reserve();
  for (int i = 0; i < pages; ++i) {
    kids += fmt::format("{} 0 R ", pdf.add("<</Type/Page/Parent 2 0 R/MediaBox[0 0 10 10]>>"));
  }
  pdf.set(tree, fmt::format("<< /Type /Pages /Count {} /Kids [{}] >>", pages, kids));
  return pdf.finish(catalog);
}

// `levels` of forms, each of which shows the next one `times`; in a cycle the last shows the first again.
std::string form_recursion(int levels, int times, bool cycle) {
  PdfWriter pdf;
  const int catalog = pdf.reserve();
  const int tree = pdf.reserve();
  const int page = pdf.reserve();
  const int content = pdf.add_stream("/X Do");
  const int first = content + 1;
  for (int level = 0; level < levels; ++level) {
    const bool last = level + 1 == levels;
    const int next = last ? first : first + level + 1;
    pdf.add_stream(repeated("/X Do ", static_cast<std::size_t>(last && !cycle ? 0 : times)) + "0 0 10 10 re f",
                   fmt::format("/Type /XObject /Subtype /Form /BBox [0 0 612 792] "
                               "/Resources << /XObject << /X {} 0 R >> >>",
                               next));
  }
  pdf.set(catalog, fmt::format("<< /Type /Catalog /Pages {} 0 R >>", tree));
  pdf.set(tree, fmt::format("<< /Type /Pages /Count 1 /Kids [{} 0 R] >>", page));
  pdf.set(page, fmt::format("<< /Type /Page /Parent {} 0 R /MediaBox [0 0 612 792] /Contents {} 0 R "
                            "/Resources << /XObject << /X {} 0 R >> >> >>",
                            tree, content, first));
  return pdf.finish(catalog);
}

std::string type3_font_of_itself() {
  PdfWriter pdf;
  const int catalog = pdf.add("<< /Type /Catalog /Pages 2 0 R >>");
  pdf.add("<< /Type /Pages /Count 1 /Kids [3 0 R] >>");
  pdf.add(
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>");
  pdf.add_stream("BT /F 50 Tf 100 100 Td (aaaa) Tj ET");
  pdf.add(
      "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1000 1000] /FontMatrix [.001 0 0 .001 0 0] /FirstChar 97 "
      "/LastChar 97 /Widths [1000] /Encoding << /Type /Encoding /Differences [97 /a] >> /CharProcs << /a 6 0 R >> "
      "/Resources << /Font << /F 5 0 R >> >> >>");
  pdf.add_stream("1000 0 d0 BT /F 900 Tf (aaaa) Tj ET 0 0 500 500 re f");
  return pdf.finish(catalog);
}

std::string tiling_pattern(std::string_view step) {
  PdfWriter pdf;
  const int catalog = pdf.add("<< /Type /Catalog /Pages 2 0 R >>");
  pdf.add("<< /Type /Pages /Count 1 /Kids [3 0 R] >>");
  pdf.add(
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Pattern << /P 5 0 R >> >> "
      ">>");
  pdf.add_stream("/Pattern cs /P scn 0 0 612 792 re f");
  pdf.add_stream("0 0 1 1 re f 1 0 0 rg 0 0 .3 .3 re f",
                 fmt::format("/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 100 100] "
                             "/XStep {0} /YStep {0} /Resources << >>",
                             step));
  return pdf.finish(catalog);
}

std::string outline_cycle() {
  PdfWriter pdf;
  const int catalog = pdf.add("<< /Type /Catalog /Pages 2 0 R /Outlines 4 0 R >>");
  pdf.add("<< /Type /Pages /Count 1 /Kids [3 0 R] >>");
  pdf.add("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] >>");
  pdf.add("<< /First 5 0 R /Last 5 0 R /Count 1000000 >>");
  pdf.add("<< /Title (a) /Next 6 0 R /First 4 0 R /Parent 4 0 R >>");
  pdf.add("<< /Title (b) /Next 5 0 R /First 5 0 R /Parent 5 0 R >>");
  return pdf.finish(catalog);
}

std::string cross_reference_loop() {
  const std::string body = one_page({.content = text_content("loop")});
  const std::size_t table = body.rfind("xref\n0");
  const std::size_t trailer = body.rfind("trailer");
  return body.substr(0, trailer) +
         fmt::format("trailer\n<< /Size 6 /Root 1 0 R /Prev {} >>\nstartxref\n{}\n%%EOF\n", table, table);
}

std::string length_of_itself() {
  PdfWriter pdf;
  const int catalog = pdf.add("<< /Type /Catalog /Pages 2 0 R >>");
  pdf.add("<< /Type /Pages /Count 1 /Kids [3 0 R] >>");
  pdf.add("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 4 0 R >>");
  pdf.add("<< /Length 4 0 R /Filter 4 0 R >>\nstream\n0 0 10 10 re f\nendstream");
  return pdf.finish(catalog);
}

std::string nested(std::string_view open, std::string_view inner, std::string_view close, std::size_t depth) {
  return repeated(open, depth) + std::string(inner) + repeated(close, depth);
}

std::string object_in_catalog(std::string_view value) {
  PdfWriter pdf;
  const int catalog = pdf.add(fmt::format("<< /Type /Catalog /Pages 2 0 R /Odd {} >>", value));
  pdf.add("<< /Type /Pages /Count 1 /Kids [3 0 R] >>");
  pdf.add("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] >>");
  return pdf.finish(catalog);
}

std::string many_links(int links) {
  std::string annotations;
  for (int i = 0; i < links; ++i) {
    annotations += fmt::format("<< /Subtype /Link /Rect [0 {0} 9 {0}] /A << /S /URI /URI (http://x/{0}) >> >> ", i);
  }
  return one_page({.content = "", .entries = fmt::format("/Annots [{}]", annotations)});
}

std::string garbage_crypt() {
  std::string pdf = one_page({.content = text_content("secret")});
  const std::size_t at = pdf.rfind("/Root");
  return pdf.insert(at, "/Encrypt << /Filter /Standard /V 5 /R 6 /Length 99999 /O () /U (x) /P -1 /CF 1 >> /ID [()] ");
}

std::string big_endian(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

std::string png_chunk(std::string_view type, std::string_view data) {
  const std::string body = std::string(type) + std::string(data);
  const auto check = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + body + big_endian(static_cast<std::uint32_t>(check));
}

std::string huge_png(std::uint32_t side) {
  using namespace std::string_literals;
  return "\x89PNG\r\n\x1a\n"s + png_chunk("IHDR", big_endian(side) + big_endian(side) + "\x08\x02\0\0\0"s) +
         png_chunk("IDAT", zlib_bomb(std::size_t{64} << 20, 1)) + png_chunk("IEND", "");
}

// Little-endian TIFF whose only directory names itself as the next.
std::string tiff_directory_loop() {
  using namespace std::string_literals;
  const auto entry = [](std::uint16_t tag, std::uint16_t type, std::uint32_t value) {
    std::string e;
    for (const std::uint32_t part : {std::uint32_t{tag} | std::uint32_t{type} << 16, std::uint32_t{1}, value}) {
      for (int shift = 0; shift < 32; shift += 8) e += static_cast<char>(part >> shift);
    }
    return e;
  };
  return "II*\0\x08\0\0\0\x06\0"s + entry(256, 3, 1) + entry(257, 3, 1) + entry(258, 3, 8) + entry(262, 3, 1) +
         entry(273, 4, 8) + entry(279, 4, 1) + "\x08\0\0\0"s;
}

std::string huge_bmp() {
  using namespace std::string_literals;
  return "BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\xFF\xFF\xFF\x7F\xFF\xFF\xFF\x7F\x01\0\x18\0\0\0\0\0\0\0\0\0"s +
         std::string(24, '\0');
}

}  // namespace

std::string zlib_bomb(std::size_t bytes, int filters) {
  // Repeating one flushed block of zeros gives the stream in no time; its checksum is wrong, which readers forgive.
  constexpr std::size_t block_bytes = std::size_t{16} << 20;
  const std::string zeros(std::min(bytes, block_bytes), '\0');
  std::string deflated = repeated(deflate_block(zeros, Z_FULL_FLUSH), std::max<std::size_t>(1, bytes / zeros.size()));
  std::string stream = "\x78\xDA" + deflated + deflate_block("", Z_FINISH) + "\xDE\xAD\xBE\xEF";
  for (int i = 1; i < filters; ++i) stream = "\x78\xDA" + deflate_block(stream, Z_FINISH) + "\xDE\xAD\xBE\xEF";
  return stream;
}

std::vector<HostileFile> hostile_files(HostileScale scale) {
  const bool full = scale == HostileScale::full;
  const std::size_t bomb_bytes = full ? std::size_t{10} << 30 : std::size_t{256} << 20;
  const int deep = full ? 1'000'000 : 50'000;
  std::vector<HostileFile> files;
  const auto add = [&](std::string name, std::function<std::string()> make) {
    files.push_back({std::move(name), std::move(make)});
  };

  add("page-tree-cycle.pdf", page_tree_cycle);
  for (const char* count : {"2000000000", "-5", "99999999999999999999"}) {
    add(fmt::format("page-count-{}.pdf", count), [count] { return page_count_lie(count); });
  }
  add("million-pages-shared.pdf", [] { return shared_page_tree(6); });
  add("trillion-pages-shared.pdf", [] { return shared_page_tree(12); });
  add("many-page-objects.pdf", [full] { return many_pages(full ? 1'000'000 : 20'000); });

  add("flate-bomb-content.pdf", [bomb_bytes] {
    return page_with_content_stream(zlib_bomb(bomb_bytes, 2), "/Filter [/FlateDecode /FlateDecode]");
  });
  add("flate-bomb-picture.pdf", [bomb_bytes] {
    return page_with_picture(
        "/Width 30000 /Height 30000 /BitsPerComponent 8 /ColorSpace /DeviceRGB "
        "/Filter [/FlateDecode /FlateDecode]",
        zlib_bomb(bomb_bytes, 2));
  });
  add("run-length-bomb.pdf", [full] {
    return page_with_content_stream(repeated("\x81 ", full ? 5'000'000 : 100'000), "/Filter /RunLengthDecode");
  });

  add("form-of-itself.pdf", [] { return form_recursion(1, 1, true); });
  add("forms-exponential.pdf", [full] { return form_recursion(full ? 12 : 4, 10, full); });
  add("type3-font-of-itself.pdf", type3_font_of_itself);
  add("outline-cycle.pdf", outline_cycle);
  add("xref-loop.pdf", cross_reference_loop);
  add("length-of-itself.pdf", length_of_itself);

  for (const char* box : {"[0 0 14400 14400]", "[0 0 1000000000 1000000000]", "[0 0 0 0]", "[9 9 -9 -9]",
                          "[0 0 1e-9 1e9]", "[99999999999999999999 0 0 1]", "(none)"}) {
    add(fmt::format("media-box-{}.pdf", box),
        [box] { return one_page({.content = text_content("large"), .media_box = box}); });
  }
  add("user-unit-75000.pdf", [] { return one_page({.content = text_content("x"), .entries = "/UserUnit 75000"}); });

  add("picture-dimensions-huge.pdf", [] {
    return page_with_picture("/Width 2147483647 /Height 2147483647 /BitsPerComponent 16 /ColorSpace /DeviceCMYK", "x");
  });
  add("picture-100000-bilevel.pdf", [] {
    return page_with_picture(
        "/Width 100000 /Height 100000 /BitsPerComponent 1 /ColorSpace /DeviceGray /Filter "
        "/FlateDecode",
        zlib_bomb(std::size_t{1} << 30, 1));
  });
  add("ccitt-endless.pdf", [full] {
    return page_with_picture(fmt::format("/Width {0} /Height {0} /BitsPerComponent 1 /ColorSpace /DeviceGray /Filter "
                                         "/CCITTFaxDecode /DecodeParms << /K -1 /Columns {0} /Rows {0} >>",
                                         full ? 60'000 : 6'000),
                             random_bytes(20'000, 3));
  });
  for (const char* filter : {"JBIG2Decode", "JPXDecode", "DCTDecode", "LZWDecode", "ASCII85Decode"}) {
    add(fmt::format("garbage-{}.pdf", filter), [filter] {
      return page_with_picture(fmt::format("/Width 3000 /Height 3000 /BitsPerComponent 8 /ColorSpace /DeviceRGB "
                                           "/Filter /{}",
                                           filter),
                               random_bytes(50'000, 5));
    });
  }

  add("nested-arrays.pdf", [deep] { return object_in_catalog(nested("[", "1", "]", static_cast<std::size_t>(deep))); });
  add("nested-dictionaries.pdf",
      [deep] { return object_in_catalog(nested("<</A ", "1", ">>", static_cast<std::size_t>(deep))); });
  add("nested-states.pdf",
      [deep] { return one_page({.content = nested("q ", "0 0 9 9 re f", " Q", static_cast<std::size_t>(deep))}); });
  add("nested-content-arrays.pdf",
      [deep] { return one_page({.content = nested("[ ", "(x)", " ]", static_cast<std::size_t>(deep)) + " TJ"}); });
  add("huge-string.pdf",
      [full] { return object_in_catalog("(" + std::string(full ? 50'000'000 : 2'000'000, 'x') + ")"); });
  add("huge-text.pdf",
      [full] { return one_page({.content = text_content(std::string(full ? 20'000'000 : 200'000, 'x'))}); });
  add("many-links.pdf", [full] { return many_links(full ? 200'000 : 5'000); });
  add("many-paths.pdf",
      [full] { return one_page({.content = repeated("0 0 m 9 9 l S ", full ? 3'000'000 : 50'000)}); });
  add("garbage-encryption.pdf", garbage_crypt);

  add("tiling-fine.pdf", [full] { return tiling_pattern(full ? "0.001" : "50"); });
  add("dashes-fine.pdf", [full] {
    return one_page({.content = fmt::format("[{0} {0}] 0 d 1 w 0 0 m 600 700 l S", full ? "0.00001" : "0.1")});
  });

  const std::string sound = pdf_of_pages({{.content = text_content("one")}, {.content = text_content("two")}});
  for (int i = 1; i <= 50; ++i) {
    const std::size_t size = sound.size() * static_cast<std::size_t>(i) / 51;
    add(fmt::format("truncated-{:02}.pdf", i), [sound, size] { return sound.substr(0, size); });
  }
  for (unsigned seed = 0; seed < (full ? 40U : 8U); ++seed) {
    add(fmt::format("random-{}.pdf", seed), [seed] { return "%PDF-1.7\n" + random_bytes(100'000, seed); });
    add(fmt::format("mutated-{}.pdf", seed), [sound, seed] {
      std::mt19937 random(seed);
      std::string changed = sound;
      for (int i = 0; i < 12; ++i) changed[random() % changed.size()] = static_cast<char>(random());
      return changed;
    });
  }
  add("random-bytes", [] { return random_bytes(1'000'000, 77); });
  add("zeros", [] { return std::string(1'000'000, '\0'); });
  add("one-byte", [] { return std::string("x"); });

  add("huge-40000.png", [] { return huge_png(40'000); });
  add("huge-2147483647.png", [] { return huge_png(0x7FFFFFFF); });
  add("directory-loop.tif", tiff_directory_loop);
  add("huge.bmp", huge_bmp);
  add("garbage.jpg", [] { return "\xFF\xD8\xFF\xE0" + random_bytes(100'000, 9); });
  add("garbage.webp", [] { return "RIFF\xFF\xFF\xFF\x7FWEBPVP8 " + random_bytes(100'000, 10); });
  return files;
}

}  // namespace lectern::document
