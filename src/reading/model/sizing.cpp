#include "reading/model/sizing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace lectern::reading {
namespace {

constexpr double points_per_inch = 72;
constexpr double x_height_px_min = 7;  // below it, models begin to guess letters
constexpr double growth_max = 1.5;     // of the generic longest side, for small print
constexpr double ratio_max = 200;      // of the sides, by the rule of the Qwen family
constexpr int pixtral_side = 1024;
constexpr int pixtral_patch = 16;
constexpr int deepseek_tile = 640;
constexpr int deepseek_tiles_max = 6;  // llama.cpp allows 9, which only concerns very long pages

struct Budget {
  std::int64_t least = 0;
  std::int64_t most = 0;  // 0 = no limit
};

constexpr std::int64_t square(std::int64_t side) {
  return side * side;
}

Budget family_budget(ModelFamily family) {
  switch (family) {
    case ModelFamily::qwen25_vl:
      return {.least = 4 * square(28), .most = 16384 * square(28)};
    case ModelFamily::qwen3_vl:
      return {.least = 64 * square(32), .most = 16384 * square(32)};
    case ModelFamily::generic:
    case ModelFamily::pixtral:
    case ModelFamily::deepseek_ocr:
      return {};
  }
  return {};
}

Budget class_budget(SizeClass size_class) {
  switch (size_class) {
    case SizeClass::general:
      return {.least = square(256), .most = square(768)};
    case SizeClass::text:
      return {.least = square(512), .most = square(1024)};
    case SizeClass::diagram:
      return {.least = square(768), .most = square(1536)};
  }
  return {};
}

// What the user says counts more than the class, and the class more than the family.
Budget budget_of(const SizePolicy& policy, SizeClass size_class) {
  Budget budget = policy.by_class ? class_budget(size_class) : family_budget(policy.family);
  if (policy.pixels_min > 0) budget.least = policy.pixels_min;
  if (policy.pixels_max > 0) budget.most = policy.pixels_max;
  if (budget.most > 0) budget.least = std::min(budget.least, budget.most);
  return budget;
}

int factor_of(const SizePolicy& policy) {
  switch (policy.family) {
    case ModelFamily::generic:
      return std::max(1, policy.factor);
    case ModelFamily::qwen25_vl:
      return 28;
    case ModelFamily::qwen3_vl:
      return 32;
    case ModelFamily::pixtral:
      return pixtral_patch;
    case ModelFamily::deepseek_ocr:
      return 1;
  }
  return 1;
}

// Ties go to the even neighbour, as Python's round does: the published rules are written in it.
double round_even(double value) {
  const double below = std::floor(value);
  const double rest = value - below;
  if (rest < 0.5 || (rest == 0.5 && std::fmod(below, 2) == 0)) return below;
  return below + 1;
}

int nearest_multiple(double value, int factor) {
  return static_cast<int>(std::max(1.0, round_even(value / factor))) * factor;
}

int multiple_above(double value, int factor) {
  return static_cast<int>(std::max(1.0, std::ceil(value / factor))) * factor;
}

struct Grid {
  int columns = 1;
  int rows = 1;
};

// The tiles of DeepSeek-OCR's Gundam mode; one tile stands for "none beside the global view".
Grid deepseek_grid(SizePx size) {
  if (size.width <= deepseek_tile && size.height <= deepseek_tile) return {};
  const double aspect = static_cast<double>(size.width) / size.height;
  Grid best;
  double best_off = std::numeric_limits<double>::infinity();
  for (int area = 2; area <= deepseek_tiles_max; ++area) {
    for (int columns = 1; columns <= area; ++columns) {
      if (area % columns != 0) continue;
      const int rows = area / columns;
      const double off = std::abs(aspect - static_cast<double>(columns) / rows);
      const bool fills = size.pixels() * 2 > square(deepseek_tile) * area;
      if (off < best_off || (off == best_off && fills)) {
        best = {columns, rows};
        best_off = off;
      }
    }
  }
  return best;
}

// Pixels per point that the policy would like, before what the page holds counts.
double wanted_scale(const PageShape& page, const SizePolicy& policy, const Budget& budget) {
  const double width = page.size.width;
  const double height = page.size.height;
  const double longest = std::max(width, height);
  const double readable = page.text_height_pt > 0 ? x_height_px_min / page.text_height_pt : 0;
  const double by_area =
      budget.most > 0 ? std::sqrt(static_cast<double>(budget.most) / (width * height)) : growth_max * 1e6;
  const bool by_side = policy.family == ModelFamily::generic && !policy.by_class;
  if (by_side) {
    const double scale = policy.side_max / longest;
    // The longest side is a promise; only who also gives a number of pixels allows more for small print.
    if (policy.pixels_max == 0 || readable <= scale) return scale;
    return std::max(scale, std::min({readable, growth_max * scale, by_area}));
  }
  switch (policy.family) {
    case ModelFamily::pixtral:
      return std::min(pixtral_side / longest, by_area);
    case ModelFamily::deepseek_ocr: {
      // As large as the tiles that the model will look at, so that none of them is blown up.
      constexpr double any_large = 4096;
      const double stretch = any_large / std::min(width, height);
      const Grid grid = deepseek_grid({static_cast<int>(std::min(1e9, std::round(width * stretch))),
                                       static_cast<int>(std::min(1e9, std::round(height * stretch)))});
      const double cover = std::max(grid.columns * deepseek_tile / width, grid.rows * deepseek_tile / height);
      // A strip that is longer than any grid would be huge if it had to cover its tiles.
      const double tiles = 1.2 * static_cast<double>(square(deepseek_tile) * grid.columns * grid.rows);
      return std::min({cover, std::sqrt(tiles / (width * height)), by_area});
    }
    case ModelFamily::generic:
    case ModelFamily::qwen25_vl:
    case ModelFamily::qwen3_vl:
      break;
  }
  const double natural = (page.size_class == SizeClass::diagram ? 200 : 144) / points_per_inch;
  return std::max(natural, readable);
}

SizePx in_steps(double width, double height, int factor) {
  return {nearest_multiple(width, factor), nearest_multiple(height, factor)};
}

}  // namespace

