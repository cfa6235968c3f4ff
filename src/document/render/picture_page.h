// How large, in points, is the page that a picture file shows? Pure.
#pragma once

#include "document/render/picture_place.h"
#include "image/decode.h"

namespace lectern::document {

// The resolution in the file is believed when it makes a page that people print on. Cameras and editors write 72 or 96
// dpi into pictures of any size; such a page would be metres wide, so the picture is taken as filling an A4 sheet. So
// are pictures that say nothing; but never at less than 72 dpi, so that an icon stays small.
PicturePlace place_on_page(const image::FrameInfo& frame);

}  // namespace lectern::document
