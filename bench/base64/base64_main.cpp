// Base64 of a page picture, in one run: a character at a time, OpenSSL's EVP_EncodeBlock, each of our encoders, and the
// body reader that feeds libcurl in pieces of its buffer. The best of several rounds, in GB of input a second.
#include <fmt/format.h>
#include <openssl/evp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/base64.h"
#include "base/random.h"
#include "provider/http_body.h"

namespace {

using Bytes = std::vector<std::uint8_t>;

// What one writes without thinking about it.
std::size_t plain_encode(std::span<const std::uint8_t> bytes, char* out) {
  static constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char* const begin = out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const unsigned second = i + 1 < bytes.size() ? bytes[i + 1] : 0;
    const unsigned third = i + 2 < bytes.size() ? bytes[i + 2] : 0;
    const unsigned word = unsigned{bytes[i]} << 16 | second << 8 | third;
    *out++ = alphabet[word >> 18];
    *out++ = alphabet[word >> 12 & 63];
    *out++ = i + 1 < bytes.size() ? alphabet[word >> 6 & 63] : '=';
    *out++ = i + 2 < bytes.size() ? alphabet[word & 63] : '=';
  }
  return static_cast<std::size_t>(out - begin);
}

double best_gigabytes_a_second(std::size_t bytes, const std::function<void()>& work) {
  double best = 0;
  for (int round = 0; round < 15; ++round) {
    const auto start = std::chrono::steady_clock::now();
    int runs = 0;
    double seconds = 0;
    do {
      work();
      ++runs;
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    } while (seconds < 0.02);
    best = std::max(best, static_cast<double>(bytes) * runs / seconds / 1e9);
  }
  return best;
}

void print_row(std::string_view name, std::size_t bytes, const std::function<void()>& work) {
  const double speed = best_gigabytes_a_second(bytes, work);
  fmt::print("| {:<28} | {:>6} KB | {:>6.2f} GB/s | {:>8.1f} µs |\n", name, bytes / 1000, speed,
             static_cast<double>(bytes) / speed / 1e3);
}

void measure(std::size_t size) {
  lectern::SeededRandom random(1);
  Bytes bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
  std::string out(lectern::base64_size(size) + 1, '\0');
  print_row("plain scalar", size, [&] { plain_encode(bytes, out.data()); });
  print_row("OpenSSL EVP_EncodeBlock", size, [&] {
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes.data(), static_cast<int>(bytes.size()));
  });
  for (const auto& encoder : lectern::base64_encoders()) {
    print_row("lectern " + std::string(encoder.name), size, [&] { encoder.encode(bytes, out.data()); });
  }
  const lectern::provider::HttpBody body({"{\"url\":\"data:image/jpeg;base64,",
                                          lectern::provider::Base64Piece{std::make_shared<const Bytes>(bytes)}, "\"}"});
  std::vector<char> buffer(128U << 10);
  print_row("lectern body, 128 KiB pieces", size, [&] {
    lectern::provider::HttpBodyReader reader(body);
    while (reader.read(buffer) > 0) {
    }
  });
}

}  // namespace

int main() {
  fmt::print("| encoder                      |    input |       speed | a picture   |\n|---|--:|--:|--:|\n");
  for (const std::size_t size : {150'000, 2'000'000}) measure(size);
}
