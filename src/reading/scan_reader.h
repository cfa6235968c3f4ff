// Reading pixels: which way is up, how crooked, what it says. The CPU half of the builtin reader; runs on the CPU pool.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/geometry.h"
#include "image/image.h"
#include "reading/page_result.h"
#include "vision/ocr.h"

namespace lectern::reading {

struct ScanReadOptions {
  bool auto_rotate = true;
  SizePt page_size;  // of the picture before any turn
  float px_per_pt = 1;
};

struct ScanReading {
  std::vector<Block> blocks;  // boxes on the upright page
  int rotation = 0;           // clockwise turn that made it upright
  float skew_deg = 0;         // the small turn that was applied after it
  SizePt page_size;           // of the upright page
  double confidence = 0;      // 0..1; 0 when nothing was read
  int words = 0;
};

Result<ScanReading> read_scan(image::Image picture, const ScanReadOptions& options, vision::OcrEngine& engine);

}  // namespace lectern::reading
