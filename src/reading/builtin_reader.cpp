// The reader that needs no engine. One page: inspect → judge the text layer → lay it out, or render and read pixels;
// then save figures, and read the text inside pictures that a digital page holds.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

#include "base/async.h"
#include "base/clock.h"
#include "image/transform.h"
#include "reading/layout/layout.h"
#include "reading/page_reader.h"
#include "reading/scan_reader.h"
#include "reading/upright.h"
#include "vision/languages.h"
#include "vision/ocr.h"
#include "vision/ocr_pool.h"

namespace lectern::reading {
namespace {

namespace asio = boost::asio;
using document::OpenDocument;
using document::PageContent;
using document::Rendered;
using document::RenderRequest;

// Raised whenever the same page would be read differently (layout, judging, OCR settings), so that journals of earlier
// versions are not taken for current.
constexpr int reader_revision = 1;

constexpr float ocr_dpi = 300;       // what Tesseract's models were trained for
constexpr float ocr_dpi_more = 150;  // a scan of up to 450 dpi is read at its own resolution rather than resampled
constexpr float figure_dpi = 150;
constexpr float picture_share_min = 0.01F;  // smaller pictures (of the page) are logos and bullets
constexpr float page_of_text_share = 0.4F;  // a picture this large that holds prose is part of the text flow
constexpr int picture_width_px_min = 100;
constexpr int picture_height_px_min = 30;
constexpr int picture_words_min = 3;
constexpr double picture_confidence_min = 0.6;
// Below this, what Tesseract "reads" is the grain of a photo.
constexpr double scan_confidence_min = 0.3;

std::int64_t ms_since(TimePoint start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(system_clock().now() - start).count();
}

struct DigitalReading {
  TextLayerJudgement judgement;
  int turn = 0;               // clockwise, applied to the content
  std::vector<Block> blocks;  // only when the layer is trusted
};

class BuiltinReader final : public PageReader {
 public:
  BuiltinReader(BuiltinReaderOptions options, CpuPool& cpu)
      : options_(std::move(options)), cpu_(cpu), engines_(static_cast<std::size_t>(cpu.threads())) {}

  asio::awaitable<PageResult> read(std::shared_ptr<OpenDocument> document, int page_number, FigureSink figures,
                                   Cancellation cancellation) override {
    const TimePoint start = system_clock().now();
    PageResult result;
    result.page = page_number;
    result.reader = "builtin";
    const auto status =
        co_await fill({std::move(document), page_number, std::move(figures), std::move(cancellation)}, &result);
    if (!status) {
      result.error = status.error().for_caller;
      result.attempts.push_back(
          {"builtin", std::string(to_string(status.error().kind)), result.error, ms_since(start)});
    } else {
      result.attempts.push_back({"builtin", "ok", "", ms_since(start)});
    }
    result.ms.total = ms_since(start);
    co_return result;
  }

  std::string fingerprint() const override {
    return fmt::format("builtin/{} tesseract={} lang={} ocr={} rotate={} tessdata={}", reader_revision,
                       vision::engine_version(), options_.languages, options_.force_ocr, options_.auto_rotate,
                       options_.tessdata_folder);
  }

 private:
  struct Call {
    std::shared_ptr<OpenDocument> document;
    int page_number;
    FigureSink figures;
    Cancellation cancellation;
  };

  asio::awaitable<Status> fill(Call call, PageResult* result) {
    TimePoint stage = system_clock().now();
    auto content = co_await call.document->inspect(call.page_number);
    if (!content) co_return std::unexpected(content.error());
    result->ms.render = ms_since(stage);
    result->size = content->size;

    stage = system_clock().now();
    const bool force = options_.force_ocr;
    auto judge = [&content, force] {
      DigitalReading reading{judge_text_layer(*content), 0, {}};
      if (reading.judgement.verdict == TextLayer::trusted && !force) {
        reading.turn = turn_of_text(*content);
        *content = turned(std::move(*content), reading.turn);
        reading.blocks = layout_text_layer(*content);
      }
      return reading;
    };
    DigitalReading digital = co_await cpu_.run(std::move(judge));
    result->ms.prepare = ms_since(stage);

    if (digital.judgement.verdict == TextLayer::trusted && !force) {
      result->blocks = std::move(digital.blocks);
      result->rotation = digital.turn;
      result->size = content->size;
      result->confidence = digital.judgement.score;
      result->confidence_why = digital.judgement.why;
      result->content_class = "text";
      co_return co_await add_figures(std::move(call), &*content, result);
    }
    if (content->pictures.empty() && content->drawings.empty() && content->chars.empty() && content->fills.empty() &&
        content->rules.empty()) {
      result->content_class = "blank";
      result->confidence = 1;
      result->confidence_why = "the page is empty";
      co_return Status{};
    }
    co_return co_await read_pixels(std::move(call), std::move(*content), digital.judgement, result);
  }

