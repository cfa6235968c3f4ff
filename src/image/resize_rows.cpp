#include "image/resize_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lectern::image {
namespace {

std::uint8_t clip(std::int32_t sum, int bits) {
  return static_cast<std::uint8_t>(std::clamp(sum >> bits, 0, 255));
}

std::int32_t half(const ResizeKernel& kernel) {
  return 1 << (kernel.bits - 1);
}

// From position `begin` on.
template <int C>
void resize_row_plain(const std::uint8_t* from, std::uint8_t* to, const ResizeKernel& kernel, std::size_t begin = 0) {
  const std::int16_t* weights = kernel.weights.data() + begin * static_cast<std::size_t>(kernel.taps);
  to += begin * C;
  for (std::size_t i = begin; i < kernel.first.size(); ++i) {
    const std::int32_t first = kernel.first[i];
    const std::int32_t count = kernel.count[i];
    const std::uint8_t* pixel = from + static_cast<std::ptrdiff_t>(first) * C;
    for (int c = 0; c < C; ++c) {
      std::int32_t sum = half(kernel);
      for (int t = 0; t < count; ++t) sum += pixel[t * C + c] * weights[t];
      *to++ = clip(sum, kernel.bits);
    }
    weights += kernel.taps;
  }
}

#if defined(__x86_64__)
constexpr std::size_t columns_at_once = 32;

// A kernel's arrays, looked up once: the pixels that are written might be anything for all that the compiler knows.
struct Taps {
  const std::uint8_t* from;
  const std::int32_t* first;
  const std::int32_t* count;
  const std::int16_t* weights;
  std::ptrdiff_t taps;
};

// What a position's taps add up to, in eight parts. Nearly all kernels have as many taps as fit into one step (`Few`).
template <bool Few>
__attribute__((target("avx2"), always_inline)) inline __m256i weigh(const Taps& kernel, std::size_t i) {
  const std::uint8_t* pixel = kernel.from + kernel.first[i];
  const std::int16_t* weights = kernel.weights + static_cast<std::ptrdiff_t>(i) * kernel.taps;
  const auto step = [&](int t) __attribute__((target("avx2"), always_inline)) {
    const __m256i pixels = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(pixel + t)));
    return _mm256_madd_epi16(pixels, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + t)));
  };
  __m256i sums = step(0);
  if constexpr (!Few) {
    for (int t = ResizeKernel::taps_step; t < kernel.count[i]; t += ResizeKernel::taps_step) {
      sums = _mm256_add_epi32(sums, step(t));
    }
  }
  return sums;
}

// The parts of four positions become their four sums: adding them up side by side is what makes this quick.
template <bool Few>
__attribute__((target("avx2"), always_inline)) inline __m128i add_up(const Taps& kernel, std::size_t i) {
  const __m256i first = _mm256_hadd_epi32(weigh<Few>(kernel, i), weigh<Few>(kernel, i + 1));
  const __m256i second = _mm256_hadd_epi32(weigh<Few>(kernel, i + 2), weigh<Few>(kernel, i + 3));
  const __m256i all = _mm256_hadd_epi32(first, second);
  return _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
}

template <bool Few>
__attribute__((target("avx2"))) std::size_t resize_gray_row_avx2(const std::uint8_t* from, std::uint8_t* to,
                                                                 const ResizeKernel& kernel) {
  constexpr std::size_t step = 8;
  const __m128i rounding = _mm_set1_epi32(half(kernel));
  const __m128i bits = _mm_cvtsi32_si128(kernel.bits);
  const Taps taps{from, kernel.first.data(), kernel.count.data(), kernel.weights.data(), kernel.taps};
  const std::size_t size = kernel.first.size();
  std::size_t i = 0;
  for (; i + step <= size; i += step) {
    const __m128i low = _mm_sra_epi32(_mm_add_epi32(add_up<Few>(taps, i), rounding), bits);
    const __m128i high = _mm_sra_epi32(_mm_add_epi32(add_up<Few>(taps, i + 4), rounding), bits);
    const __m128i words = _mm_packs_epi32(low, high);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to + i), _mm_packus_epi16(words, words));
  }
  return i;
}

