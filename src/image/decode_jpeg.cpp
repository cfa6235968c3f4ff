// JPEG by libjpeg-turbo.
#include <cstring>

#include "image/codecs.h"
#include "image/exif.h"
#include "image/jpeg_errors.h"
#include "image/row_sink.h"

namespace lectern::image {
namespace {

constexpr int scans_max = 400;  // a progressive file of thousands of scans is made to waste time

void on_progress(j_common_ptr info) {
  if (!info->is_decompressor) return;
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > scans_max) {
    auto* errors = reinterpret_cast<JpegErrors*>(info->err);
    std::snprintf(errors->message, sizeof(errors->message), "too many scans");
    std::longjmp(errors->jump, 1);
  }
}

// Owns libjpeg's state. Not movable: libjpeg keeps pointers into it.
class Decompressor {
 public:
  Decompressor() { info_.err = errors_.install(); }
  ~Decompressor() { jpeg_destroy_decompress(&info_); }
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  jpeg_decompress_struct& info() { return info_; }
  const char* message() const { return errors_.message; }

  bool read_header(Bytes file) {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_create_decompress(&info_);
    progress_.progress_monitor = on_progress;
    info_.progress = &progress_;
    jpeg_save_markers(&info_, JPEG_APP0 + 1, 0xFFFF);
    jpeg_mem_src(&info_, file.data(), file.size());
    return jpeg_read_header(&info_, TRUE) == JPEG_HEADER_OK;
  }

  // Computes the output size from the scale and colour space that were set.
  bool plan() {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_calc_output_dimensions(&info_);
    return true;
  }

  bool start() {
    if (setjmp(errors_.jump) != 0) return false;
    return jpeg_start_decompress(&info_) != FALSE;
  }

  // False when the data ended in an error that libjpeg could not mend.
  bool read_row(std::uint8_t* row) {
    if (setjmp(errors_.jump) != 0) return false;
    return jpeg_read_scanlines(&info_, &row, 1) == 1;
  }

 private:
  JpegErrors errors_{};
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct info_{};
};

std::unexpected<Error> damaged(const Decompressor& decompressor) {
  return fail(ErrorKind::corrupt, "the JPEG is damaged: {}", decompressor.message());
}

ExifFacts exif_of(const jpeg_decompress_struct& info) {
  for (const jpeg_marker_struct* m = info.marker_list; m != nullptr; m = m->next) {
    if (m->marker == JPEG_APP0 + 1 && m->data_length > 6 && std::memcmp(m->data, "Exif\0\0", 6) == 0) {
      return read_exif({m->data, m->data_length});
    }
  }
  return {};
}

FrameInfo frame_of(const jpeg_decompress_struct& info) {
  const ExifFacts exif = exif_of(info);
  FrameInfo frame{.width_px = static_cast<int>(info.image_width),
                  .height_px = static_cast<int>(info.image_height),
                  .dpi_x = exif.dpi_x,
                  .dpi_y = exif.dpi_y,
                  .turn = turn_for_orientation(exif.orientation)};
  if (info.saw_JFIF_marker && (info.density_unit == 1 || info.density_unit == 2)) {
    const double factor = info.density_unit == 2 ? 2.54 : 1;
    frame.dpi_x = sane_dpi(info.X_density * factor);
    frame.dpi_y = sane_dpi(info.Y_density * factor);
  }
  frame.gray = info.num_components == 1;
  frame.cmyk = info.num_components == 4;
  return frame;
}

// The smallest of libjpeg's scales (1/8 … 8/8) that still gives the wanted size, and never more pixels than allowed.
unsigned choose_scale(const FrameInfo& frame, const DecodeOptions& options) {
  const auto scaled = [](std::int64_t side, std::int64_t eighths) { return (side * eighths + 7) / 8; };
  unsigned scale = 8;
  if (options.width_px_wanted > 0 && options.height_px_wanted > 0) {
    while (scale > 1 && scaled(frame.width_px, scale - 1) >= options.width_px_wanted &&
           scaled(frame.height_px, scale - 1) >= options.height_px_wanted) {
      --scale;
    }
  }
  // libjpeg-turbo has vector code for halves, quarters and eighths only: three eighths take longer than four.
  if (scale == 3) scale = 4;
  while (scale > 1 && scaled(frame.width_px, scale) * scaled(frame.height_px, scale) > options.pixels_max) --scale;
  return scale;
}

// Adobe writes CMYK inverted, so that ink is what is missing from 255; others write ink as it is.
void cmyk_to_rgb(std::vector<std::uint8_t>& row, bool inverted) {
  std::uint8_t* to = row.data();
  for (std::size_t i = 0; i + 3 < row.size(); i += 4) {
    unsigned c[4] = {row[i], row[i + 1], row[i + 2], row[i + 3]};
    if (!inverted) {
      for (unsigned& ink : c) ink = 255 - ink;
    }
    for (int k = 0; k < 3; ++k) *to++ = static_cast<std::uint8_t>((c[k] * c[3] + 127) / 255);
  }
}

}  // namespace

Result<std::vector<FrameInfo>> probe_jpeg(Bytes file) {
  Decompressor decompressor;
  if (!decompressor.read_header(file)) return damaged(decompressor);
  const FrameInfo frame = frame_of(decompressor.info());
  if (Status sound = check_sides("JPEG", frame.width_px, frame.height_px); !sound)
    return std::unexpected(sound.error());
  return std::vector{frame};
}

Result<Image> decode_jpeg(Bytes file, const FrameInfo& frame, const DecodeOptions& options) {
  Decompressor decompressor;
  if (!decompressor.read_header(file)) return damaged(decompressor);
  auto& info = decompressor.info();
  if (static_cast<int>(info.image_width) != frame.width_px || static_cast<int>(info.image_height) != frame.height_px) {
    return fail(ErrorKind::internal, "the JPEG changed since it was probed");
  }
  const bool gray = options.format == PixelFormat::gray8;
  info.scale_num = choose_scale(frame, options);
  info.scale_denom = 8;
  const bool four_inks = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = four_inks ? JCS_CMYK : gray || info.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  if (!decompressor.plan()) return damaged(decompressor);
  if (static_cast<std::int64_t>(info.output_width) * info.output_height > options.pixels_max) {
    return too_many_pixels(frame, options);
  }
  if (!decompressor.start()) return damaged(decompressor);

  const int height = static_cast<int>(info.output_height);
  RowSink sink({.width_px = static_cast<int>(info.output_width),
                .height_px = height,
                .format = options.format,
                .width_px_out = options.exactly ? options.width_px_wanted : 0,
                .height_px_out = options.exactly ? options.height_px_wanted : 0});
  std::vector<std::uint8_t> row(static_cast<std::size_t>(info.output_width) *
                                static_cast<std::size_t>(info.output_components));
  const RowFormat row_format = info.out_color_space == JCS_GRAYSCALE ? RowFormat::gray : RowFormat::rgb;
  for (int y = 0; y < height; ++y) {
    if (!decompressor.read_row(row.data())) return damaged(decompressor);
    if (four_inks) cmyk_to_rgb(row, info.saw_Adobe_marker != FALSE);
    sink.put(y, row_format, row.data());
  }
  Image image = sink.take();
  image.dpi = frame.dpi_x * static_cast<float>(image.width_px) / static_cast<float>(frame.width_px);
  return image;
}

}  // namespace lectern::image
