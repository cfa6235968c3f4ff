#include "document/protocol.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace lectern::document {
namespace {

using protocol::Payload;

// Values of every shape that an honest renderer sends, drawn from a seed.
class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool coin() { return between(0, 1) == 1; }
  float number() { return static_cast<float>(between(-100'000, 100'000)) / 7.0F; }
  std::string text() {
    static const std::vector<std::string> pieces = {"a", "Z9", " ", "é", "日本", "\U0001F600", "ß", "-"};
    std::string made;
    for (int i = between(0, 12); i > 0; --i) made += pieces[static_cast<std::size_t>(between(0, 7))];
    return made;
  }
  RectPt rect() { return {number(), number(), number(), number()}; }
  std::uint32_t color() { return static_cast<std::uint32_t>(between(0, 0xFFFFFF)); }

  PageContent content() {
    PageContent made;
    made.page_number = between(1, 1'000'000);
    made.size = {std::abs(number()), std::abs(number())};
    made.page_rotate = 90 * between(0, 3);
    for (int i = between(0, 4); i > 0; --i) made.fonts.push_back({text(), coin(), coin(), coin(), coin()});
    for (int i = made.fonts.empty() ? 0 : between(0, 40); i > 0; --i) {
      Char c;
      c.code = coin() ? U'x' : U'\U0001F600';
      c.font = static_cast<std::uint16_t>(between(0, static_cast<int>(made.fonts.size()) - 1));
      c.flags = static_cast<std::uint16_t>(between(0, 31));
      c.color_rgb = color();
      c.size_pt = number();
      c.angle_deg = number();
      c.box = rect();
      c.loose = rect();
      made.chars.push_back(c);
    }
    for (int i = between(0, 5); i > 0; --i) made.rules.push_back({rect(), color()});
    for (int i = between(0, 5); i > 0; --i) made.fills.push_back({rect(), color()});
    for (int i = between(0, 5); i > 0; --i) {
      made.pictures.push_back({between(0, 99), rect(), between(0, 9999), between(0, 9999), between(1, 32),
                               static_cast<ImageCoding>(between(0, 5))});
    }
    for (int i = between(0, 5); i > 0; --i) made.drawings.push_back({rect(), between(0, 99)});
    for (int i = between(0, 5); i > 0; --i) made.links.push_back({rect(), text(), between(0, 99)});
    made.drawn_in_gray = coin();
    made.truncated = coin();
    if (!made.pictures.empty() && coin()) {
      made.full_page_scan = static_cast<std::uint32_t>(between(0, static_cast<int>(made.pictures.size()) - 1));
    }
    return made;
  }

  DocumentInfo info() {
    DocumentInfo made;
    made.kind = static_cast<DocumentKind>(between(0, 5));
    made.pages = between(0, protocol::caps.pages);
    made.title = text();
    for (int i = between(0, 5); i > 0; --i) made.outline.push_back({between(1, 9), text(), between(0, 99)});
    return made;
  }

  RenderRequest request() {
    RenderRequest made;
    made.page_number = between(1, 99);
    made.dpi = number();
    made.width_px_max = between(0, 9999);
    made.height_px_max = between(0, 9999);
    made.format = coin() ? image::PixelFormat::gray8 : image::PixelFormat::rgb24;
    if (coin()) made.clip = rect();
    made.exact = coin();
    made.allow_passthrough = coin();
    made.allow_chroma = coin();
    made.native_dpi_max = number();
    return made;
  }

 private:
  std::mt19937 random_;
};

TEST(Protocol, EveryValueComesBackAsItWas) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Maker make(seed);
    const PageContent content = make.content();
    EXPECT_EQ(protocol::decode_content(protocol::encode(content)).value(), content);
    const DocumentInfo info = make.info();
    EXPECT_EQ(protocol::decode_opened(protocol::encode(info)).value(), info);
    const RenderRequest request = make.request();
    EXPECT_EQ(protocol::decode_render(protocol::encode(request)).value(), request);
    const protocol::OpenCall open{make.text() + '\x01', make.between(1, 1'000'000)};
    EXPECT_EQ(protocol::decode_open(protocol::encode(open)).value(), open);
    const Error error{static_cast<ErrorKind>(make.between(0, 8)), make.text(), make.text()};
    EXPECT_EQ(protocol::decode_error(protocol::encode(error)).value(), error);
    const SandboxReport report{make.coin(), make.between(0, 9),         make.coin(),
                               make.coin(), {make.text(), make.text()}, make.text()};
    EXPECT_EQ(protocol::decode_hello(protocol::encode(report)).value(), report);
    const int page_number = make.between(1, 1'000'000);
    EXPECT_EQ(protocol::decode_inspect(protocol::encode_page_number(page_number)).value(), page_number);
  }
}

