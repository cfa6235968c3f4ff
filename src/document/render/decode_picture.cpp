#include "document/render/decode_picture.h"

namespace lectern::document {
namespace {

void invert(image::Image& image) {
  for (std::uint8_t& value : image.pixels) value = static_cast<std::uint8_t>(255 - value);
}

}  // namespace

DecodePicture decoder_of(const StoredPicture& stored, const RenderRequest& request, std::int64_t pixels_max) {
  return [&stored, &request, pixels_max](int width_px, int height_px, bool exactly) -> Result<DecodedPicture> {
    const image::DecodeOptions options{.format = stored.frame.gray ? image::PixelFormat::gray8 : request.format,
                                       .pixels_max = pixels_max,
                                       .width_px_wanted = width_px,
                                       .height_px_wanted = height_px,
                                       .exactly = exactly};
    const bool color = options.format == image::PixelFormat::rgb24;
    if (request.allow_chroma && color && exactly && stored.frame.gray_and_chroma && !stored.inverted &&
        width_px % 2 == 0 && height_px % 2 == 0) {
      auto planes = image::decode_planes(stored.bytes, stored.frame, options);
      if (!planes) return std::unexpected(std::move(planes.error()));
      return DecodedPicture(std::move(*planes));
    }
    auto image = image::decode(stored.format, stored.bytes, stored.frame, options);
    if (!image) return std::unexpected(std::move(image.error()));
    if (stored.inverted) invert(*image);
    return DecodedPicture(std::move(*image));
  };
}

}  // namespace lectern::document
