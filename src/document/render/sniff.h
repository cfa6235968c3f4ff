// What kind of file do these bytes look like? Pure; reads nothing but the bytes it is given.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "document/page_content.h"

namespace lectern::document {

struct Sniffed {
  std::optional<DocumentKind> kind;  // unset when we cannot read such files
  std::string_view looks_like;       // for people: "a PDF", "a ZIP archive (Word, Excel, EPUB…)"; a static string
  std::string_view advice;           // what to do about it, may be empty; a static string
};

// The first few kilobytes are enough; fewer bytes than a signature needs never match it.
Sniffed sniff(std::span<const std::uint8_t> beginning);

}  // namespace lectern::document
