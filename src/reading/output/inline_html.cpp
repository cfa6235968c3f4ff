#include "reading/output/inline_html.h"

#include <array>
#include <cctype>

#include "reading/output/escape.h"

namespace lectern::reading {
namespace {

constexpr int depth_max = 8;

struct Mark {
  std::string_view sign;
  std::string_view open;
  std::string_view close;
};
constexpr std::array<Mark, 4> marks = {
    {{"***", "<b><i>", "</i></b>"}, {"**", "<b>", "</b>"}, {"~~", "<s>", "</s>"}, {"*", "<i>", "</i>"}}};

// Where `sign` closes again: not escaped, not after a blank, and not part of a longer run.
std::size_t closing(std::string_view text, std::size_t from, std::string_view sign) {
  for (std::size_t i = from; i + sign.size() <= text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
      continue;
    }
    if (text.substr(i, sign.size()) != sign || i == from || text[i - 1] == ' ') continue;
    if (sign == "*" && (text.substr(i, 2) == "**" || text[i - 1] == '*')) continue;
    if (sign == "**" && text.substr(i, 3) == "***") continue;
    return i;
  }
  return std::string_view::npos;
}

std::string render(std::string_view text, int depth) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (rest[0] == '\\' && rest.size() > 1 && std::ispunct(static_cast<unsigned char>(rest[1])) != 0) {
      out += escape_html(rest.substr(1, 1));
      i += 2;
      continue;
    }
    if (rest[0] == '\n') {
      out += "<br>";
      ++i;
      continue;
    }
    bool taken = false;
    for (const std::string_view tag : {"sup", "sub"}) {
      const std::string open = "<" + std::string(tag) + ">";
      const std::string close = "</" + std::string(tag) + ">";
      const std::size_t end = rest.find(close);
      if (depth < depth_max && !taken && rest.starts_with(open) && end != std::string_view::npos) {
        out += open + render(rest.substr(open.size(), end - open.size()), depth + 1) + close;
        i += end + close.size();
        taken = true;
      }
    }
    if (!taken && depth < depth_max && rest[0] == '[') {
      const std::size_t middle = rest.find("](");
      const std::size_t end = middle == std::string_view::npos ? middle : rest.find(')', middle);
      if (end != std::string_view::npos) {
        std::string_view uri = rest.substr(middle + 2, end - middle - 2);
        if (uri.size() > 2 && uri.front() == '<' && uri.back() == '>') uri = uri.substr(1, uri.size() - 2);
        if (safe_link(uri)) {
          out += "<a href=\"" + escape_html(uri) + "\">" + render(rest.substr(1, middle - 1), depth + 1) + "</a>";
          i += end + 1;
          taken = true;
        }
      }
    }
    for (const Mark& mark : marks) {
      if (taken || depth >= depth_max || !rest.starts_with(mark.sign)) continue;
      const std::size_t end = closing(rest, mark.sign.size(), mark.sign);
      if (end == std::string_view::npos || rest[mark.sign.size()] == ' ') continue;
      out += std::string(mark.open) + render(rest.substr(mark.sign.size(), end - mark.sign.size()), depth + 1) +
             std::string(mark.close);
      i += end + mark.sign.size();
      taken = true;
    }
    if (taken) continue;
    out += escape_html(rest.substr(0, 1));
    ++i;
  }
  return out;
}

}  // namespace

std::string inline_html(std::string_view markdown) {
  return render(markdown, 0);
}

}  // namespace lectern::reading
