// Which way text runs, at a glance: no OCR engine, a few milliseconds a page. For pages that only a model will read;
// where it is not sure, orientation.h reads a few lines to find out.
#pragma once

#include <cstdint>

#include "image/image.h"

namespace lectern::vision {

enum class Hunch : std::uint8_t { no, yes, unsure };

struct QuickOrientation {
  Hunch sideways = Hunch::unsure;     // lines run up or down
  Hunch upside_down = Hunch::unsure;  // asked only of lines that run across
  // Said only when both are sure: a page that is not upright must practically never pass for one that is.
  bool surely_upright() const { return sideways == Hunch::no && upside_down == Hunch::no; }
  bool operator==(const QuickOrientation&) const = default;
};

QuickOrientation quick_orientation(const image::Image& gray);

}  // namespace lectern::vision
