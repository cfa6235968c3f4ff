// libjpeg's decompressor with an owner, for the two ways in which JPEGs are decoded. Internal to image/.
#pragma once

#include <cstdint>

#include "image/codecs.h"
#include "image/jpeg_errors.h"

namespace lectern::image {

inline constexpr int jpeg_scans_max = 400;  // a progressive file of thousands of scans is made to waste time

inline void on_jpeg_progress(j_common_ptr info) {
  if (!info->is_decompressor) return;
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > jpeg_scans_max) {
    auto* errors = reinterpret_cast<JpegErrors*>(info->err);
    std::snprintf(errors->message, sizeof(errors->message), "too many scans");
    std::longjmp(errors->jump, 1);
  }
}

// Owns libjpeg's state. Not movable: libjpeg keeps pointers into it.
class JpegDecompressor {
 public:
  JpegDecompressor() { info_.err = errors_.install(); }
  ~JpegDecompressor() { jpeg_destroy_decompress(&info_); }
  JpegDecompressor(const JpegDecompressor&) = delete;
  JpegDecompressor& operator=(const JpegDecompressor&) = delete;

  jpeg_decompress_struct& info() { return info_; }
  std::unexpected<Error> damaged() const {
    return fail(ErrorKind::corrupt, "the JPEG is damaged: {}", errors_.message);
  }

  bool read_header(Bytes file) {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_create_decompress(&info_);
    progress_.progress_monitor = on_jpeg_progress;
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

  // As many rows as one turn of raw_data_out gives, a picture for each component.
  bool read_planes(JSAMPIMAGE planes, JDIMENSION lines) {
    if (setjmp(errors_.jump) != 0) return false;
    return jpeg_read_raw_data(&info_, planes, lines) == lines;
  }

 private:
  JpegErrors errors_{};
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct info_{};
};

// The smallest of libjpeg's scales (1/8 … 8/8) that still gives the wanted size, and never more pixels than allowed.
inline unsigned choose_jpeg_scale(const FrameInfo& frame, const DecodeOptions& options) {
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

}  // namespace lectern::image
