#include "reading/model/prepare.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/async.h"
#include "base/color.h"
#include "image/encode.h"
#include "image/transform.h"
#include "reading/layout/layout.h"
#include "reading/layout/unicode.h"
#include "reading/upright.h"
#include "vision/orientation.h"
#include "vision/quick_orientation.h"

namespace lectern::reading {
namespace {

namespace asio = boost::asio;
using document::OpenDocument;
using document::PageContent;
using document::RenderRequest;

constexpr float orientation_dpi = 200;  // what short trial reads need
constexpr float x_height_share = 0.5F;  // of the font size, in most text faces
constexpr float small_text_share =
    0.1F;  // the size that a tenth of the characters do not pass is "the smallest body text"
constexpr float diagram_share_min = 0.35F;
constexpr int cut_height_px = 512;

float smallest_body_text(const PageContent& content) {
  std::vector<float> sizes;
  sizes.reserve(content.chars.size());
  for (const document::Char& c : content.chars) {
    if (c.code > U' ' && c.size_pt > 0) sizes.push_back(c.size_pt);
  }
  if (sizes.empty()) return 0;
  const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(small_text_share * static_cast<float>(sizes.size()));
  std::ranges::nth_element(sizes, at);
  return *at * x_height_share;
}

std::string words_of(const PageContent& content) {
  std::string text;
  text.reserve(content.chars.size() + 16);
  for (const document::Char& c : content.chars) layout::append_utf8(text, c.code);
  return text;
}

float share_of(const PageContent& content, float area) {
  return area / std::max(1.0F, content.size.width * content.size.height);
}

SizeClass size_class_of(const PageContent& content, bool text) {
  float drawn = 0;
  for (const document::DrawingArea& drawing : content.drawings) drawn += drawing.box.area();
  if (share_of(content, drawn) >= diagram_share_min) return SizeClass::diagram;
  return text ? SizeClass::text : SizeClass::general;
}

bool is_gray(const document::PictureObject& picture) {
  using document::ImageCoding;
  if (picture.coding == ImageCoding::ccitt || picture.coding == ImageCoding::jbig2) return true;
  return picture.coding == ImageCoding::jpeg && picture.bits_per_pixel == 8;
}

// Black on white, as most pages are: a gray picture says the same for less in drawing, encoding and sending.
bool is_gray(const PageContent& content) {
  return content.drawn_in_gray &&
         std::ranges::all_of(content.chars, [](const document::Char& c) { return lectern::is_gray(c.color_rgb); });
}

PageLook look_at(PageContent content) {
  PageLook look;
  look.page_number = content.page_number;
  look.stored_size = content.size;
  look.blank = content.pictures.empty() && content.drawings.empty() && content.chars.empty() && content.fills.empty() &&
               content.rules.empty();
  const bool trusted = judge_text_layer(content).verdict == TextLayer::trusted;
  if (trusted) {
    look.rotation = turn_of_text(content);
    look.rotation_known = true;
    look.words = words_of(content);
    look.shape.text_height_pt = smallest_body_text(content);
  }
  if (content.full_page_scan) {
    const document::PictureObject& scan = content.pictures[*content.full_page_scan];
    look.gray = is_gray(scan);
    look.shape.dpi_stored = static_cast<float>(scan.width_px) * 72 / std::max(1.0F, scan.box.width());
  }
  look.gray |= is_gray(content);
  look.shape.size_class = size_class_of(content, trusted);
  look.shape.size = turned_size(content.size, look.rotation);
  look.content_class = look.blank                                    ? "blank"
                       : look.shape.size_class == SizeClass::diagram ? "diagram"
                       : trusted                                     ? "text"
                                                                     : "";
  return look;
}

// Turned clockwise by so many degrees first.
Result<provider::PromptImage> encoded(document::Rendered rendered, int turn, const PreparerOptions& options) {
  const bool png = options.format == PictureFormat::png;
  image::Image& picture = rendered.image;
  if (turn != 0) picture = image::rotate_quarter(picture, turn);
  if (turn != 0 && rendered.chroma) {
    for (image::Image* colors : {&rendered.chroma->blue, &rendered.chroma->red}) {
      *colors = image::rotate_quarter(*colors, turn);
    }
  }
  auto bytes = png               ? image::encode_png(picture)
               : rendered.chroma ? image::encode_jpeg(picture, *rendered.chroma, options.jpeg_quality)
                                 : image::encode_jpeg(picture, options.jpeg_quality);
  if (!bytes) return std::unexpected(bytes.error());
  return provider::PromptImage{std::make_shared<const std::vector<std::uint8_t>>(std::move(*bytes)),
                               png ? "image/png" : "image/jpeg"};
}

// The emptiest row of the middle third: the mean of what it and its neighbours hold in ink.
int emptiest_row(const image::Image& gray) {
  constexpr int reach = 3;
  std::vector<double> ink(static_cast<std::size_t>(gray.height_px));
  for (int y = 0; y < gray.height_px; ++y) {
    const std::uint8_t* row = gray.row(y);
    for (int x = 0; x < gray.width_px; ++x) ink[static_cast<std::size_t>(y)] += 255 - row[x];
  }
  int best = gray.height_px / 2;
  double least = -1;
  for (int y = gray.height_px / 3; y < gray.height_px * 2 / 3; ++y) {
    double around = 0;
    for (int k = std::max(0, y - reach); k <= std::min(gray.height_px - 1, y + reach); ++k) {
      around += ink[static_cast<std::size_t>(k)];
    }
    // Of equally empty rows the one nearest to the middle.
    around += std::abs(y - gray.height_px / 2) * 1e-3;
    if (least < 0 || around < least) {
      least = around;
      best = y;
    }
  }
  return best;
}

}  // namespace

void PageLook::turn_further(int clockwise_degrees) {
  rotation = ((rotation + clockwise_degrees) % 360 + 360) % 360;
  rotation_known = true;
  turned_by_model = true;
  shape.size = turned_size(stored_size, rotation);
}

PagePreparer::PagePreparer(PreparerOptions options, CpuPool& cpu)
    : options_(std::move(options)),
      cpu_(cpu),
      looks_(1),
      engines_(1),
      searches_(std::make_shared<PageGate>([] { return 1; })) {}

asio::awaitable<Result<PageLook>> PagePreparer::look(std::shared_ptr<OpenDocument> document, int page_number) {
  document::PageHold hold = document->hold(page_number);
  auto content = co_await document->inspect(page_number);
  if (!content) co_return std::unexpected(content.error());
  auto judge = [&content] { return look_at(std::move(*content)); };
  PageLook look = co_await looks_.run(std::move(judge));
  if (!look.blank) look.hold = std::move(hold);
  co_return look;
}

asio::awaitable<Result<provider::PromptImage>> PagePreparer::draw(std::shared_ptr<OpenDocument> document,
                                                                  PageLook* look, DrawOptions options) {
  const bool sideways = look->rotation % 180 != 0;
  RenderRequest request;
  request.page_number = look->page_number;
  request.width_px_max = sideways ? options.size.height : options.size.width;
  request.height_px_max = sideways ? options.size.width : options.size.height;
  request.exact = true;
  request.format = look->gray ? image::PixelFormat::gray8 : image::PixelFormat::rgb24;
  if (options.part) request.clip = turned_box(*options.part, look->shape.size, 360 - look->rotation);
  const bool rotation_wanted = options_.auto_rotate && !look->rotation_known && !look->blank;
  // Stored bytes are of use only when nothing has to be done to them, or looked up in them.
  request.allow_passthrough =
      options_.format == PictureFormat::jpeg && look->rotation == 0 && !rotation_wanted && !options.part;
  request.allow_chroma = options_.format == PictureFormat::jpeg;
  auto rendered = co_await document->render(std::move(request));
  look->hold.reset();
  if (!rendered) co_return std::unexpected(rendered.error());
  if (!rendered->jpeg.empty()) {
    co_return provider::PromptImage{std::make_shared<const std::vector<std::uint8_t>>(std::move(rendered->jpeg)),
                                    "image/jpeg"};
  }
  int turn = look->rotation;
  if (rotation_wanted) {
    // A page whose direction cannot be searched for (no OCR data, say) is shown as it stands: models read it too.
    turn = (co_await find_rotation(document, look, &rendered->image)).value_or(0);
    look->rotation = turn;
    look->rotation_known = true;
    look->shape.size = turned_size(look->stored_size, turn);
  }
  auto encode = [this, turn, &rendered] { return encoded(std::move(*rendered), turn, options_); };
  co_return co_await cpu_.run(std::move(encode));
}

asio::awaitable<Result<int>> PagePreparer::find_rotation(std::shared_ptr<OpenDocument> document, const PageLook* look,
                                                         const image::Image* picture) {
  auto glance = [picture] {
    const bool gray = picture->format == image::PixelFormat::gray8;
    return vision::quick_orientation(gray ? *picture : image::to_gray(*picture));
  };
  const vision::QuickOrientation quick = co_await cpu_.run(std::move(glance));
  if (quick.surely_upright()) co_return 0;
  const PageGate::Place place = co_await searches_->enter();
  RenderRequest request;
  request.page_number = look->page_number;
  request.dpi = orientation_dpi;
  auto rendered = co_await document->render(std::move(request));
  if (!rendered) co_return std::unexpected(rendered.error());
  auto search = [this, &rendered]() -> Result<int> {
    const vision::OcrOptions options{.languages = options_.languages, .data_folder = options_.tessdata_folder};
    auto engine = engines_.acquire(options);
    if (!engine) return std::unexpected(engine.error());
    const auto orientation = vision::find_orientation(rendered->image, **engine);
    if (!orientation) return std::unexpected(orientation.error());
    return orientation->clockwise_degrees;
  };
  co_return co_await cpu_.run(std::move(search));
}

asio::awaitable<Result<float>> PagePreparer::find_cut(std::shared_ptr<OpenDocument> document, const PageLook* look) {
  const SizePt page = look->shape.size;
  auto drawn = co_await draw_part(document, look, RectPt{0, 0, page.width, page.height},
                                  cut_height_px * 72 / std::max(1.0F, page.height));
  if (!drawn) co_return std::unexpected(drawn.error());
  auto search = [&drawn, page] {
    const image::Image gray = drawn->format == image::PixelFormat::gray8 ? std::move(*drawn) : image::to_gray(*drawn);
    return static_cast<float>(emptiest_row(gray)) * page.height / static_cast<float>(std::max(1, gray.height_px));
  };
  co_return co_await cpu_.run(std::move(search));
}

asio::awaitable<Result<image::Image>> PagePreparer::draw_part(std::shared_ptr<OpenDocument> document,
                                                              const PageLook* look, RectPt part, float dpi) {
  RenderRequest request;
  request.page_number = look->page_number;
  request.dpi = dpi;
  request.format = image::PixelFormat::rgb24;
  request.clip = turned_box(part, look->shape.size, 360 - look->rotation);
  auto rendered = co_await document->render(std::move(request));
  if (!rendered) co_return std::unexpected(rendered.error());
  if (look->rotation == 0) co_return std::move(rendered->image);
  auto turn = [&rendered, look] { return image::rotate_quarter(rendered->image, look->rotation); };
  co_return co_await cpu_.run(std::move(turn));
}

}  // namespace lectern::reading
