// Which way is up, and how crooked is the scan.
#pragma once

#include "base/error.h"
#include "image/image.h"
#include "vision/ocr.h"

namespace lectern::vision {

struct Orientation {
  int clockwise_degrees = 0;  // the turn that makes the picture upright: 0, 90, 180 or 270
  float confidence = 0;       // 0..1; under 0.5 means "cannot tell", and clockwise_degrees is then 0
  bool operator==(const Orientation&) const = default;
};

// Decides from the content of a page image. `engine` is used for short trial reads when the cheap evidence is not
// decisive. Photos without text give {0, low confidence}.
Result<Orientation> find_orientation(const image::Image& image, OcrEngine& engine);

// The small rotation (degrees, clockwise, within ±15) that makes text lines horizontal; 0 when there is no evidence.
float find_skew(const image::Image& image);

// Horizontal and vertical rulings in a scan, in pixels: what table lines are made of.
struct Rulings {
  std::vector<BoxPx> horizontal;
  std::vector<BoxPx> vertical;
};
Rulings find_rulings(const image::Image& gray);

}  // namespace lectern::vision
