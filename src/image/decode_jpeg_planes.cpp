// JPEG by libjpeg-turbo, without its conversion to RGB: gray and colours as they are stored.
#include <optional>

#include "image/jpeg_decompressor.h"
#include "image/row_resizer.h"
#include "image/vectorized.h"

namespace lectern::image {
namespace {

// Two rows become one of half their width: the mean of each square. Both rows are readable for 2 * `width`.
LECTERN_VECTORIZED void halve(const std::uint8_t* __restrict above, const std::uint8_t* __restrict below,
                              std::uint8_t* __restrict to, int width) {
  for (std::ptrdiff_t x = 0; x < width; ++x) {
    const unsigned sum = above[2 * x] + above[2 * x + 1] + below[2 * x] + below[2 * x + 1];
    to[x] = static_cast<std::uint8_t>((sum + 2U) / 4U);
  }
}

// One component on its way: the rows that libjpeg fills in one turn, and what resizes them.
class PlaneReader {
 public:
  // Where libjpeg decodes at a reduced scale it leaves the colours larger by as much, so that they become as large as
  // the gray. What the file stores at half the size is brought back to it, before the costly filter.
  PlaneReader(const jpeg_decompress_struct& info, const jpeg_component_info& component, int width_px_out,
              int height_px_out)
      : width_(static_cast<int>(component.downsampled_width)),
        height_(static_cast<int>(component.downsampled_height)),
        rows_a_turn_(component.v_samp_factor * component.DCT_scaled_size),
        halved_(component.DCT_scaled_size > info.min_DCT_scaled_size && rows_a_turn_ % 2 == 0),
        stride_(static_cast<std::size_t>(component.width_in_blocks) *
                    static_cast<std::size_t>(component.DCT_scaled_size) +
                1),
        bytes_(stride_ * static_cast<std::size_t>(rows_a_turn_)),
        line_(halved_ ? static_cast<std::size_t>(width_ / 2 + 1) : 0),
        resizer_({.width_px = halved_ ? (width_ + 1) / 2 : width_,
                  .height_px = halved_ ? (height_ + 1) / 2 : height_,
                  .width_px_out = width_px_out,
                  .height_px_out = height_px_out}) {
    for (int y = 0; y < rows_a_turn_; ++y) rows_.push_back(bytes_.data() + stride_ * static_cast<std::size_t>(y));
  }

  JSAMPARRAY rows() { return rows_.data(); }

  // Takes what libjpeg has put into rows().
  void take_turn() {
    for (int y = 0; y < rows_a_turn_ && rows_seen_ < height_; y += halved_ ? 2 : 1) {
      if (!halved_) {
        resizer_.put(row(y));
        ++rows_seen_;
        continue;
      }
      const bool last = rows_seen_ + 1 == height_;
      std::uint8_t* below = row(last ? y : y + 1);
      for (std::uint8_t* each : {row(y), below}) each[width_] = each[width_ - 1];  // of an odd number of columns
      halve(row(y), below, line_.data(), (width_ + 1) / 2);
      resizer_.put(line_.data());
      rows_seen_ += 2;
    }
  }

  Image take() { return resizer_.take(); }

 private:
  std::uint8_t* row(int y) { return rows_[static_cast<std::size_t>(y)]; }

  const int width_;
  const int height_;
  const int rows_a_turn_;
  const bool halved_;
  const std::size_t stride_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint8_t*> rows_;
  std::vector<std::uint8_t> line_;
  RowResizer resizer_;
  int rows_seen_ = 0;
};

}  // namespace

Result<Planes> decode_planes(Bytes jpeg, const FrameInfo& frame, const DecodeOptions& options) {
  JpegDecompressor decompressor;
  if (!decompressor.read_header(jpeg)) return decompressor.damaged();
  auto& info = decompressor.info();
  const bool as_probed = static_cast<int>(info.image_width) == frame.width_px &&
                         static_cast<int>(info.image_height) == frame.height_px && info.jpeg_color_space == JCS_YCbCr &&
                         info.num_components == 3;
  if (!as_probed) return fail(ErrorKind::internal, "the JPEG changed since it was probed");
  info.scale_num = choose_jpeg_scale(frame, options);
  info.scale_denom = 8;
  info.out_color_space = JCS_YCbCr;
  info.raw_data_out = TRUE;
  if (!decompressor.plan()) return decompressor.damaged();
  if (static_cast<std::int64_t>(info.output_width) * info.output_height > options.pixels_max) {
    return too_many_pixels(frame, options);
  }
  if (!decompressor.start()) return decompressor.damaged();

  const int width = options.width_px_wanted;
  const int height = options.height_px_wanted;
  PlaneReader gray(info, info.comp_info[0], width, height);
  PlaneReader blue(info, info.comp_info[1], width / 2, height / 2);
  PlaneReader red(info, info.comp_info[2], width / 2, height / 2);
  JSAMPARRAY planes[3] = {gray.rows(), blue.rows(), red.rows()};
  const auto lines = static_cast<JDIMENSION>(info.max_v_samp_factor * info.min_DCT_scaled_size);
  while (info.output_scanline < info.output_height) {
    if (!decompressor.read_planes(planes, lines)) return decompressor.damaged();
    for (PlaneReader* plane : {&gray, &blue, &red}) plane->take_turn();
  }
  return Planes{.gray = gray.take(), .chroma = {.blue = blue.take(), .red = red.take()}};
}

}  // namespace lectern::image
