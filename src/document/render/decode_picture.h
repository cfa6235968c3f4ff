// A stored picture file → what a request wants of it, in whichever of the decoder's forms costs least.
#pragma once

#include <cstdint>
#include <span>

#include "document/render/picture_place.h"
#include "document/render_request.h"
#include "image/decode.h"

namespace lectern::document {

struct StoredPicture {
  image::FileFormat format = image::FileFormat::jpeg;
  std::span<const std::uint8_t> bytes;
  image::FrameInfo frame;
  bool inverted = false;  // dark is light
};

// For place_picture(). What it borrows must outlive what it returns.
DecodePicture decoder_of(const StoredPicture& stored, const RenderRequest& request, std::int64_t pixels_max);

}  // namespace lectern::document