  asio::awaitable<Status> read_pixels(Call call, PageContent content, TextLayerJudgement judgement,
                                      PageResult* result) {
    TimePoint stage = system_clock().now();
    RenderRequest request;
    request.page_number = content.page_number;
    request.dpi = ocr_dpi;
    request.native_dpi_max = ocr_dpi_more;
    const bool layer_helps = judgement.verdict == TextLayer::invisible && judgement.score > 0.8 && !options_.force_ocr;
    auto rendered = co_await call.document->render(request);
    if (!rendered && rendered.error().kind == ErrorKind::corrupt && layer_helps) {
      co_return co_await read_invisible_layer(std::move(content), judgement.score, result);
    }
    if (!rendered) co_return std::unexpected(rendered.error());
    if (call.cancellation.requested()) co_return fail(ErrorKind::cancelled, "stopped");
    result->ms.render += ms_since(stage);

    stage = system_clock().now();
    const ScanReadOptions scan{options_.auto_rotate, content.size, rendered->px_per_pt};
    auto work = [this, &rendered, scan] { return with_engine(std::move(rendered->image), scan); };
    auto reading = co_await cpu_.run(std::move(work));
    if (!reading) co_return std::unexpected(reading.error());
    result->ms.infer = ms_since(stage);

    // An invisible layer that reads like language beats OCR that could make nothing of the scan.
    if (layer_helps && reading->confidence < 0.5) {
      co_return co_await read_invisible_layer(std::move(content), judgement.score, result);
    }
    result->rotation = reading->rotation;
    result->size = reading->page_size;
    result->confidence = reading->confidence;
    result->confidence_why = options_.force_ocr ? "mean word confidence of OCR"
                                                : fmt::format("mean word confidence of OCR; {}", judgement.why);
    if (reading->words == 0 || reading->confidence < scan_confidence_min) {
      result->content_class = reading->words == 0 ? "blank" : "photo";
      result->confidence_why = reading->words == 0 ? "no text was found" : "what looks like text is too faint to trust";
      co_return Status{};
    }
    result->content_class = "text";
    result->blocks = std::move(reading->blocks);
    co_return Status{};
  }

  asio::awaitable<Status> read_invisible_layer(PageContent content, double score, PageResult* result) {
    auto lay_out = [&content, result] {
      result->rotation = turn_of_text(content);
      content = turned(std::move(content), result->rotation);
      return layout_text_layer(content);
    };
    result->blocks = co_await cpu_.run(std::move(lay_out));
    result->size = content.size;
    result->confidence = 0.5 * score;
    result->confidence_why = "the scan could not be read; this is its invisible text layer";
    co_return Status{};
  }

  // Saves the pixels of each figure block, and reads the text inside pictures.
  asio::awaitable<Status> add_figures(Call call, const PageContent* content, PageResult* result) {
    const std::shared_ptr<OpenDocument>& document = call.document;
    const FigureSink& figures = call.figures;
    int number = 0;
    std::vector<Block> blocks;
    blocks.reserve(result->blocks.size());
    for (Block& block : result->blocks) {
      if (block.kind != BlockKind::figure) {
        blocks.push_back(std::move(block));
        continue;
      }
      ++number;
      if (figures) {
        auto saved = co_await save_figure(document, content, result->rotation, block.bbox, number, figures);
        // A picture that cannot be drawn or saved is not worth the page: the text is there, and the attempt says why.
        if (saved) {
          block.file = *saved;
        } else {
          result->attempts.push_back(
              {"figure", std::string(to_string(saved.error().kind)), saved.error().for_caller, 0});
        }
      }
      if (call.cancellation.requested()) co_return fail(ErrorKind::cancelled, "stopped");
      std::optional<ScanReading> inside;
      if (holds_picture(*content, block.bbox))
        inside = co_await read_picture(document, content, result->rotation, block.bbox);
      if (inside && block.bbox.area() >= page_of_text_share * content->size.width * content->size.height) {
        if (!block.file.empty()) blocks.push_back(std::move(block));
        std::ranges::move(inside->blocks, std::back_inserter(blocks));
        continue;
      }
      if (inside) {
        for (const Block& found : inside->blocks) block.text += (block.text.empty() ? "" : "\n") + found.text;
      }
      blocks.push_back(std::move(block));
    }
    result->blocks = std::move(blocks);
    co_return Status{};
  }

