#include "document/render/font_style.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace lectern::document {
namespace {

constexpr int flag_fixed_pitch = 1 << 0;
constexpr int flag_serif = 1 << 1;
constexpr int flag_italic = 1 << 6;
constexpr int flag_force_bold = 1 << 18;

std::string_view without_subset_prefix(std::string_view name) {
  if (name.size() > 7 && name[6] == '+' &&
      std::ranges::all_of(name.substr(0, 6), [](unsigned char c) { return std::isupper(c) != 0; })) {
    name.remove_prefix(7);
  }
  return name;
}

template <std::size_t N>
bool has_any(std::string_view lower, const std::array<std::string_view, N>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return lower.contains(word); });
}

// TeX's own names end in a design size ("CMBX10") and say their style in the letters before it.
constexpr std::array<std::string_view, 12> bold_words{"bold", "black", "heavy", "demi", "cmbx",    "cmb1",
                                                      "sfbx", "ecbx",  "ultra", "fett", "negreta", "cmssbx"};
constexpr std::array<std::string_view, 7> not_bold_words{"regular", "light",  "roman", "book",
                                                         "thin",    "normal", "medium"};
constexpr std::array<std::string_view, 10> italic_words{"italic", "oblique", "slanted", "kursiv", "cmti",
                                                        "cmmi",   "sfti",    "ecti",    "cmsl",   "cmbxti"};
constexpr std::array<std::string_view, 10> mono_words{"courier", "mono", "consol", "menlo", "typewriter",
                                                      "cmtt",    "sftt", "ectt",   "fixed", "lettergothic"};
constexpr std::array<std::string_view, 9> serif_words{"times",   "serif",  "georgia", "garamond", "palatino",
                                                      "cambria", "minion", "cmr",     "bookman"};

bool ends_as_bold(std::string_view name) {
  // Nimbus calls its bold "Medi"; condensed names end in "-B", "-Bd", "-BdIt" or "-BI".
  for (const std::string_view end : {"-Medi", "-MediItal", "-B", "-Bd", "-BdIt", "-BI", ",Bold", "-SemiB", "-Semibd"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

bool ends_as_italic(std::string_view name) {
  for (const std::string_view end : {"-It", "-BdIt", "-BI", "-I", "Ital", "-ReguItal"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

}  // namespace

Font judge_font(const FontEvidence& evidence) {
  Font font;
  const std::string_view name = without_subset_prefix(evidence.base_name);
  font.name = std::string(name);
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });

  const bool named_bold = has_any(lower, bold_words) || ends_as_bold(name);
  const bool named_regular = has_any(lower, not_bold_words);
  // The stem width alone convicts only where the name is silent: many producers write nonsense there.
  font.bold = named_bold || evidence.stroked_outline || (evidence.descriptor_flags & flag_force_bold) != 0 ||
              (!named_regular && evidence.weight >= 700 && evidence.weight <= 900);
  font.italic = has_any(lower, italic_words) || ends_as_italic(name) ||
                (evidence.descriptor_flags & flag_italic) != 0 ||
                (evidence.italic_angle != 0 && evidence.italic_angle > -45 && evidence.italic_angle < 45);
  font.monospace = has_any(lower, mono_words) || (evidence.descriptor_flags & flag_fixed_pitch) != 0;
  font.serif =
      !lower.contains("sans") && (has_any(lower, serif_words) || (evidence.descriptor_flags & flag_serif) != 0);
  return font;
}

}  // namespace lectern::document
