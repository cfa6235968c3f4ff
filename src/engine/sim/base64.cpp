#include "engine/sim/base64.h"

#include <array>

namespace lectern::sim {
namespace {

constexpr std::uint32_t bad = 0x8000'0000U;

// value << shift for letters of the alphabet, `bad` for all others: four lookups and one test make three bytes.
constexpr std::array<std::uint32_t, 256> make_table(int shift) {
  std::array<std::uint32_t, 256> table{};
  table.fill(bad);
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::uint32_t value = 0; value < 64; ++value)
    table[static_cast<unsigned char>(alphabet[value])] = value << static_cast<unsigned>(shift);
  return table;
}
constexpr auto first = make_table(18);
constexpr auto second = make_table(12);
constexpr auto third = make_table(6);
constexpr auto fourth = make_table(0);

}  // namespace

std::optional<std::size_t> decode_base64(std::string_view text, std::span<std::uint8_t> out) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  const auto* in = reinterpret_cast<const unsigned char*>(text.data());
  std::uint8_t* to = out.data();
  const std::size_t whole = (text.size() - (padding != 0 ? 4 : 0)) / 4;
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < whole; ++i, in += 4, to += 3) {
    const std::uint32_t bits = first[in[0]] | second[in[1]] | third[in[2]] | fourth[in[3]];
    seen |= bits;
    to[0] = static_cast<std::uint8_t>(bits >> 16U);
    to[1] = static_cast<std::uint8_t>(bits >> 8U);
    to[2] = static_cast<std::uint8_t>(bits);
  }
  if (padding != 0) {
    const std::uint32_t bits = first[in[0]] | second[in[1]] | (padding == 1 ? third[in[2]] : 0U);
    seen |= bits;
    *to++ = static_cast<std::uint8_t>(bits >> 16U);
    if (padding == 1) *to++ = static_cast<std::uint8_t>(bits >> 8U);
  }
  if ((seen & bad) != 0) return std::nullopt;
  return static_cast<std::size_t>(to - out.data());
}

}  // namespace lectern::sim
