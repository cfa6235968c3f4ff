#include "image/resize.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "image/row_sink.h"
#include "image/vectorized.h"

namespace lectern::image {
namespace {

constexpr int precision_bits = 32 - 8 - 2;  // 8 bits of pixel, 2 of headroom for a kernel's overshoot

constexpr int lanes_of_taps = 8;

// For each output position: where its inputs begin, how many there are, and their weights (fixed point).
struct Kernel {
  int taps_max = 0;
  std::vector<int> first;
  std::vector<int> count;
  std::vector<std::int32_t> weights;  // taps_max (a multiple of lanes_of_taps) for each output position
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
  const int taps = static_cast<int>(std::ceil(support)) * 2 + 1;
  Kernel kernel{.taps_max = (taps + lanes_of_taps - 1) / lanes_of_taps * lanes_of_taps};
  kernel.first.resize(static_cast<std::size_t>(to));
  kernel.count.resize(static_cast<std::size_t>(to));
  kernel.weights.resize(static_cast<std::size_t>(to) * static_cast<std::size_t>(kernel.taps_max));
  std::vector<double> weights(static_cast<std::size_t>(kernel.taps_max));
  for (int i = 0; i < to; ++i) {
    const double center = (i + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(std::floor(center - support + 0.5)));
    const int count = std::min(from, static_cast<int>(std::floor(center + support + 0.5))) - first;
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

// Sums eight taps at a time into as many separate sums, one vector register for each channel; the row is padded so that
// the last eight may reach past its end, where the weights are zero.
template <int C>
[[gnu::always_inline]] inline void resize_row(const std::uint8_t* __restrict from, std::uint8_t* __restrict to,
                                              const Kernel& kernel, const std::int32_t* __restrict weights, int width) {
  constexpr int lanes = lanes_of_taps * C;
  for (int x = 0; x < width; ++x) {
    const std::uint8_t* pixel = from + static_cast<std::ptrdiff_t>(kernel.first[static_cast<std::size_t>(x)]) * C;
    std::int32_t sums[lanes] = {};
    for (int t = 0; t < kernel.taps_max * C; t += lanes) {
      for (int i = 0; i < lanes; ++i) sums[i] += pixel[t + i] * weights[t + i];
    }
    weights += static_cast<std::ptrdiff_t>(kernel.taps_max) * C;
    for (int c = 0; c < C; ++c) {
      std::int32_t sum = 1 << (precision_bits - 1);
      for (int i = c; i < lanes; i += C) sum += sums[i];
      *to++ = clip(sum);
    }
  }
}

LECTERN_VECTORIZED void resize_gray_row(const std::uint8_t* from, std::uint8_t* to, const Kernel& kernel,
                                        const std::int32_t* weights, int width) {
  resize_row<1>(from, to, kernel, weights, width);
}

LECTERN_VECTORIZED void resize_rgb_row(const std::uint8_t* from, std::uint8_t* to, const Kernel& kernel,
                                       const std::int32_t* weights, int width) {
  resize_row<3>(from, to, kernel, weights, width);
}

LECTERN_VECTORIZED void add_weighted(const std::uint8_t* __restrict row, std::int32_t weight,
                                     std::int32_t* __restrict sums, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sums[i] += row[i] * weight;
}

LECTERN_VECTORIZED void clip_row(const std::int32_t* __restrict sums, std::uint8_t* __restrict to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = clip(sums[i]);
}

Image resize_horizontally(const Image& image, int width_px, Filter filter) {
  const Kernel kernel = make_kernel(image.width_px, width_px, filter);
  Image out(width_px, image.height_px, image.format);
  const auto count = static_cast<std::size_t>(channels(image.format));
  std::vector<std::int32_t> weights;  // each as often as there are channels
  weights.reserve(kernel.weights.size() * count);
  for (const std::int32_t weight : kernel.weights) weights.insert(weights.end(), count, weight);
  std::vector<std::uint8_t> row(image.stride() + static_cast<std::size_t>(kernel.taps_max) * count);
  for (int y = 0; y < image.height_px; ++y) {
    std::copy_n(image.row(y), image.stride(), row.begin());
    const auto resize_row_of = image.format == PixelFormat::gray8 ? resize_gray_row : resize_rgb_row;
    resize_row_of(row.data(), out.row(y), kernel, weights.data(), width_px);
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
    // Row by row over the inputs, so that every access runs along memory.
    for (int t = 0; t < kernel.count[static_cast<std::size_t>(y)]; ++t) {
      add_weighted(image.row(kernel.first[static_cast<std::size_t>(y)] + t), weights[t], sums.data(), sums.size());
    }
    clip_row(sums.data(), out.row(y), sums.size());
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
  if (image.empty() || width_px < 1 || height_px < 1) return {};
  const int factor = shrink_factor_for(image.width_px, image.height_px, width_px, height_px);
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