// The host makes lists of pages: a renderer that was taken over must not make it run out of memory.
TEST(Protocol, NobodyHasBillionsOfPages) {
  DocumentInfo info{.kind = DocumentKind::pdf, .pages = protocol::caps.pages};
  EXPECT_TRUE(protocol::decode_opened(protocol::encode(info)));
  info.pages = std::numeric_limits<int>::max();
  EXPECT_EQ(protocol::decode_opened(protocol::encode(info)).error().kind, ErrorKind::corrupt);
}

TEST(Protocol, ACutMessageIsCorruptWhereverItIsCut) {
  Maker make(7);
  PageContent content = make.content();
  content.fonts.resize(1);
  content.chars.resize(1);
  content.chars[0].font = 0;
  const Payload whole = protocol::encode(content);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto decoded = protocol::decode_content(std::span(whole).first(size));
    ASSERT_FALSE(decoded.has_value()) << size;
    EXPECT_EQ(decoded.error().kind, ErrorKind::corrupt);
  }
  Payload longer = whole;
  longer.push_back(0);
  EXPECT_EQ(protocol::decode_content(longer).error().kind, ErrorKind::corrupt);
}

// Whatever byte an enemy changes, the result is an error or a value that keeps every promise: encoding it again gives
// the very same bytes only if nothing in it had to be brought into range.
TEST(Protocol, AChangedMessageIsCorruptOrSound) {
  Maker make(11);
  PageContent content = make.content();
  while (content.chars.size() < 3 || content.pictures.empty() || !content.full_page_scan) content = make.content();
  const Payload whole = protocol::encode(content);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      Payload changed = whole;
      changed[at] = static_cast<std::uint8_t>(changed[at] ^ (1U << bit));
      const auto decoded = protocol::decode_content(changed);
      if (decoded) {
        EXPECT_EQ(protocol::encode(*decoded), changed) << at;
      } else {
        EXPECT_EQ(decoded.error().kind, ErrorKind::corrupt);
      }
    }
  }
}

TEST(Protocol, LiesAreFound) {
  PageContent sound;
  sound.page_number = 1;
  sound.size = {612, 792};
  sound.fonts.push_back({.name = "F"});
  sound.chars.push_back({.code = U'x'});
  ASSERT_TRUE(protocol::decode_content(protocol::encode(sound)));

  PageContent wrong_font = sound;
  wrong_font.chars[0].font = 1;
  EXPECT_EQ(protocol::decode_content(protocol::encode(wrong_font)).error().kind, ErrorKind::corrupt);
  PageContent no_fonts = sound;
  no_fonts.fonts.clear();
  EXPECT_FALSE(protocol::decode_content(protocol::encode(no_fonts)));
  PageContent odd_turn = sound;
  odd_turn.page_rotate = 45;
  EXPECT_FALSE(protocol::decode_content(protocol::encode(odd_turn)));
  PageContent page_zero = sound;
  page_zero.page_number = 0;
  EXPECT_FALSE(protocol::decode_content(protocol::encode(page_zero)));
}

// A number that is not finite on the wire can only be a lie: the encoder never writes one.
TEST(Protocol, NumbersOnTheWireAreFinite) {
  PageContent content;
  content.page_number = 1;
  content.size = {612, 792};
  Payload bytes = protocol::encode(content);
  const float infinite = std::numeric_limits<float>::infinity();
  std::memcpy(bytes.data() + 4, &infinite, sizeof infinite);
  EXPECT_EQ(protocol::decode_content(bytes).error().kind, ErrorKind::corrupt);

  content.size.width = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(protocol::decode_content(protocol::encode(content)).value().size.width, 0);
}

TEST(Protocol, TextsAreCleanedBeforeTheyAreSentAndRefusedOtherwise) {
  const Error odd{ErrorKind::corrupt, "bell\x07 and \xFF\xFE", std::string(10'000, 'x')};
  const auto decoded = protocol::decode_error(protocol::encode(odd));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->for_log, "bell  and \uFFFD\uFFFD");
  EXPECT_EQ(decoded->for_caller.size(), protocol::caps.text_bytes);

  Payload escape = protocol::encode(Error{ErrorKind::corrupt, "abc", "def"});
  escape[5] = 0x1B;  // the first letter of for_log: a terminal would obey it
  EXPECT_EQ(protocol::decode_error(escape).error().kind, ErrorKind::corrupt);
}

TEST(Protocol, WhatIsTooMuchIsCutAndSaidSo) {
  PageContent content;
  content.page_number = 1;
  content.rules.resize(protocol::caps.rules + 1);
  const auto decoded = protocol::decode_content(protocol::encode(content));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->rules.size(), protocol::caps.rules);
  EXPECT_TRUE(decoded->truncated);
}

