// Turning, flipping and cutting pictures. Pure functions: the input is never changed.
#pragma once

#include "image/image.h"

namespace lectern::image {

// How a stored picture must be turned to stand upright: first mirrored left-right if `mirror`, then turned clockwise.
struct Turn {
  int clockwise_degrees = 0;  // 0, 90, 180 or 270
  bool mirror = false;
  bool none() const { return clockwise_degrees == 0 && !mirror; }
  bool swaps_sides() const { return clockwise_degrees == 90 || clockwise_degrees == 270; }
  bool operator==(const Turn&) const = default;
};

// `clockwise_degrees` must be a multiple of 90; negative values and values past 270 wrap around.
Image rotate_quarter(const Image& image, int clockwise_degrees);
Image mirror_left_right(const Image& image);
Image turned(Image image, Turn turn);

struct RectPx {
  int x0 = 0;
  int y0 = 0;
  int x1 = 0;  // exclusive
  int y1 = 0;
  bool operator==(const RectPx&) const = default;
};
// The part of `area` that lies inside the picture; empty when nothing does.
Image crop(const Image& image, RectPx area);

// Turned clockwise by a small angle about its centre, same size, corners filled white: the mending of a crooked scan.
// Bilinear, which is enough for angles of a few degrees and keeps strokes of text sharp.
Image rotate_small(const Image& image, float clockwise_degrees);

Image to_gray(const Image& image);  // ITU-R 601 luma, as Pillow's convert("L"); gray pictures are copied
Image to_rgb(const Image& image);

}  // namespace lectern::image
