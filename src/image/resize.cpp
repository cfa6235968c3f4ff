#include "image/resize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "image/resize_rows.h"
#include "image/row_sink.h"

namespace lectern::image {
namespace {

// For each output position: where its inputs begin, how many there are, and their weights, which sum up to one.
struct Kernel {
  int taps_max = 0;
  std::vector<int> first;
  std::vector<int> count;
  std::vector<double> weights;  // taps_max for each output position
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
  Kernel kernel{.taps_max = taps};
  kernel.first.resize(static_cast<std::size_t>(to));
  kernel.count.resize(static_cast<std::size_t>(to));
  kernel.weights.resize(static_cast<std::size_t>(to) * static_cast<std::size_t>(kernel.taps_max));
  for (int i = 0; i < to; ++i) {
    const double center = (i + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(std::floor(center - support + 0.5)));
    const int count = std::min(from, static_cast<int>(std::floor(center + support + 0.5))) - first;
    double* weights = kernel.weights.data() + static_cast<std::ptrdiff_t>(i) * kernel.taps_max;
    double sum = 0;
    for (int t = 0; t < count; ++t) sum += weights[t] = weight_at(filter, (t + first - center + 0.5) / filter_scale);
    kernel.first[static_cast<std::size_t>(i)] = first;
    kernel.count[static_cast<std::size_t>(i)] = count;
    for (int t = 0; t < count; ++t) weights[t] = sum != 0 ? weights[t] / sum : 0;
  }
  return kernel;
}

// As many bits as fit the largest weight into 16.
ResizeKernel in_fixed_point(const Kernel& kernel) {
  double largest = 0;
  for (const double weight : kernel.weights) largest = std::max(largest, std::abs(weight));
  ResizeKernel out;
  out.bits = 15;
  while (largest * (1 << out.bits) > 32767) --out.bits;
  out.taps = (kernel.taps_max + ResizeKernel::taps_step - 1) / ResizeKernel::taps_step * ResizeKernel::taps_step;
  out.first.assign(kernel.first.begin(), kernel.first.end());
  out.count.assign(kernel.count.begin(), kernel.count.end());
  out.weights.resize(kernel.first.size() * static_cast<std::size_t>(out.taps));
  for (std::size_t i = 0; i < kernel.first.size(); ++i) {
    const double* from = kernel.weights.data() + i * static_cast<std::size_t>(kernel.taps_max);
    std::int16_t* to = out.weights.data() + i * static_cast<std::size_t>(out.taps);
    for (int t = 0; t < kernel.count[i]; ++t) to[t] = static_cast<std::int16_t>(std::lround(from[t] * (1 << out.bits)));
  }
  return out;
}

Image resize_horizontally(const Image& image, int width_px, Filter filter) {
  const ResizeKernel kernel = make_resize_kernel(image.width_px, width_px, filter);
  Image out = Image::unset(width_px, image.height_px, image.format);
  const bool gray = image.format == PixelFormat::gray8;
  // Longer than the picture's, since the last taps reach past its end, where the weights are zero.
  std::vector<std::uint8_t> row(image.stride() + static_cast<std::size_t>(kernel.taps * channels(image.format) + 4));
  for (int y = 0; y < image.height_px; ++y) {
    std::copy_n(image.row(y), image.stride(), row.begin());
    (gray ? resize_gray_row : resize_rgb_row)(row.data(), out.row(y), kernel);
  }
  return out;
}

Image resize_vertically(const Image& image, int height_px, Filter filter) {
  const ResizeKernel kernel = make_resize_kernel(image.height_px, height_px, filter);
  Image out = Image::unset(image.width_px, height_px, image.format);
  std::vector<const std::uint8_t*> rows(static_cast<std::size_t>(kernel.taps));
  for (int y = 0; y < height_px; ++y) {
    const auto i = static_cast<std::size_t>(y);
    for (int t = 0; t < kernel.count[i]; ++t) rows[static_cast<std::size_t>(t)] = image.row(kernel.first[i] + t);
    const std::int16_t* weights = kernel.weights.data() + i * static_cast<std::size_t>(kernel.taps);
    mix_rows({.rows = rows.data(), .weights = weights, .count = kernel.count[i], .bits = kernel.bits}, out.row(y),
             image.stride());
  }
  return out;
}

}  // namespace

ResizeKernel make_resize_kernel(int from, int to, Filter filter) {
  return in_fixed_point(make_kernel(from, to, filter));
}

std::shared_ptr<const ResizeKernel> lanczos_kernel(int from, int to) {
  struct Known {
    int from = 0;
    int to = 0;
    std::shared_ptr<const ResizeKernel> kernel;
  };
  thread_local std::array<Known, 6> known;  // two directions of a picture's gray and its colours, and two to spare
  thread_local std::size_t oldest = 0;
  for (const Known& each : known) {
    if (each.from == from && each.to == to) return each.kernel;
  }
  Known& place = known.at(oldest);
  oldest = (oldest + 1) % known.size();
  place = {from, to, std::make_shared<const ResizeKernel>(make_resize_kernel(from, to, Filter::lanczos))};
  return place.kernel;
}

Image resize(const Image& image, int width_px, int height_px, Filter filter) {
  if (image.empty() || width_px < 1 || height_px < 1) return {};
  if (image.width_px == width_px && image.height_px == height_px) return image;
  Image out;
  if (image.width_px == width_px) {
    out = resize_vertically(image, height_px, filter);
  } else if (image.height_px == height_px) {
    out = resize_horizontally(image, width_px, filter);
  } else if (height_px < image.height_px) {
    // What is left of the rows is what the other direction, the slower one, has to work on.
    out = resize_horizontally(resize_vertically(image, height_px, filter), width_px, filter);
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
