#include "document/render/sniff.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace lectern::document {
namespace {

using namespace std::string_literals;

Sniffed sniff_text(const std::string& text) {
  return sniff({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

TEST(Sniff, KnowsWhatWeRead) {
  struct Case {
    std::string bytes;
    DocumentKind kind;
  };
  const Case cases[] = {
      {"%PDF-1.7\n", DocumentKind::pdf},
      {"junk from a mail gateway\r\n\r\n%PDF-1.4\n", DocumentKind::pdf},
      {std::string(1000, '\0') + "%PDF-1.4", DocumentKind::pdf},
      {"\xFF\xD8\xFF\xE0", DocumentKind::jpeg},
      {"\x89PNG\r\n\x1A\n", DocumentKind::png},
      {"II*\0abcd"s, DocumentKind::tiff},
      {"MM\0*abcd"s, DocumentKind::tiff},
      {"MM\0+abcd"s, DocumentKind::tiff},
      {"RIFF\x10\0\0\0WEBPVP8 "s, DocumentKind::webp},
      {"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0"s, DocumentKind::bmp},
  };
  for (const Case& c : cases) EXPECT_EQ(sniff_text(c.bytes).kind, c.kind) << c.bytes;
}

TEST(Sniff, SaysWhatElseItIs) {
  struct Case {
    std::string bytes;
    std::string_view words;
  };
  const Case cases[] = {
      {"", "empty"},
      {"PK\x03\x04"s, "Word"},
      {"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "old Office"},
      {"{\\rtf1", "RTF"},
      {"\n<!DOCTYPE html><html>", "HTML"},
      {"<?xml version=\"1.0\"?><svg xmlns=\"x\">", "SVG"},
      {"GIF89a", "GIF"},
      {"%!PS-Adobe-3.0", "PostScript"},
      {"\0\0\0\x0CjP  \r\n\x87\n"s, "JPEG 2000"},
      {"\0\0\0\x18"
       "ftypheic"s,
       "HEIC"},
      {"BMW makes cars, and this is plain text about them, long enough to tell.", "plain text"},
      {"RIFF\x10\0\0\0WAVEfmt "s, "sound"},
      {"hello", "plain text"},
      {"\x89PNG\n\x1A\n\0\0\0\rIHDR"s, "damaged in transfer"},
      {"1 0 obj\n<< >>\nendobj\n", "PDF whose beginning is missing"},
      {"\x01\x02\x03\x04", "unknown kind"},
      {"Received: from mail", "mail"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.bytes);
    const Sniffed sniffed = sniff_text(c.bytes);
    EXPECT_FALSE(sniffed.kind.has_value());
    EXPECT_NE(sniffed.looks_like.find(c.words), std::string_view::npos) << sniffed.looks_like;
  }
}

TEST(Sniff, LooksForThePdfHeaderInTheFirstKilobyteOnly) {
  EXPECT_FALSE(sniff_text(std::string(2000, 'x') + "%PDF-1.4").kind.has_value());
}

TEST(Sniff, AnyBytesGetAnAnswer) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 64, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    EXPECT_FALSE(sniff_text(bytes).looks_like.empty());
  }
}

}  // namespace
}  // namespace lectern::document
