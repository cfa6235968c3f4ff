#include "image/encode.h"

#include <spng.h>

#include <cmath>
#include <cstdlib>
#include <memory>

#include "image/jpeg_errors.h"

namespace lectern::image {
namespace {

// Owns libjpeg's state and its output buffer; compress() holds only plain values, because longjmp skips destructors.
class Compressor {
 public:
  Compressor() { info_.err = errors_.install(); }
  ~Compressor() {
    jpeg_destroy_compress(&info_);
    std::free(buffer_);
  }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  bool compress(const Image& image, int quality) {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_create_compress(&info_);
    jpeg_mem_dest(&info_, &buffer_, &size_);
    info_.image_width = static_cast<JDIMENSION>(image.width_px);
    info_.image_height = static_cast<JDIMENSION>(image.height_px);
    info_.input_components = channels(image.format);
    info_.in_color_space = image.format == PixelFormat::gray8 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, quality, TRUE);
    if (image.dpi >= 1 && image.dpi < 65535) {
      info_.density_unit = 1;
      info_.X_density = static_cast<UINT16>(std::lround(image.dpi));
      info_.Y_density = info_.X_density;
    }
    jpeg_start_compress(&info_, TRUE);
    while (info_.next_scanline < info_.image_height) {
      auto* row = const_cast<std::uint8_t*>(image.row(static_cast<int>(info_.next_scanline)));  // libjpeg only reads it
      jpeg_write_scanlines(&info_, &row, 1);
    }
    jpeg_finish_compress(&info_);
    return true;
  }

  std::span<const std::uint8_t> bytes() const { return {buffer_, size_}; }
  const char* message() const { return errors_.message; }

 private:
  JpegErrors errors_{};
  jpeg_compress_struct info_{};
  unsigned char* buffer_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

Result<std::vector<std::uint8_t>> encode_jpeg(const Image& image, int quality) {
  if (image.empty()) return fail(ErrorKind::internal, "an empty picture cannot be encoded");
  Compressor compressor;
  if (!compressor.compress(image, std::clamp(quality, 1, 100))) {
    return fail(ErrorKind::internal, "cannot encode a JPEG of {}x{}: {}", image.width_px, image.height_px,
                compressor.message());
  }
  return std::vector<std::uint8_t>(compressor.bytes().begin(), compressor.bytes().end());
}

Result<std::vector<std::uint8_t>> encode_png(const Image& image) {
  if (image.empty()) return fail(ErrorKind::internal, "an empty picture cannot be encoded");
  const std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)> context(spng_ctx_new(SPNG_CTX_ENCODER), spng_ctx_free);
  if (!context) return fail(ErrorKind::overloaded, "no memory to encode a PNG");
  spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1);
  spng_set_option(context.get(), SPNG_IMG_COMPRESSION_LEVEL, 4);
  spng_ihdr header{.width = static_cast<std::uint32_t>(image.width_px),
                   .height = static_cast<std::uint32_t>(image.height_px),
                   .bit_depth = 8,
                   .color_type = static_cast<std::uint8_t>(
                       image.format == PixelFormat::gray8 ? SPNG_COLOR_TYPE_GRAYSCALE : SPNG_COLOR_TYPE_TRUECOLOR)};
  int code = spng_set_ihdr(context.get(), &header);
  if (code == 0 && image.dpi >= 1) {
    const auto per_metre = static_cast<std::uint32_t>(std::lround(image.dpi / 0.0254F));
    spng_phys phys{.ppu_x = per_metre, .ppu_y = per_metre, .unit_specifier = 1};
    code = spng_set_phys(context.get(), &phys);
  }
  if (code == 0) {
    code =
        spng_encode_image(context.get(), image.pixels.data(), image.pixels.size(), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
  }
  std::size_t size = 0;
  const std::unique_ptr<void, decltype(&std::free)> buffer(
      code == 0 ? spng_get_png_buffer(context.get(), &size, &code) : nullptr, std::free);
  if (!buffer) return fail(ErrorKind::internal, "cannot encode a PNG: {}", spng_strerror(code));
  const auto* bytes = static_cast<const std::uint8_t*>(buffer.get());
  return std::vector<std::uint8_t>(bytes, bytes + size);
}

}  // namespace lectern::image
