// Every hostile document ends in pages or in a clear error, and the pool works on as if nothing had been.
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "document/hostile_pdfs.h"
#include "document/minimal_pdf.h"
#include "document/pool_fixture.h"
#include "document/renderer_pool.h"
#include "temp_folder.h"

namespace lectern::document {
namespace {

boost::asio::awaitable<Result<int>> read_some_pages(RendererPool* pool, std::filesystem::path file) {
  auto document = co_await pool->open(file, "");
  if (!document) co_return std::unexpected(document.error());
  const int pages = (*document)->info().pages;
  int read = 0;
  for (int page = 1; page <= pages; page = page < pages ? pages : pages + 1) {  // the first and the last
    const auto content = co_await (*document)->inspect(page);
    if (!content && content.error().kind == ErrorKind::timeout) co_return std::unexpected(content.error());
    RenderRequest request{.page_number = page, .dpi = 100};
    const auto rendered = co_await (*document)->render(request);
    if (!rendered && rendered.error().kind == ErrorKind::timeout) co_return std::unexpected(rendered.error());
    if (content && rendered) ++read;
  }
  co_return read;
}

TEST(HostileInput, EndsInPagesOrAClearError) {
  const TempFolder scratch;
  boost::asio::io_context context;
  RendererPoolOptions options;
  options.processes = 1;
  RendererPool pool(context.get_executor(), options);
  for (const HostileFile& file : hostile_files(HostileScale::quick)) {
    SCOPED_TRACE(file.name);
    std::string name = file.name;
    std::ranges::replace(name, '/', '_');
    const auto path = scratch.write(name, file.make());
    const auto outcome = run(context, read_some_pages(&pool, path));
    if (!outcome) {
      EXPECT_THAT(outcome.error().for_caller, testing::StartsWith(name)) << "an error names its document";
      EXPECT_NE(outcome.error().kind, ErrorKind::internal) << outcome.error().for_log;
      EXPECT_NE(outcome.error().kind, ErrorKind::timeout) << "the quick forms are quick";
    }
    std::filesystem::remove(path);
  }
  const auto sound = scratch.write("sound.pdf", pdf_of_pages({{.content = text_content("still here")}}));
  EXPECT_EQ(run(context, read_some_pages(&pool, sound)).value(), 1);
}

}  // namespace
}  // namespace lectern::document
