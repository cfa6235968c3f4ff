// How large a page goes to a model. Pure arithmetic: page and policy in, pixels out.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/geometry.h"

namespace lectern::reading {

struct SizePx {
  int width = 0;
  int height = 0;
  std::int64_t pixels() const { return std::int64_t{width} * height; }
  bool operator==(const SizePx&) const = default;
};

// Whose rules the picture must fit.
enum class ModelFamily : std::uint8_t {
  generic,      // multiples of the factor, longest side limited
  qwen25_vl,    // factor 28, pixel budget
  qwen3_vl,     // factor 32, pixel budget
  pixtral,      // longest side 1024, patches of 16
  deepseek_ocr  // tiles of 640 beside a view of 1024
};
std::string_view to_string(ModelFamily family);
std::optional<ModelFamily> family_from_name(std::string_view name);  // "auto" is no family
// From what a server calls its model ("Qwen/Qwen2.5-VL-7B-Instruct-AWQ"); generic when it says nothing.
ModelFamily family_of_model(std::string_view model);

// What is on the page, as far as its size matters.
enum class SizeClass : std::uint8_t { general, text, diagram };

struct SizePolicy {
  ModelFamily family = ModelFamily::generic;
  int factor = 32;              // generic: sides are multiples of it (VLM_RESIZE_FACTOR)
  int side_max = 1024;          // generic: longest side; small print gets up to half more where pixels_max allows it
  std::int64_t pixels_min = 0;  // 0 = the family's own
  std::int64_t pixels_max = 0;  // 0 = the family's own
  bool by_class = false;        // use the pixel budgets of the page's class
  bool operator==(const SizePolicy&) const = default;
};

struct PageShape {
  SizePt size;               // upright
  float dpi_stored = 0;      // a scan holds no more detail than this; 0 = drawn at any size
  float text_height_pt = 0;  // x-height of the smallest body text; 0 = unknown
  SizeClass size_class = SizeClass::general;
};

// The pixels to render. Never so small that the smallest body text falls under a readable height, where the policy's
// budget allows; never larger than what the page holds, except to reach the policy's least.
SizePx target_size(const PageShape& page, const SizePolicy& policy);

// The published rule of the Qwen family: sides to the nearest multiple of the factor (ties to even), area into the
// budget. nullopt: one side is more than 200 times the other.
std::optional<SizePx> smart_resize(SizePx original, int factor, std::int64_t pixels_min, std::int64_t pixels_max);

// How many prompt tokens a picture of this size costs with the family.
int image_tokens(SizePx size, ModelFamily family);

// The next smaller size of a ladder for engines that say "too long" or "out of memory"; nullopt at the bottom.
std::optional<SizePx> smaller(SizePx size, const SizePolicy& policy);

}  // namespace lectern::reading
