#include "job/handlers/page_images.h"

#include <utility>

#include "base/async.h"
#include "image/encode.h"
#include "job/handlers/fate.h"
#include "job/request.h"

namespace lectern::job {
namespace {

constexpr int side_px_max = 1600;
constexpr int jpeg_quality = 80;
constexpr std::int64_t bytes_max = std::int64_t{64} << 20;
constexpr int renders_max = 2;

std::string text_of(const std::vector<std::uint8_t>& bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace

PageImages::PageImages(Blobs& blobs, JobDocuments& documents, CpuPool& cpu)
    : blobs_(blobs), documents_(documents), cpu_(cpu), places_(renders_max) {}

boost::asio::awaitable<Result<std::string>> PageImages::image(Job job, int page, Cancellation cancellation) {
  const std::string key = page_image_key(job.request.id, page);
  auto kept = co_await blobs_.get(key, bytes_max);
  if (kept || kept.error().kind != ErrorKind::not_found) co_return kept;
  auto place = co_await places_.enter(std::move(cancellation));
  if (!place) co_return fail(ErrorKind::cancelled, "nobody waits for it any more");
  auto made = co_await render(std::move(job), page);
  place.reset();
  if (!made) co_return made;
  // Somebody else may have been quicker; and without it, it is made again next time.
  co_await blobs_.put(key, *made, PutMode::create_only);
  co_return made;
}

boost::asio::awaitable<Result<std::string>> PageImages::render(Job job, int page) {
  const std::string name = job.request.document;
  const auto document = co_await documents_.open(std::move(job));
  if (!document) {
    Error error = document.error().error;
    error.for_caller = in_words_of_the_api(without_name(error.for_caller, name));
    co_return std::unexpected(std::move(error));
  }
  const int pages = (*document)->info().pages;
  if (page < 1 || page > pages) {
    co_return fail(ErrorKind::not_found, "there is no page {}; the document has {}", page, pages);
  }
  document::RenderRequest request{.page_number = page,
                                  .width_px_max = side_px_max,
                                  .height_px_max = side_px_max,
                                  .format = image::PixelFormat::rgb24,
                                  .allow_passthrough = true};
  auto rendered = co_await (*document)->render(request);
  if (!rendered) {
    const ErrorKind kind =
        rendered.error().kind == ErrorKind::unavailable ? ErrorKind::unavailable : ErrorKind::invalid_input;
    co_return fail(kind, without_name(rendered.error().for_caller, name));
  }
  if (!rendered->jpeg.empty()) co_return text_of(rendered->jpeg);
  auto encode = [&rendered] { return image::encode_jpeg(rendered->image, jpeg_quality); };
  const auto jpeg = co_await cpu_.run(std::move(encode));
  if (!jpeg) co_return std::unexpected(jpeg.error());
  co_return text_of(*jpeg);
}

}  // namespace lectern::job
