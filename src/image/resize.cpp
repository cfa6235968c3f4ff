#include "image/resize.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "image/row_sink.h"

namespace lectern::image {
namespace {

constexpr int precision_bits = 32 - 8 - 2;  // 8 bits of pixel, 2 of headroom for a kernel's overshoot

// For each output position: where its inputs begin, how many there are, and their weights (fixed point).
struct Kernel {
  int taps_max = 0;
  std::vector<int> first;
  std::vector<int> count;
  std::vector<std::int32_t> weights;  // taps_max for each output position
};

double sinc(double x) {
  if (x == 0) return 1;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

double weight_at(Filter filter, double x) {
  switch (filter) {
    case Filter::lanczos:
      return x > -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
    case Filter::box:
      return x > -0.5 && x <= 0.5 ? 1 : 0;
  }
  return 0;
}

Kernel make_kernel(int from, int to, Filter filter) {
  const double scale = static_cast<double>(from) / to;
  const double filter_scale = std::max(scale, 1.0);
  const double support = (filter == Filter::lanczos ? 3.0 : 0.5) * filter_scale;
  Kernel kernel{.taps_max = static_cast<int>(std::ceil(support)) * 2 + 1};
  kernel.first.resize(static_cast<std::size_t>(to));
  kernel.count.resize(static_cast<std::size_t>(to));
  kernel.weights.resize(static_cast<std::size_t>(to) * static_cast<std::size_t>(kernel.taps_max));
  std::vector<double> weights(static_cast<std::size_t>(kernel.taps_max));
  for (int i = 0; i < to; ++i) {
    const double center = (i + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(center - support + 0.5));
    const int count = std::min(from, static_cast<int>(center + support + 0.5)) - first;
    double sum = 0;
    for (int t = 0; t < count; ++t) {
      const double w = weight_at(filter, (t + first - center + 0.5) / filter_scale);
      weights[static_cast<std::size_t>(t)] = w;
      sum += w;
    }
    kernel.first[static_cast<std::size_t>(i)] = first;
    kernel.count[static_cast<std::size_t>(i)] = count;
    std::int32_t* out = kernel.weights.data() + static_cast<std::ptrdiff_t>(i) * kernel.taps_max;
    for (int t = 0; t < count; ++t) {
      const double w = sum != 0 ? weights[static_cast<std::size_t>(t)] / sum : 0;
      out[t] = static_cast<std::int32_t>(std::lround(w * (1 << precision_bits)));
    }
  }
  return kernel;
}

std::uint8_t clip(std::int32_t value) {
  return static_cast<std::uint8_t>(std::clamp(value >> precision_bits, 0, 255));
}

template <int C>
void resize_row(const std::uint8_t* from, std::uint8_t* to, const Kernel& kernel, int width) {
  for (int x = 0; x < width; ++x) {
    const std::int32_t* weights = kernel.weights.data() + static_cast<std::ptrdiff_t>(x) * kernel.taps_max;
    const int count = kernel.count[static_cast<std::size_t>(x)];
    const std::uint8_t* pixel = from + static_cast<std::ptrdiff_t>(kernel.first[static_cast<std::size_t>(x)]) * C;
    std::int32_t sums[C];
    for (std::int32_t& sum : sums) sum = 1 << (precision_bits - 1);
    for (int t = 0; t < count; ++t) {
      for (int c = 0; c < C; ++c) sums[c] += pixel[t * C + c] * weights[t];
    }
    for (int c = 0; c < C; ++c) *to++ = clip(sums[c]);
  }
}

Image resize_horizontally(const Image& image, int width_px, Filter filter) {
  const Kernel kernel = make_kernel(image.width_px, width_px, filter);
  Image out(width_px, image.height_px, image.format);
  for (int y = 0; y < image.height_px; ++y) {
    if (image.format == PixelFormat::gray8) {
      resize_row<1>(image.row(y), out.row(y), kernel, width_px);
    } else {
      resize_row<3>(image.row(y), out.row(y), kernel, width_px);
    }
  }
  return out;
}

Image resize_vertically(const Image& image, int height_px, Filter filter) {
  const Kernel kernel = make_kernel(image.height_px, height_px, filter);
  Image out(image.width_px, height_px, image.format);
  std::vector<std::int32_t> sums(image.stride());
  for (int y = 0; y < height_px; ++y) {
    std::ranges::fill(sums, 1 << (precision_bits - 1));
    const std::int32_t* weights = kernel.weights.data() + static_cast<std::ptrdiff_t>(y) * kernel.taps_max;
    // Row by row over the inputs: every access runs along memory, and the inner loop is one vector instruction wide.
    for (int t = 0; t < kernel.count[static_cast<std::size_t>(y)]; ++t) {
      const std::uint8_t* row = image.row(kernel.first[static_cast<std::size_t>(y)] + t);
      const std::int32_t weight = weights[t];
      std::int32_t* sum = sums.data();
      for (std::size_t i = 0; i < sums.size(); ++i) sum[i] += row[i] * weight;
    }
    std::uint8_t* to = out.row(y);
    for (std::size_t i = 0; i < sums.size(); ++i) to[i] = clip(sums[i]);
  }
  return out;
}

}  // namespace

Image resize(const Image& image, int width_px, int height_px, Filter filter) {
  if (image.empty() || width_px < 1 || height_px < 1) return {};
  if (image.width_px == width_px && image.height_px == height_px) return image;
  Image out;
  if (image.width_px == width_px) {
    out = resize_vertically(image, height_px, filter);
  } else if (image.height_px == height_px) {
    out = resize_horizontally(image, width_px, filter);
  } else {
    out = resize_vertically(resize_horizontally(image, width_px, filter), height_px, filter);
  }
  out.dpi = image.dpi * static_cast<float>(width_px) / static_cast<float>(image.width_px);
  return out;
}

Image resize_fast(const Image& image, int width_px, int height_px) {
  constexpr int gap = 2;  // what is left for Lanczos to do
  if (width_px < 1 || height_px < 1) return {};
  const int factor = std::min(image.width_px / width_px, image.height_px / height_px) / gap;
  if (factor < 2) return resize(image, width_px, height_px, Filter::lanczos);
  return resize(shrink_by(image, factor), width_px, height_px, Filter::lanczos);
}

Image shrink_by(const Image& image, int factor) {
  if (image.empty() || factor <= 1) return image;
  RowSink sink({.width_px = image.width_px, .height_px = image.height_px, .format = image.format, .shrink = factor});
  const RowFormat format = image.format == PixelFormat::gray8 ? RowFormat::gray : RowFormat::rgb;
  for (int y = 0; y < image.height_px; ++y) sink.put(y, format, image.row(y));
  Image out = sink.take();
  out.dpi = image.dpi / static_cast<float>(factor);
  return out;
}

}  // namespace lectern::image