std::optional<SizePx> smart_resize(SizePx original, int factor, std::int64_t pixels_min, std::int64_t pixels_max) {
  const double width = std::max(1, original.width);
  const double height = std::max(1, original.height);
  if (std::max(width, height) / std::min(width, height) > ratio_max) return std::nullopt;
  const SizePx rounded = in_steps(width, height, factor);
  if (pixels_max > 0 && rounded.pixels() > pixels_max) {
    const double beta = std::sqrt(width * height / static_cast<double>(pixels_max));
    const auto shrunk = [&](double side) {
      return static_cast<int>(std::max(1.0, std::floor(side / beta / factor))) * factor;
    };
    return SizePx{shrunk(width), shrunk(height)};
  }
  if (rounded.pixels() < pixels_min) {
    const double beta = std::sqrt(static_cast<double>(pixels_min) / (width * height));
    return SizePx{multiple_above(width * beta, factor), multiple_above(height * beta, factor)};
  }
  return rounded;
}

SizePx target_size(const PageShape& page, const SizePolicy& policy) {
  PageShape shape = page;
  shape.size.width = std::clamp(shape.size.width, 1.0F, 1e6F);
  shape.size.height = std::clamp(shape.size.height, 1.0F, 1e6F);
  // Nothing is legible on a thread; a strip well inside the allowed shapes stands for it.
  const float longest = std::max(shape.size.width, shape.size.height);
  const auto thin = static_cast<float>(longest / (ratio_max / 2));
  shape.size.width = std::max(shape.size.width, thin);
  shape.size.height = std::max(shape.size.height, thin);

  const Budget budget = budget_of(policy, shape.size_class);
  const int factor = factor_of(policy);
  double scale = wanted_scale(shape, policy, budget);
  const double held = shape.dpi_stored / points_per_inch;
  const bool all_held = held > 0 && held <= scale;
  if (all_held) scale = held;
  double width = shape.size.width * scale;
  double height = shape.size.height * scale;
  if (all_held) {  // the pixels of the picture itself, which are whole
    width = std::max(1.0, std::round(width));
    height = std::max(1.0, std::round(height));
  }
  switch (policy.family) {
    case ModelFamily::pixtral:
      return {multiple_above(std::max(1.0, round_even(width)), factor),
              multiple_above(std::max(1.0, round_even(height)), factor)};
    case ModelFamily::generic:
      if (budget.most == 0 && budget.least == 0) return in_steps(width, height, factor);
      break;
    case ModelFamily::deepseek_ocr:
      break;
    case ModelFamily::qwen25_vl:
    case ModelFamily::qwen3_vl:
      break;
  }
  const SizePx original{static_cast<int>(std::max(1.0, std::round(width))),
                        static_cast<int>(std::max(1.0, std::round(height)))};
  return smart_resize(original, factor, budget.least, budget.most).value_or(in_steps(width, height, factor));
}

