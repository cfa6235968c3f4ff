// The dictionary of a PDF stream, read from the text before it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "document/render/fax_tiff.h"
#include "document/render/stream_dictionary.h"
#include "image/decode.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lectern::document;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const PictureDictionary picture = read_picture_dictionary(text);
  if (picture.inverted && picture.odd_decode) std::abort();
  const auto found = dictionary_before(text, size);
  if (found && (found->data() < text.data() || found->data() + found->size() > text.data() + size)) std::abort();
  if (const auto at = find_stream({data, size}, {data + size / 2, size - size / 2}, size / 3); at && *at > size)
    std::abort();

  // The same bytes as a fax in the TIFF that we put around it.
  const auto tiff = fax_tiff({.width_px = 64, .height_px = 16, .data = {data, size}});
  const auto frames = lectern::image::probe(lectern::image::FileFormat::tiff, tiff);
  if (!frames || frames->front().width_px != 64) std::abort();  // our own file must be sound
  const auto image = lectern::image::decode(lectern::image::FileFormat::tiff, tiff, frames->front(), {});
  if (image && image->width_px != 64) std::abort();
  return 0;
}
