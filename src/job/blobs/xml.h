// The little of XML that S3 answers are made of: elements and text. Strict: what is not well-formed, or is of the rest
// of XML (document types, comments, CDATA, entities of one's own), is an error and never a guess.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace lectern::job {

struct XmlElement {
  std::string name;
  std::string text;  // its own, with references resolved; not that of its children
  std::vector<XmlElement> children;

  const XmlElement* child(std::string_view wanted) const;  // the first; null = none
  // The text of the first such child; empty = none.
  std::string_view text_of(std::string_view wanted) const;
};

// The root element. Errors: corrupt.
Result<XmlElement> parse_xml(std::string_view xml);

// For text inside of an element.
std::string xml_escape(std::string_view text);

}  // namespace lectern::job