int image_tokens(SizePx size, ModelFamily family) {
  switch (family) {
    case ModelFamily::generic:  // a guess: most models come close to one token for 28 x 28
    case ModelFamily::qwen25_vl:
    case ModelFamily::qwen3_vl: {
      const ModelFamily rule = family == ModelFamily::generic ? ModelFamily::qwen25_vl : family;
      const int factor = rule == ModelFamily::qwen3_vl ? 32 : 28;
      const Budget budget = family_budget(rule);
      const SizePx seen = smart_resize(size, factor, budget.least, budget.most).value_or(SizePx{factor, factor});
      return static_cast<int>(seen.pixels() / square(factor));
    }
    case ModelFamily::pixtral: {
      const double shrink = std::max(
          {1.0, static_cast<double>(size.width) / pixtral_side, static_cast<double>(size.height) / pixtral_side});
      const int columns = multiple_above(round_even(size.width / shrink), pixtral_patch) / pixtral_patch;
      const int rows = multiple_above(round_even(size.height / shrink), pixtral_patch) / pixtral_patch;
      return (columns + 1) * rows;
    }
    case ModelFamily::deepseek_ocr: {
      constexpr int global_side = 16;  // ceil((1024 / 16) / 4) tokens, and a newline for each row
      constexpr int tile_side = 10;
      constexpr int global = global_side * (global_side + 1) + 1;
      const Grid grid = deepseek_grid(size);
      if (grid.columns * grid.rows == 1) return global;
      return global + tile_side * grid.rows * (tile_side * grid.columns + 1);
    }
  }
  return 0;
}

std::optional<SizePx> smaller(SizePx size, const SizePolicy& policy) {
  if (policy.family == ModelFamily::deepseek_ocr) {
    // Its cost hangs on the tiles alone, and these only go when both sides fit into one.
    const double shrink = static_cast<double>(deepseek_tile) / std::max(size.width, size.height);
    if (shrink >= 1) return std::nullopt;
    return SizePx{std::max(1, static_cast<int>(size.width * shrink)),
                  std::max(1, static_cast<int>(size.height * shrink))};
  }
  constexpr std::int64_t pixels_least = 256 * 256;  // smaller than that, no page can be read
  const int factor = factor_of(policy);
  const double shrink = std::sqrt(0.5);
  const auto side = [&](int from) {
    return std::max(1, static_cast<int>(std::round(from * shrink / factor))) * factor;
  };
  const SizePx next{side(size.width), side(size.height)};
  if (next.pixels() >= size.pixels() || next.pixels() < std::max(pixels_least, policy.pixels_min)) return std::nullopt;
  return next;
}

}  // namespace lectern::reading
