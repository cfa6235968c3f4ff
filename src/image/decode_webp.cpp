// WebP by libwebp; its RIFF chunks are walked here, for the EXIF orientation.
#include <webp/decode.h>

#include <cstring>

#include "image/codecs.h"
#include "image/exif.h"
#include "image/riff.h"
#include "image/row_sink.h"

namespace lectern::image {

Result<std::vector<FrameInfo>> probe_webp(Bytes file) {
  WebPBitstreamFeatures features{};
  if (WebPGetFeatures(file.data(), file.size(), &features) != VP8_STATUS_OK) {
    return fail(ErrorKind::corrupt, "the WebP file is damaged");
  }
  if (features.has_animation != 0) {
    return fail(ErrorKind::invalid_input, "the WebP file is an animation: save the picture that you want read as PNG");
  }
  FrameInfo frame{.width_px = features.width, .height_px = features.height};
  if (Status sound = check_sides("WebP", frame.width_px, frame.height_px); !sound)
    return std::unexpected(sound.error());
  const ExifFacts facts = read_exif(find_riff_chunk(file, "EXIF"));
  frame.turn = turn_for_orientation(facts.orientation);
  frame.dpi_x = facts.dpi_x;
  frame.dpi_y = facts.dpi_y;
  return std::vector{frame};
}

Result<Image> decode_webp(Bytes file, const FrameInfo& frame, const DecodeOptions& options) {
  if (static_cast<std::int64_t>(frame.width_px) * frame.height_px > options.pixels_max)
    return too_many_pixels(frame, options);
  const auto stride = static_cast<std::size_t>(frame.width_px) * 4;
  std::vector<std::uint8_t> all(stride * static_cast<std::size_t>(frame.height_px));
  if (WebPDecodeRGBAInto(file.data(), file.size(), all.data(), all.size(), static_cast<int>(stride)) == nullptr) {
    return fail(ErrorKind::corrupt, "the WebP file is damaged");
  }
  RowSink sink({.width_px = frame.width_px, .height_px = frame.height_px, .format = options.format});
  for (int y = 0; y < frame.height_px; ++y) {
    sink.put(y, RowFormat::rgba, all.data() + stride * static_cast<std::size_t>(y));
  }
  Image image = sink.take();
  image.dpi = frame.dpi_x;
  return image;
}

}  // namespace lectern::image
