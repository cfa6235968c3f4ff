#include "base/base64.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lectern {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Two characters for each twelve bits: half as many lookups as one character at a time, and 8 KiB stay in cache.
constexpr auto pairs = [] {
  std::array<std::array<char, 2>, 4096> table{};
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = {alphabet[i >> 6], alphabet[i & 63]};
  return table;
}();

std::size_t encode_scalar(std::span<const std::uint8_t> bytes, char* out) {
  const std::uint8_t* in = bytes.data();
  const char* const begin = out;
  std::size_t left = bytes.size();
  for (; left >= 3; left -= 3, in += 3, out += 4) {
    const unsigned word = (unsigned{in[0]} << 16) | (unsigned{in[1]} << 8) | in[2];
    std::memcpy(out, pairs[word >> 12].data(), 2);
    std::memcpy(out + 2, pairs[word & 0xfff].data(), 2);
  }
  if (left > 0) {
    const unsigned word = (unsigned{in[0]} << 16) | (left == 2 ? unsigned{in[1]} << 8 : 0);
    std::memcpy(out, pairs[word >> 12].data(), 2);
    out[2] = left == 2 ? alphabet[(word >> 6) & 63] : '=';
    out[3] = '=';
    out += 4;
  }
  return static_cast<std::size_t>(out - begin);
}

#if defined(__x86_64__)
// Both vector versions work alike. (1) A byte shuffle gives each 32-bit lane its three bytes as b1 b0 b2 b1. (2) Two
// multiplications act as shifts by different amounts and leave one 6-bit value in each byte. (3) A value becomes a
// character by adding an offset that depends only on the range it lies in: the ranges are numbered with a saturating
// subtraction and a comparison, and a shuffle looks the offset up.

__attribute__((target("ssse3"))) inline __m128i split_sextets(__m128i lanes) {
  const __m128i high = _mm_mulhi_epu16(_mm_and_si128(lanes, _mm_set1_epi32(0x0fc0fc00)), _mm_set1_epi32(0x04000040));
  const __m128i low = _mm_mullo_epi16(_mm_and_si128(lanes, _mm_set1_epi32(0x003f03f0)), _mm_set1_epi32(0x01000010));
  return _mm_or_si128(high, low);
}

__attribute__((target("ssse3"))) inline __m128i to_characters(__m128i sextets) {
  const __m128i offsets = _mm_setr_epi8('a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
                                        '0' - 52, '0' - 52, '0' - 52, '+' - 62, '/' - 63, 'A', 0, 0);
  const __m128i above = _mm_subs_epu8(sextets, _mm_set1_epi8(51));  // 0 for letters, 1…10 digits, 11 '+', 12 '/'
  const __m128i upper_case = _mm_and_si128(_mm_cmpgt_epi8(_mm_set1_epi8(26), sextets), _mm_set1_epi8(13));
  return _mm_add_epi8(sextets, _mm_shuffle_epi8(offsets, _mm_or_si128(above, upper_case)));
}

__attribute__((target("ssse3"))) std::size_t encode_ssse3(std::span<const std::uint8_t> bytes, char* out) {
  const std::uint8_t* in = bytes.data();
  const char* const begin = out;
  std::size_t left = bytes.size();
  const __m128i spread = _mm_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10);
  for (; left >= 16; left -= 12, in += 12, out += 16) {  // loads 16, uses 12
    const __m128i loaded = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), to_characters(split_sextets(_mm_shuffle_epi8(loaded, spread))));
  }
  return static_cast<std::size_t>(out - begin) + encode_scalar({in, left}, out);
}

__attribute__((target("avx2"))) inline __m256i split_sextets(__m256i lanes) {
  const __m256i high =
      _mm256_mulhi_epu16(_mm256_and_si256(lanes, _mm256_set1_epi32(0x0fc0fc00)), _mm256_set1_epi32(0x04000040));
  const __m256i low =
      _mm256_mullo_epi16(_mm256_and_si256(lanes, _mm256_set1_epi32(0x003f03f0)), _mm256_set1_epi32(0x01000010));
  return _mm256_or_si256(high, low);
}

__attribute__((target("avx2"))) inline __m256i to_characters(__m256i sextets) {
  const __m256i offsets =
      _mm256_broadcastsi128_si256(_mm_setr_epi8('a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
                                                '0' - 52, '0' - 52, '0' - 52, '0' - 52, '+' - 62, '/' - 63, 'A', 0, 0));
  const __m256i above = _mm256_subs_epu8(sextets, _mm256_set1_epi8(51));
  const __m256i upper_case = _mm256_and_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8(26), sextets), _mm256_set1_epi8(13));
  return _mm256_add_epi8(sextets, _mm256_shuffle_epi8(offsets, _mm256_or_si256(above, upper_case)));
}

__attribute__((target("avx2"))) std::size_t encode_avx2(std::span<const std::uint8_t> bytes, char* out) {
  const std::uint8_t* in = bytes.data();
  const char* const begin = out;
  std::size_t left = bytes.size();
  const __m256i spread = _mm256_broadcastsi128_si256(_mm_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10));
  for (; left >= 28; left -= 24, in += 24, out += 32) {  // two loads of 16 that use 12 each; the second ends at byte 28
    const __m256i loaded =
        _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in))),
                                _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 12)), 1);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                        to_characters(split_sextets(_mm256_shuffle_epi8(loaded, spread))));
  }
  return static_cast<std::size_t>(out - begin) + encode_scalar({in, left}, out);
}
#endif

}  // namespace

std::vector<Base64Encoder> base64_encoders() {
  std::vector<Base64Encoder> encoders = {{"scalar", encode_scalar}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("ssse3")) encoders.push_back({"ssse3", encode_ssse3});
  if (__builtin_cpu_supports("avx2")) encoders.push_back({"avx2", encode_avx2});
#endif
  return encoders;
}

std::size_t base64_encode(std::span<const std::uint8_t> bytes, char* out) {
  static const auto encode = base64_encoders().back().encode;
  return encode(bytes, out);
}

std::string base64_encode(std::span<const std::uint8_t> bytes) {
  std::string text(base64_size(bytes.size()), '\0');
  base64_encode(bytes, text.data());
  return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 == 0 && text.ends_with('=')) text.remove_suffix(text.ends_with("==") ? 2 : 1);
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  int count = 0;  // of the bits that wait
  for (const char c : text) {
    const std::size_t value = alphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xffU);
  }
  if (text.size() % 4 == 1 || (bits & ((1U << count) - 1)) != 0) return std::nullopt;
  return out;
}

}  // namespace lectern
