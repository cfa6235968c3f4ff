#include "reading/page_ranges.h"

#include <fmt/ranges.h>

#include <charconv>
#include <utility>

namespace lectern::reading {
namespace {

constexpr std::string_view how = "write page numbers from 1 and ranges, such as 1-10,15,20-";

std::string without_blanks(std::string_view text) {
  std::string kept;
  std::ranges::copy_if(text, std::back_inserter(kept), [](char c) { return c != ' ' && c != '\t'; });
  return kept;
}

Result<int> parse_number(std::string_view text, std::string_view part) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range)
    return fail(ErrorKind::invalid_input, "page number in '{}' is too big", part);
  if (error != std::errc{} || end != text.data() + text.size() || text.front() == '-') {
    return fail(ErrorKind::invalid_input, "'{}' is not a page or a range of pages: {}", part, how);
  }
  if (number == 0) return fail(ErrorKind::invalid_input, "'{}': pages count from 1", part);
  return number;
}

Result<PageRange> parse_range(std::string_view part) {
  if (part.empty()) return fail(ErrorKind::invalid_input, "empty page range: {}", how);
  const std::size_t dash = part.find('-');
  if (dash == std::string_view::npos) {
    const auto page = parse_number(part, part);
    if (!page) return std::unexpected(page.error());
    return PageRange{*page, *page};
  }
  const std::string_view left = part.substr(0, dash);
  const std::string_view right = part.substr(dash + 1);
  if (left.empty() && right.empty()) return fail(ErrorKind::invalid_input, "'-' is not a range of pages: {}", how);
  PageRange range;
  if (!left.empty()) {
    const auto first = parse_number(left, part);
    if (!first) return std::unexpected(first.error());
    range.first = *first;
  }
  if (!right.empty()) {
    const auto last = parse_number(right, part);
    if (!last) return std::unexpected(last.error());
    range.last = *last;
  }
  if (range.first > range.last) {
    return fail(ErrorKind::invalid_input, "'{}' runs backwards: write {}-{}", part, range.last, range.first);
  }
  return range;
}

// Sorted, and ranges that touch or overlap made one.
std::vector<PageRange> merged(std::vector<PageRange> ranges) {
  std::ranges::sort(ranges, {}, &PageRange::first);
  std::vector<PageRange> result;
  for (const PageRange& range : ranges) {
    if (!result.empty() && (result.back().last == PageRange::open_end || range.first <= result.back().last + 1)) {
      result.back().last = std::max(result.back().last, range.last);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

}  // namespace

Result<PageSelection> PageSelection::parse(std::string_view text) {
  const std::string compact = without_blanks(text);
  std::vector<PageRange> ranges;
  std::string_view rest = compact;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    const auto range = parse_range(rest.substr(0, comma));
    if (!range) return std::unexpected(range.error());
    ranges.push_back(*range);
    if (more) rest.remove_prefix(comma + 1);
  }
  PageSelection selection;
  selection.ranges_ = merged(std::move(ranges));
  return selection;
}

PageSelection PageSelection::of_pages(std::span<const int> pages) {
  std::vector<PageRange> ranges;
  for (const int page : pages) ranges.push_back({page, page});
  PageSelection selection;
  selection.ranges_ = merged(std::move(ranges));
  return selection;
}

std::vector<int> PageSelection::of(int page_count) const {
  std::vector<int> pages;
  for (const PageRange& range : ranges_) {
    for (int page = range.first; page <= std::min(range.last, page_count); ++page) pages.push_back(page);
  }
  return pages;
}

std::int64_t PageSelection::count(int page_count) const {
  std::int64_t pages = 0;
  for (const PageRange& range : ranges_) {
    pages += std::max<std::int64_t>(0, std::int64_t{std::min(range.last, page_count)} - range.first + 1);
  }
  return pages;
}

std::string PageSelection::to_string() const {
  std::vector<std::string> parts;
  for (const PageRange& range : ranges_) {
    if (range.last == PageRange::open_end) {
      parts.push_back(fmt::format("{}-", range.first));
    } else if (range.first == range.last) {
      parts.push_back(fmt::format("{}", range.first));
    } else {
      parts.push_back(fmt::format("{}-{}", range.first, range.last));
    }
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

Status check_selection(const PageSelection& pages, int page_count, int pages_max) {
  const std::int64_t wanted = pages.count(page_count);
  if (wanted > pages_max) {
    return fail(ErrorKind::invalid_input,
                "has {} pages to read, more than the limit of {}: choose some with --pages, or raise read.pages_max",
                wanted, pages_max);
  }
  if (wanted > 0) return {};
  if (page_count == 0) return fail(ErrorKind::invalid_input, "has no pages");
  return fail(ErrorKind::invalid_input, "has {} page{}, none of them in --pages {}", page_count,
              page_count == 1 ? "" : "s", pages.to_string());
}

}  // namespace lectern::reading