  static bool holds_picture(const PageContent& content, const RectPt& box) {
    const float page = std::max(1.0F, content.size.width * content.size.height);
    return std::ranges::any_of(content.pictures, [&](const document::PictureObject& picture) {
      const RectPt common = intersection(picture.box, box);
      return !common.empty() && common.area() >= picture_share_min * page &&
             common.area() >= 0.5F * picture.box.area() && picture.width_px >= picture_width_px_min &&
             picture.height_px >= picture_height_px_min;
    });
  }

  // The pixels of one part of the page, upright. `box` is on the page as turned by `turn`; the renderer knows the page
  // as it was.
  static asio::awaitable<Result<Rendered>> draw_part(std::shared_ptr<OpenDocument> document, const PageContent* content,
                                                     int turn, RectPt box, float dpi, image::PixelFormat format) {
    RenderRequest request;
    request.page_number = content->page_number;
    request.dpi = dpi;
    request.format = format;
    request.clip = turned_box(box, content->size, 360 - turn);
    co_return co_await document->render(request);
  }

  asio::awaitable<Result<std::string>> save_figure(std::shared_ptr<OpenDocument> document, const PageContent* content,
                                                   int turn, RectPt box, int figure_number, FigureSink figures) {
    auto drawn = co_await draw_part(std::move(document), content, turn, box, figure_dpi, image::PixelFormat::rgb24);
    if (!drawn) co_return std::unexpected(drawn.error());
    auto save = [&] { return figures(content->page_number, figure_number, image::rotate_quarter(drawn->image, turn)); };
    co_return co_await cpu_.run(std::move(save));
  }

  // nullopt when the picture cannot be read or holds no text worth having: it is then a figure and nothing more.
  asio::awaitable<std::optional<ScanReading>> read_picture(std::shared_ptr<OpenDocument> document,
                                                           const PageContent* content, int turn, RectPt box) {
    auto drawn = co_await draw_part(std::move(document), content, turn, box, ocr_dpi, image::PixelFormat::gray8);
    if (!drawn) co_return std::nullopt;
    const ScanReadOptions scan{false, {box.width(), box.height()}, drawn->px_per_pt};
    auto work = [&] { return with_engine(image::rotate_quarter(drawn->image, turn), scan); };
    auto reading = co_await cpu_.run(std::move(work));
    if (!reading || reading->words < picture_words_min || reading->confidence < picture_confidence_min)
      co_return std::nullopt;
    for (Block& block : reading->blocks) {
      block.bbox = {block.bbox.x0 + box.x0, block.bbox.y0 + box.y0, block.bbox.x1 + box.x0, block.bbox.y1 + box.y0};
    }
    co_return std::move(*reading);
  }

  // REQUIRES: runs on the CPU pool.
  Result<ScanReading> with_engine(image::Image picture, const ScanReadOptions& scan) {
    auto engine = engines_.acquire({options_.languages, options_.tessdata_folder, options_.ocr_time_limit});
    if (!engine) return std::unexpected(engine.error());
    return read_scan(std::move(picture), scan, **engine);
  }

  const BuiltinReaderOptions options_;
  CpuPool& cpu_;
  vision::OcrPool engines_;  // at most one a CPU worker
};

}  // namespace

Result<std::unique_ptr<PageReader>> make_builtin_reader(BuiltinReaderOptions options, CpuPool& cpu) {
  const auto installed = vision::installed_languages(options.tessdata_folder);
  if (!installed) return std::unexpected(installed.error());
  const auto wanted = vision::split_languages(options.languages);
  if (!wanted) return std::unexpected(wanted.error());
  if (auto status = vision::check_languages(*wanted, *installed); !status) return std::unexpected(status.error());
  return std::make_unique<BuiltinReader>(std::move(options), cpu);
}

}  // namespace lectern::reading