TEST(Protocol, ACountThatLiesReservesNothing) {
  PageContent content;
  content.page_number = 1;
  Payload bytes = protocol::encode(content);
  const std::uint32_t many = 400'000;
  std::memcpy(bytes.data() + 20, &many, sizeof many);  // the number of characters, after size, turn and fonts
  EXPECT_EQ(protocol::decode_content(bytes).error().kind, ErrorKind::corrupt);
}

TEST(Protocol, HeaderKeepsItsLimits) {
  using protocol::Header;
  using protocol::MessageType;
  const Header header{MessageType::content, 42, 1000};
  EXPECT_EQ(protocol::decode_header(protocol::encode_header(header)).value(), header);
  const Header too_long{MessageType::rendered, 42, 1 << 20};
  EXPECT_EQ(protocol::decode_header(protocol::encode_header(too_long)).error().kind, ErrorKind::corrupt);
  auto other_version = protocol::encode_header(header);
  other_version[4] ^= 0x40;
  EXPECT_EQ(protocol::decode_header(other_version).error().kind, ErrorKind::corrupt);
  auto unknown_type = protocol::encode_header(header);
  unknown_type[6] = 77;
  EXPECT_EQ(protocol::decode_header(unknown_type).error().kind, ErrorKind::corrupt);
}

TEST(Protocol, APictureMustFitWindowAndLimit) {
  protocol::RenderedInWindow sound;
  sound.width_px = 100;
  sound.height_px = 50;
  sound.bytes = 5000;
  const auto decode = [](const protocol::RenderedInWindow& shown) {
    return protocol::decode_rendered(protocol::encode(shown), 1 << 20, 10'000);
  };
  EXPECT_EQ(decode(sound).value(), sound);

  const auto lie = [&](auto change) {
    protocol::RenderedInWindow changed = sound;
    change(changed);
    return !decode(changed).has_value();
  };
  EXPECT_TRUE(lie([](auto& s) { s.height_px = 51; }));
  EXPECT_TRUE(lie([](auto& s) { s.bytes = 4999; }));
  EXPECT_TRUE(lie([](auto& s) {
    s.width_px = 0;
    s.bytes = 0;
  }));
  EXPECT_TRUE(lie([](auto& s) {
    s.width_px = -100;
    s.height_px = -50;
  }));
  EXPECT_TRUE(lie([](auto& s) {
    s.width_px = 1000;
    s.bytes = 50'000;
  }));  // above the pixel limit
  EXPECT_TRUE(lie([](auto& s) { s.px_per_pt = 0; }));
  EXPECT_TRUE(lie([](auto& s) { s.jpeg = true; }));  // but not passed through
  EXPECT_TRUE(lie([](auto& s) {
    s.jpeg = true;
    s.path = RenderPath::passthrough;
    s.bytes = (1 << 20) + 1;
  }));
}

TEST(Protocol, ColoursApartMustFitTheirGray) {
  protocol::RenderedInWindow sound;
  sound.width_px = 100;
  sound.height_px = 50;
  sound.chroma = true;
  sound.bytes = 5000 + 2 * 1250;
  const auto decode = [](const protocol::RenderedInWindow& shown) {
    return protocol::decode_rendered(protocol::encode(shown), 1 << 20, 10'000);
  };
  EXPECT_EQ(decode(sound).value(), sound);
  const auto lie = [&](auto change) {
    protocol::RenderedInWindow changed = sound;
    change(changed);
    return !decode(changed).has_value();
  };
  EXPECT_TRUE(lie([](auto& s) { s.bytes = 5000; }));
  EXPECT_TRUE(lie([](auto& s) { s.format = image::PixelFormat::rgb24; }));
  EXPECT_TRUE(lie([](auto& s) {
    s.height_px = 51;
    s.bytes = 5100 / 2 * 3;
  }));
  EXPECT_TRUE(lie([](auto& s) {
    s.jpeg = true;
    s.path = RenderPath::passthrough;
  }));
}

}  // namespace
}  // namespace lectern::document
