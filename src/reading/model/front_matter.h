// The front matter that olmOCR and its relatives put before a page.
#pragma once

#include <optional>
#include <string_view>

namespace lectern::reading {

struct FrontMatter {
  std::optional<int> rotation;  // clockwise: 0 when the page stands as it should
  bool diagram = false;
};

// What the lines "key: value" say.
FrontMatter read_front_matter(std::string_view lines);

// Splits it off, when it is one: "---" lines around keys that we know (a page may begin with a rule of its own), also
// without the closing line. nullopt: there is none.
struct FrontMatterSplit {
  FrontMatter told;
  std::string_view text;  // what follows
};
std::optional<FrontMatterSplit> split_front_matter(std::string_view reply);

}  // namespace lectern::reading
