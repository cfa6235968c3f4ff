// A document of one page that says what it was told to, and counts what is asked of it.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "document/renderer_pool.h"

namespace lectern::reading {

namespace asio = boost::asio;

class OnePageDocument final : public document::OpenDocument {
 public:
  const document::DocumentInfo& info() const override { return info_; }
  asio::awaitable<Result<document::PageContent>> inspect(int page_number) override {
    ++inspected;
    if (inspect_error) co_return std::unexpected(*inspect_error);
    content.page_number = page_number;
    co_return content;
  }
  asio::awaitable<Result<document::Rendered>> render(document::RenderRequest request) override {
    requests.push_back(request);
    if (when_rendered) when_rendered();
    document::Rendered rendered;
    const bool box = request.width_px_max > 0;
    rendered.width_px = box ? request.width_px_max : 300;
    rendered.height_px = box ? request.height_px_max : 200;
    rendered.image = image::Image(rendered.width_px, rendered.height_px, request.format);
    std::ranges::fill(rendered.image.pixels, std::uint8_t{255});
    rendered.px_per_pt = 300.0F / 72;
    if (render_error) co_return std::unexpected(*render_error);
    co_return rendered;
  }

  document::PageContent content;
  std::optional<Error> inspect_error;
  std::optional<Error> render_error;
  int inspected = 0;
  std::vector<document::RenderRequest> requests;
  std::function<void()> when_rendered;

 private:
  document::DocumentInfo info_{document::DocumentKind::pdf, 1, "", {}};
};

inline document::PageContent page_of_prose() {
  document::PageContent content;
  content.size = {595, 842};
  content.fonts.push_back({"Times", false, false, false, true});
  const std::u32string text =
      U"The committee met on Tuesday and agreed that the old bridge should be repaired before winter comes.";
  for (int line = 0; line < 5; ++line) {
    float x = 72;
    for (const char32_t code : text) {
      document::Char c;
      c.code = code;
      c.size_pt = 11;
      const float y = 100 + static_cast<float>(line) * 14;
      c.box = c.loose = {x, y, x + 4.4F, y + 11};
      x += 4.4F;
      content.chars.push_back(c);
    }
  }
  return content;
}

}  // namespace lectern::reading
