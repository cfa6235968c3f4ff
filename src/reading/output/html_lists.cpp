#include "reading/output/html_lists.h"

#include <fmt/format.h>

#include <charconv>

#include "reading/output/escape.h"

namespace lectern::reading {
namespace {

// "7." and "7)" → 7.
std::optional<int> number_of(std::string_view marker) {
  int number = 0;
  const char* const end = marker.data() + marker.size();
  const auto [last, error] = std::from_chars(marker.data(), end, number);
  if (error != std::errc{} || number < 0 || last + 1 != end || (*last != '.' && *last != ')')) return std::nullopt;
  return number;
}

}  // namespace

void HtmlLists::add(const Block& item, const std::string& html) {
  const std::optional<int> number = number_of(item.marker);
  while (!open_.empty() && open_.back().level > item.level) close_last();
  const bool goes_on = !open_.empty() && open_.back().level == item.level;
  if (goes_on && open_.back().ordered == number.has_value()) {
    out_ += "</li>\n";
  } else {
    if (goes_on) close_last();
    open(item.level, number);
  }
  if (number && *number != open_.back().next)
    out_ += fmt::format("<li value=\"{}\">", *number);
  else
    out_ += "<li>";
  if (number)
    open_.back().next = *number + 1;
  else if (!item.marker.empty() && item.marker != "-")
    out_ += escape_html(item.marker) + " ";
  out_ += html;
}

void HtmlLists::close() {
  while (!open_.empty()) close_last();
}

void HtmlLists::open(int level, std::optional<int> number) {
  if (!open_.empty()) out_ += '\n';
  if (!number)
    out_ += "<ul>\n";
  else
    out_ += *number == 1 ? "<ol>\n" : fmt::format("<ol start=\"{}\">\n", *number);
  open_.push_back({level, number.has_value(), number.value_or(1)});
}

void HtmlLists::close_last() {
  out_ += open_.back().ordered ? "</li>\n</ol>\n" : "</li>\n</ul>\n";
  open_.pop_back();
}

}  // namespace lectern::reading
