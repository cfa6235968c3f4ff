#include "document/render/sniff.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace lectern::document {
namespace {

using namespace std::string_view_literals;

// Readers look for the header in the first kilobyte: mail gateways and web servers put junk before it.
constexpr std::size_t pdf_header_within = 1024;

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  Sniffed verdict;
};

constexpr std::string_view save_as_pdf = "save it as a PDF and read that";
constexpr std::string_view save_as_png = "save it as a PNG or JPEG and read that";

constexpr auto zip =
    Sniffed{.looks_like = "a ZIP archive (Word, Excel, PowerPoint, EPUB, OpenDocument…)", .advice = save_as_pdf};
constexpr auto heic = Sniffed{.looks_like = "an HEIC or AVIF photo", .advice = save_as_png};
constexpr auto video = Sniffed{.looks_like = "a video or sound file"};
constexpr auto utf16 = Sniffed{.looks_like = "plain text in UTF-16", .advice = "it needs no reading"};

constexpr std::array signatures{
    Signature{0, "\xFF\xD8\xFF"sv, {DocumentKind::jpeg, "a JPEG picture", ""}},
    Signature{0, "\x89PNG\r\n\x1A\n"sv, {DocumentKind::png, "a PNG picture", ""}},
    Signature{0, "II*\0"sv, {DocumentKind::tiff, "a TIFF picture", ""}},
    Signature{0, "MM\0*"sv, {DocumentKind::tiff, "a TIFF picture", ""}},
    Signature{0, "II+\0"sv, {DocumentKind::tiff, "a BigTIFF picture", ""}},
    Signature{0, "MM\0+"sv, {DocumentKind::tiff, "a BigTIFF picture", ""}},
    Signature{8, "WEBP"sv, {DocumentKind::webp, "a WebP picture", ""}},
    Signature{0, "BM"sv, {DocumentKind::bmp, "a BMP picture", ""}},
    Signature{0, "GIF87a"sv, {{}, "a GIF picture", save_as_png}},
    Signature{0, "GIF89a"sv, {{}, "a GIF picture", save_as_png}},
    Signature{0, "PK\x03\x04"sv, zip},
    Signature{0, "PK\x05\x06"sv, zip},
    Signature{0,
              "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv,
              {{}, "an old Office file (Word, Excel or PowerPoint 97–2003)", save_as_pdf}},
    Signature{0, "{\\rtf"sv, {{}, "a rich text (RTF) file", save_as_pdf}},
    Signature{0, "%!PS"sv, {{}, "a PostScript file", "turn it into a PDF (ps2pdf) and read that"}},
    Signature{
        0, "\xC5\xD0\xD3\xC6"sv, {{}, "an Encapsulated PostScript file", "turn it into a PDF (ps2pdf) and read that"}},
    Signature{0, "AT&TFORM"sv, {{}, "a DjVu document", "turn it into a PDF (ddjvu -format=pdf) and read that"}},
    Signature{0, "\0\0\0\x0CjP  \r\n\x87\n"sv, {{}, "a JPEG 2000 picture", save_as_png}},
    Signature{0, "\xFF\x4F\xFF\x51"sv, {{}, "a JPEG 2000 picture", save_as_png}},
    Signature{0, "\xFF\x0A"sv, {{}, "a JPEG XL picture", save_as_png}},
    Signature{4, "ftypheic"sv, heic},
    Signature{4, "ftypheix"sv, heic},
    Signature{4, "ftyphevc"sv, heic},
    Signature{4, "ftypmif1"sv, heic},
    Signature{4, "ftypmsf1"sv, heic},
    Signature{4, "ftypavif"sv, heic},
    Signature{4, "ftyp"sv, video},
    Signature{0, "\x1A\x45\xDF\xA3"sv, video},
    Signature{0, "ID3"sv, video},
    Signature{0, "OggS"sv, video},
    Signature{0, "RIFF"sv, video},
    Signature{0, "8BPS"sv, {{}, "a Photoshop picture", save_as_png}},
    Signature{0, "\x1F\x8B"sv, {{}, "a gzip archive", "unpack it first"}},
    Signature{0, "BZh"sv, {{}, "a bzip2 archive", "unpack it first"}},
    Signature{0,
              "\xFD"
              "7zXZ\0"sv,
              {{}, "an xz archive", "unpack it first"}},
    Signature{0, "\x28\xB5\x2F\xFD"sv, {{}, "a Zstandard archive", "unpack it first"}},
    Signature{0, "7z\xBC\xAF\x27\x1C"sv, {{}, "a 7-Zip archive", "unpack it first"}},
    Signature{0, "Rar!\x1A\x07"sv, {{}, "a RAR archive", "unpack it first"}},
    Signature{257, "ustar"sv, {{}, "a tar archive", "unpack it first"}},
    Signature{0,
              "\x7F"
              "ELF"sv,
              {{}, "a program", ""}},
    Signature{0, "MZ"sv, {{}, "a Windows program", ""}},
    Signature{0, "SQLite format 3\0"sv, {{}, "an SQLite database", ""}},
    Signature{0, "\xFF\xFE"sv, utf16},
    Signature{0, "\xFE\xFF"sv, utf16},
};

