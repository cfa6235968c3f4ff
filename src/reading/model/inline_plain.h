// Inline markdown as models write it → plain text, and the inline markdown that output/ reads.
#pragma once

#include <string>
#include <string_view>

namespace lectern::reading {

struct InlineText {
  std::string text;      // without marks, tags and targets of links; every word is there
  std::string markdown;  // the same with *, **, ~~, <sup>, <sub> and links; line breaks as '\n'
};

// Knows emphasis (also with _), code, links, pictures (their description stays), escapes, entities, and the inline tags
// of HTML.
InlineText inline_text_of(std::string_view markdown);

}  // namespace lectern::reading
