// The decoders behind decode.h, one a format. Internal to image/.
#pragma once

#include "image/decode.h"

namespace lectern::image {

using Bytes = std::span<const std::uint8_t>;

Result<std::vector<FrameInfo>> probe_jpeg(Bytes file);
Result<std::vector<FrameInfo>> probe_png(Bytes file);
Result<std::vector<FrameInfo>> probe_tiff(Bytes file);
Result<std::vector<FrameInfo>> probe_webp(Bytes file);
Result<std::vector<FrameInfo>> probe_bmp(Bytes file);

Result<Image> decode_jpeg(Bytes file, const FrameInfo& frame, const DecodeOptions& options);
Result<Image> decode_png(Bytes file, const FrameInfo& frame, const DecodeOptions& options);
Result<Image> decode_tiff(Bytes file, const FrameInfo& frame, const DecodeOptions& options);
Result<Image> decode_webp(Bytes file, const FrameInfo& frame, const DecodeOptions& options);
Result<Image> decode_bmp(Bytes file, const FrameInfo& frame, const DecodeOptions& options);

constexpr int side_max_px = 200'000;  // a header that claims more is lying
constexpr std::size_t frames_max = 10'000;

// Resolutions outside 10..10,000 dpi are typing errors of some writer.
constexpr float sane_dpi(double dpi) {
  return dpi >= 10 && dpi <= 10'000 ? static_cast<float>(dpi) : 0.0F;
}

Status check_sides(std::string_view what, std::int64_t width, std::int64_t height);
// How far rows may be shrunk as they come in: to keep the pixel limit, and because the caller wants less anyway.
int shrink_on_the_way_in(int width_px, int height_px, const DecodeOptions& options);
std::unexpected<Error> too_many_pixels(const FrameInfo& frame, const DecodeOptions& options);

}  // namespace lectern::image
