// Many pages of one document at a time, in bounded memory.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>
#include <vector>

#include "base/cancellation.h"
#include "reading/page_reader.h"

namespace lectern::reading {

struct ReadPagesOptions {
  std::vector<int> pages;  // page numbers, from 1
  int in_flight_max = 4;   // pages being read at once; bounds memory
  FigureSink figures;      // may be empty: figures are then not saved
  // Called for each finished page, in the order pages finish, never two at a time.
  std::function<void(PageResult)> on_page;
  Cancellation cancellation;  // when it fires, pages in flight finish as cancelled and no new ones start
};

// Returns once every page has been handed to on_page, or early with ErrorKind::cancelled.
boost::asio::awaitable<Status> read_pages(std::shared_ptr<document::OpenDocument> document, PageReader& reader,
                                          ReadPagesOptions options);

}  // namespace lectern::reading