// Two pixels at a time: their reds, greens and blues are paired, so that one instruction weighs and adds each pair.
__attribute__((target("avx2"))) void resize_rgb_row_avx2(const std::uint8_t* from, std::uint8_t* to,
                                                         const ResizeKernel& kernel) {
  const __m128i pair_up = _mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1);
  const __m128i rounding = _mm_set1_epi32(half(kernel));
  const __m128i bits = _mm_cvtsi32_si128(kernel.bits);
  const std::int16_t* weights = kernel.weights.data();
  for (std::size_t i = 0; i < kernel.first.size(); ++i) {
    const std::int32_t first = kernel.first[i];
    const std::int32_t count = kernel.count[i];
    const std::uint8_t* pixel = from + static_cast<std::ptrdiff_t>(first) * 3;
    __m128i sums = rounding;
    __m128i more = _mm_setzero_si128();  // a second chain of additions, so that one need not wait for the other
    for (int t = 0; t < count; t += 4, pixel += 12) {
      std::int32_t two[2];
      std::memcpy(two, weights + t, sizeof two);
      const __m128i a = _mm_shuffle_epi8(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(pixel)), pair_up);
      const __m128i b = _mm_shuffle_epi8(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(pixel + 6)), pair_up);
      sums = _mm_add_epi32(sums, _mm_madd_epi16(a, _mm_set1_epi32(two[0])));
      more = _mm_add_epi32(more, _mm_madd_epi16(b, _mm_set1_epi32(two[1])));
    }
    weights += kernel.taps;
    sums = _mm_sra_epi32(_mm_add_epi32(sums, more), bits);
    const __m128i bytes = _mm_packus_epi16(_mm_packs_epi32(sums, sums), sums);
    const std::int32_t rgb = _mm_cvtsi128_si32(bytes);
    std::memcpy(to, &rgb, 3);
    to += 3;
  }
}

// Thirty-two columns at a time stay in registers while all rows go by, two rows at a time. The last ones may be done
// twice, since they are as many again, counted from the end. REQUIRES: at least 32 columns.
__attribute__((target("avx2"))) void mix_rows_avx2(const RowMix& mix, std::uint8_t* to, std::size_t width) {
  constexpr std::size_t step = columns_at_once;
  const __m128i bits = _mm_cvtsi32_si128(mix.bits);
  const __m256i rounding = _mm256_set1_epi32(1 << (mix.bits - 1));
  const RowMix rows = mix;  // a copy: the pixels that are written might be anything for all that the compiler knows
  for (std::size_t at = 0; at < width; at += step) {
    const std::size_t x = std::min(at, width - step);
    __m256i sums[4] = {rounding, rounding, rounding, rounding};  // of eight columns each
    for (int t = 0; t < rows.count; t += 2) {
      const std::uint8_t* above = rows.rows[t] + x;
      const std::uint8_t* below = rows.rows[t + 1 < rows.count ? t + 1 : t] + x;  // its weight is zero then
      std::int32_t two = 0;
      std::memcpy(&two, rows.weights + t, sizeof two);
      const __m256i weights = _mm256_set1_epi32(two);
      for (int part = 0; part < 2; ++part) {
        const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(above + 16 * part));
        const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(below + 16 * part));
        const __m256i low = _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(a, b));
        const __m256i high = _mm256_cvtepu8_epi16(_mm_unpackhi_epi8(a, b));
        sums[2 * part] = _mm256_add_epi32(sums[2 * part], _mm256_madd_epi16(low, weights));
        sums[2 * part + 1] = _mm256_add_epi32(sums[2 * part + 1], _mm256_madd_epi16(high, weights));
      }
    }
    for (__m256i& sum : sums) sum = _mm256_sra_epi32(sum, bits);
    // Packing works on the two halves of a register apart; the last step puts them in order again.
    const __m256i first = _mm256_packs_epi32(sums[0], sums[1]);
    const __m256i second = _mm256_packs_epi32(sums[2], sums[3]);
    const __m256i bytes = _mm256_packus_epi16(first, second);
    const __m256i ordered = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + x), ordered);
  }
}

const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
#endif

}  // namespace

void mix_rows_plain(const RowMix& mix, std::uint8_t* to, std::size_t width) {
  for (std::size_t x = 0; x < width; ++x) {
    std::int32_t sum = 1 << (mix.bits - 1);
    for (int t = 0; t < mix.count; ++t) sum += mix.rows[t][x] * mix.weights[t];
    to[x] = clip(sum, mix.bits);
  }
}

void mix_rows(const RowMix& mix, std::uint8_t* to, std::size_t width) {
#if defined(__x86_64__)
  if (has_avx2 && width >= columns_at_once) return mix_rows_avx2(mix, to, width);
#endif
  mix_rows_plain(mix, to, width);
}

void resize_gray_row_plain(const std::uint8_t* from, std::uint8_t* to, const ResizeKernel& kernel) {
  resize_row_plain<1>(from, to, kernel);
}

void resize_rgb_row_plain(const std::uint8_t* from, std::uint8_t* to, const ResizeKernel& kernel) {
  resize_row_plain<3>(from, to, kernel);
}

void resize_gray_row(const std::uint8_t* from, std::uint8_t* to, const ResizeKernel& kernel) {
  std::size_t done = 0;
#if defined(__x86_64__)
  if (has_avx2) {
    const bool few = kernel.taps == ResizeKernel::taps_step;
    done = (few ? resize_gray_row_avx2<true> : resize_gray_row_avx2<false>)(from, to, kernel);
  }
#endif
  resize_row_plain<1>(from, to, kernel, done);
}

void resize_rgb_row(const std::uint8_t* from, std::uint8_t* to, const ResizeKernel& kernel) {
#if defined(__x86_64__)
  if (has_avx2) return resize_rgb_row_avx2(from, to, kernel);
#endif
  resize_rgb_row_plain(from, to, kernel);
}

}  // namespace lectern::image
