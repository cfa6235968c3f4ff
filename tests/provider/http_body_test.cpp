#include "provider/http_body.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/random.h"

namespace lectern::provider {
namespace {

SharedBytes noise(std::size_t size, Random& random) {
  std::vector<std::uint8_t> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
  return std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes));
}

std::string read_by(const HttpBody& body, std::size_t step) {
  HttpBodyReader reader(body);
  std::string text;
  std::string buffer(step, '\0');
  while (const std::size_t count = reader.read(buffer)) text.append(buffer, 0, count);
  return text;
}

TEST(HttpBody, IsTheSameWhateverTheBuffer) {
  SeededRandom random(3);
  for (std::size_t size = 0; size < 40; ++size) {
    const SharedBytes picture = noise(size, random);
    const SharedBytes raw = noise(5, random);
    const HttpBody body({BodyPiece("<"), BodyPiece(Base64Piece{picture}), BodyPiece("|"), BodyPiece(RawPiece{raw}),
                         BodyPiece(""), BodyPiece(Base64Piece{picture}), BodyPiece(">")});
    const std::string expected =
        "<" + base64_encode(*picture) + "|" + std::string(raw->begin(), raw->end()) + base64_encode(*picture) + ">";
    EXPECT_EQ(body.size(), expected.size());
    EXPECT_EQ(body.to_string(), expected);
    for (std::size_t step = 1; step < 20; ++step) ASSERT_EQ(read_by(body, step), expected) << size << " by " << step;
  }
}

TEST(HttpBody, RewindsInTheMiddle) {
  SeededRandom random(4);
  const HttpBody body({BodyPiece("abc"), BodyPiece(Base64Piece{noise(1000, random)})});
  HttpBodyReader reader(body);
  std::string part(101, '\0');
  ASSERT_EQ(reader.read(part), part.size());
  reader.rewind();
  std::string whole(body.size(), '\0');
  ASSERT_EQ(reader.read(whole), whole.size());
  EXPECT_EQ(whole, body.to_string());
  EXPECT_EQ(reader.read(part), 0U) << "the end";
}

TEST(HttpBody, OneTextIsKnownAsSuch) {
  EXPECT_EQ(*HttpBody({BodyPiece("all")}).only_text(), "all");
  EXPECT_EQ(HttpBody({BodyPiece("a"), BodyPiece("b")}).only_text(), nullptr);
  EXPECT_EQ(HttpBody().only_text(), nullptr);
  EXPECT_EQ(HttpBody().size(), 0U);
}

TEST(HttpBody, SharesText) {
  const auto text = std::make_shared<const std::string>("shared words");
  const HttpBody body({BodyPiece("<"), BodyPiece(SharedTextPiece{text}), BodyPiece(">")});
  EXPECT_EQ(body.size(), 14U);
  for (const std::size_t step : {1U, 3U, 100U}) EXPECT_EQ(read_by(body, step), "<shared words>");
  EXPECT_EQ(text.use_count(), 2) << "not copied";
}

}  // namespace
}  // namespace lectern::provider
