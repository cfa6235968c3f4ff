#include "image/encode.h"

#include <spng.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "image/jpeg_errors.h"

namespace lectern::image {
namespace {

// The rows of a gray plane as libjpeg takes them raw: a multiple of `block` of rows, each a multiple of `block` wide,
// the last pixel and the last row repeated where the plane ends before that.
class PlaneRows {
 public:
  PlaneRows(const Image& plane, int block) {
    const auto padded = [block](int side) { return static_cast<std::size_t>((side + block - 1) / block * block); };
    const auto width = static_cast<std::size_t>(plane.width_px);
    const std::size_t stride = padded(plane.width_px);
    if (stride != width) copy_.resize(stride * static_cast<std::size_t>(plane.height_px));
    rows_.reserve(padded(plane.height_px));
    for (int y = 0; y < plane.height_px; ++y) {
      auto* row = const_cast<std::uint8_t*>(plane.row(y));  // libjpeg only reads it
      if (stride != width) {
        std::uint8_t* wider = copy_.data() + stride * static_cast<std::size_t>(y);
        std::copy_n(row, width, wider);
        std::fill_n(wider + width, stride - width, row[width - 1]);
        row = wider;
      }
      rows_.push_back(row);
    }
    while (rows_.size() < padded(plane.height_px)) rows_.push_back(rows_.back());
  }
  JSAMPARRAY from(JDIMENSION y) { return rows_.data() + y; }

 private:
  Pixels copy_;
  std::vector<std::uint8_t*> rows_;
};

// Owns libjpeg's state and its output buffer; what calls setjmp holds only plain values, because longjmp skips
// destructors.
class Compressor {
 public:
  Compressor() { info_.err = errors_.install(); }
  ~Compressor() {
    jpeg_destroy_compress(&info_);
    std::free(buffer_);
  }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  bool compress_rgb(const Image& image, int quality) {
    if (setjmp(errors_.jump) != 0) return false;
    start(image, JCS_RGB, quality);
    while (info_.next_scanline < info_.image_height) {
      auto* row = const_cast<std::uint8_t*>(image.row(static_cast<int>(info_.next_scanline)));  // libjpeg only reads it
      jpeg_write_scanlines(&info_, &row, 1);
    }
    jpeg_finish_compress(&info_);
    return true;
  }

  // Of planes that need no conversion; `blue` and `red` are null for a gray picture.
  bool compress_planes(const Image& image, PlaneRows& gray, PlaneRows* blue, PlaneRows* red, int quality) {
    if (setjmp(errors_.jump) != 0) return false;
    const bool color = blue != nullptr && red != nullptr;
    start(image, color ? JCS_YCbCr : JCS_GRAYSCALE, quality);
    const JDIMENSION lines = color ? 16 : 8;
    for (JDIMENSION y = 0; y < info_.image_height; y += lines) {
      JSAMPARRAY planes[3] = {gray.from(y), color ? blue->from(y / 2) : nullptr, color ? red->from(y / 2) : nullptr};
      jpeg_write_raw_data(&info_, planes, lines);
    }
    jpeg_finish_compress(&info_);
    return true;
  }

  Result<std::vector<std::uint8_t>> result(bool compressed) const {
    if (compressed) return std::vector<std::uint8_t>(buffer_, buffer_ + size_);
    return fail(ErrorKind::internal, "cannot encode a JPEG of {}x{}: {}", info_.image_width, info_.image_height,
                errors_.message);
  }

 private:
  void start(const Image& image, J_COLOR_SPACE colors, int quality) {
    jpeg_create_compress(&info_);
    jpeg_mem_dest(&info_, &buffer_, &size_);
    info_.image_width = static_cast<JDIMENSION>(image.width_px);
    info_.image_height = static_cast<JDIMENSION>(image.height_px);
    info_.input_components = colors == JCS_GRAYSCALE ? 1 : 3;
    info_.in_color_space = colors;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, std::clamp(quality, 1, 100), TRUE);
    info_.raw_data_in = static_cast<boolean>(colors != JCS_RGB);
    if (image.dpi >= 1 && image.dpi < 65535) {
      info_.density_unit = 1;
      info_.X_density = static_cast<UINT16>(std::lround(image.dpi));
      info_.Y_density = info_.X_density;
    }
    jpeg_start_compress(&info_, TRUE);
  }

  JpegErrors errors_{};
  jpeg_compress_struct info_{};
  unsigned char* buffer_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

Result<std::vector<std::uint8_t>> encode_jpeg(const Image& image, int quality) {
  if (image.empty()) return fail(ErrorKind::internal, "an empty picture cannot be encoded");
  Compressor compressor;
  if (image.format == PixelFormat::rgb24) return compressor.result(compressor.compress_rgb(image, quality));
  PlaneRows gray(image, 8);
  return compressor.result(compressor.compress_planes(image, gray, nullptr, nullptr, quality));
}

Result<std::vector<std::uint8_t>> encode_jpeg(const Image& gray, const Chroma& chroma, int quality) {
  const auto half = [&](const Image& plane) {
    return plane.format == PixelFormat::gray8 && 2 * plane.width_px == gray.width_px &&
           2 * plane.height_px == gray.height_px;
  };
  if (gray.empty() || gray.format != PixelFormat::gray8 || !half(chroma.blue) || !half(chroma.red)) {
    return fail(ErrorKind::internal, "a picture of {}x{} has colours of another size", gray.width_px, gray.height_px);
  }
  Compressor compressor;
  PlaneRows gray_rows(gray, 16);
  PlaneRows blue(chroma.blue, 8);
  PlaneRows red(chroma.red, 8);
  return compressor.result(compressor.compress_planes(gray, gray_rows, &blue, &red, quality));
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
