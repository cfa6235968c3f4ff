#include "image/decode.h"

#include <utility>

#include "image/codecs.h"
#include "image/resize.h"
#include "image/row_sink.h"

namespace lectern::image {

Status check_sides(std::string_view what, std::int64_t width, std::int64_t height) {
  if (width > 0 && height > 0 && width <= side_max_px && height <= side_max_px) return {};
  return fail(ErrorKind::corrupt, "the {} says that it is {}x{} pixels, which cannot be", what, width, height);
}

int shrink_on_the_way_in(int width_px, int height_px, const DecodeOptions& options) {
  return std::max(shrink_factor(width_px, height_px, options.pixels_max),
                  shrink_factor_for(width_px, height_px, options.width_px_wanted, options.height_px_wanted));
}

std::unexpected<Error> too_many_pixels(const FrameInfo& frame, const DecodeOptions& options) {
  return fail(ErrorKind::invalid_input, "the picture is {}x{} pixels, more than the limit of {} megapixels",
              frame.width_px, frame.height_px, options.pixels_max / 1'000'000);
}

Result<std::vector<FrameInfo>> probe(FileFormat format, Bytes file) {
  switch (format) {
    case FileFormat::jpeg:
      return probe_jpeg(file);
    case FileFormat::png:
      return probe_png(file);
    case FileFormat::tiff:
      return probe_tiff(file);
    case FileFormat::webp:
      return probe_webp(file);
    case FileFormat::bmp:
      return probe_bmp(file);
  }
  return fail(ErrorKind::internal, "unknown picture format {}", static_cast<int>(format));
}

namespace {

Result<Image> decode_any(FileFormat format, Bytes file, const FrameInfo& frame, const DecodeOptions& options) {
  switch (format) {
    case FileFormat::jpeg:
      return decode_jpeg(file, frame, options);
    case FileFormat::png:
      return decode_png(file, frame, options);
    case FileFormat::tiff:
      return decode_tiff(file, frame, options);
    case FileFormat::webp:
      return decode_webp(file, frame, options);
    case FileFormat::bmp:
      return decode_bmp(file, frame, options);
  }
  return fail(ErrorKind::internal, "unknown picture format {}", static_cast<int>(format));
}

}  // namespace

Result<Image> decode(FileFormat format, Bytes file, const FrameInfo& frame, const DecodeOptions& options) {
  if (!frame.damage.empty()) return fail(ErrorKind::corrupt, "{}", frame.damage);
  auto image = decode_any(format, file, frame, options);
  if (!image || !options.exactly) return image;
  const bool fits = image->width_px == options.width_px_wanted && image->height_px == options.height_px_wanted;
  return fits ? std::move(image) : resize_fast(*image, options.width_px_wanted, options.height_px_wanted);
}

}  // namespace lectern::image
