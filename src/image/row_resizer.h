// Resizes a picture while its rows come in, so that the large one is never in memory: only as many rows of it as the
// filter reaches over. The same pixels as resize() with Filter::lanczos gives for a picture that gets lower.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "image/image.h"
#include "image/resize_rows.h"

namespace lectern::image {

class RowResizer {
 public:
  struct Shape {
    int width_px = 0;  // of the rows that come
    int height_px = 0;
    int width_px_out = 0;
    int height_px_out = 0;
    PixelFormat format = PixelFormat::gray8;
  };
  explicit RowResizer(const Shape& shape);

  // Rows come top to bottom; each is copied.
  void put(const std::uint8_t* row);
  // Rows that have not come by now are black.
  Image take();

 private:
  std::uint8_t* kept_row(int y);
  void finish_row();

  const Shape shape_;
  const std::shared_ptr<const ResizeKernel> down_kept_;
  const std::shared_ptr<const ResizeKernel> along_kept_;
  const ResizeKernel& down_;
  const ResizeKernel& along_;
  const std::size_t stride_;
  std::vector<std::uint8_t> kept_;  // the last rows, in turn
  std::vector<const std::uint8_t*> rows_;
  std::vector<std::uint8_t> line_;  // a row of the result, still as wide as what came in
  Image image_;
  int rows_in_ = 0;
  int rows_out_ = 0;
};

}  // namespace lectern::image