bool is_text(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](unsigned char c) {
    return c >= 0x20 || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0x1B;
  });
}

// Markup and mail start with words, after blanks and perhaps a byte order mark.
Sniffed sniff_text(std::string_view bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  while (!bytes.empty() && std::isspace(static_cast<unsigned char>(bytes.front())) != 0) bytes.remove_prefix(1);
  std::string lower(bytes.substr(0, 1024));
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view print_to_pdf = "print it to a PDF and read that";
  if (lower.starts_with("<!doctype html") || lower.starts_with("<html") || lower.contains("<html")) {
    return {.looks_like = "a web page (HTML)", .advice = print_to_pdf};
  }
  if (lower.starts_with("<svg") || (lower.starts_with("<?xml") && lower.contains("<svg"))) {
    return {.looks_like = "an SVG drawing", .advice = "turn it into a PDF or PNG and read that"};
  }
  if (lower.starts_with("<?xml")) return {.looks_like = "an XML file", .advice = ""};
  if (lower.starts_with("from ") || lower.starts_with("received:") || lower.starts_with("mime-version:") ||
      lower.starts_with("return-path:")) {
    return {.looks_like = "a mail message", .advice = "save its attachments and read those"};
  }
  if (lower.starts_with("{") || lower.starts_with("[")) return {.looks_like = "a JSON file", .advice = ""};
  return {.looks_like = "plain text", .advice = "it needs no reading"};
}

}  // namespace

Sniffed sniff(std::span<const std::uint8_t> beginning) {
  if (beginning.empty()) return {.looks_like = "an empty file", .advice = ""};
  const std::string_view bytes(reinterpret_cast<const char*>(beginning.data()), beginning.size());
  if (bytes.starts_with("%PDF-")) return {DocumentKind::pdf, "a PDF", ""};
  for (const Signature& s : signatures) {
    if (bytes.size() >= s.offset && bytes.substr(s.offset).starts_with(s.bytes)) {
      // Two letters alone are thin evidence: "BM" also begins words, and "RIFF" has other children than WebP.
      if (s.verdict.kind == DocumentKind::bmp && is_text(bytes.substr(0, 64))) continue;
      if (s.verdict.kind == DocumentKind::webp && !bytes.starts_with("RIFF")) continue;
      if (!s.verdict.kind && bytes.substr(0, pdf_header_within).contains("%PDF-")) break;
      return s.verdict;
    }
  }
  if (bytes.substr(0, pdf_header_within).contains("%PDF-")) return {DocumentKind::pdf, "a PDF", ""};
  // A transfer that meddles with line ends or the eighth bit spoils PNG's signature, which was made to show just that.
  if (bytes.substr(0, 32).contains("IHDR")) {
    return {.looks_like = "a PNG picture that was damaged in transfer", .advice = "send it again as binary"};
  }
  if (bytes.contains("endobj") || bytes.contains("startxref")) {
    return {.looks_like = "a PDF whose beginning is missing", .advice = "get a whole copy of it"};
  }
  if (is_text(bytes.substr(0, 4096))) return sniff_text(bytes);
  return {.looks_like = "a file of unknown kind", .advice = ""};
}

}  // namespace lectern::document
