// The name of a picture's content: the same pixels give the same hash on every machine.
#pragma once

#include <string>

#include "image/image.h"

namespace lectern::image {

// SHA-256 over size, format and pixels, in hex. The dpi does not count: it changes no pixel.
std::string content_hash(const Image& image);

}  // namespace lectern::image
