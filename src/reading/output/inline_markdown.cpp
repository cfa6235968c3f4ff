#include "reading/output/inline_markdown.h"

#include <array>
#include <cctype>

#include "reading/output/escape.h"

namespace lectern::reading {
namespace {

constexpr int depth_max = 8;
constexpr std::size_t span_bytes_max = 8000;  // links and code close within so much, or are text: no quadratic time

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

// The index after the bracket that closes the one at `from`; npos = none does.
std::size_t after_bracket(std::string_view text, std::size_t from, char open, char close) {
  int depth = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == open) {
      ++depth;
    } else if (text[i] == close && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

struct Link {
  std::size_t length = 0;  // 0 = none
  std::string_view text;
  std::string_view uri;
};
// "[text](uri)" or "[text](<uri>)" at the beginning of `rest`.
Link link_at(std::string_view rest) {
  rest = rest.substr(0, span_bytes_max);
  const std::size_t middle = after_bracket(rest, 0, '[', ']');
  if (middle == std::string_view::npos || middle >= rest.size() || rest[middle] != '(') return {};
  std::size_t end = std::string_view::npos;
  std::string_view uri;
  if (rest.substr(middle).starts_with("(<")) {
    end = rest.find(">)", middle);
    if (end == std::string_view::npos) return {};
    uri = rest.substr(middle + 2, end - middle - 2);
    end += 2;
  } else {
    end = after_bracket(rest, middle, '(', ')');
    if (end == std::string_view::npos) return {};
    uri = rest.substr(middle + 1, end - middle - 2);
  }
  return {end, rest.substr(1, middle - 2), uri};
}

class Writer {
 public:
  explicit Writer(bool html) : html_(html) {}

  void write(std::string_view text, int depth) {
    for (std::size_t i = 0; i < text.size();) {
      const std::string_view rest = text.substr(i);
      std::size_t taken = 0;
      if (rest[0] == '\\' && rest.size() > 1 && std::ispunct(static_cast<unsigned char>(rest[1])) != 0) {
        literal(rest.substr(1, 1));
        taken = 2;
      } else if (rest[0] == '`') {
        taken = take_code(rest);
      } else if (depth < depth_max) {
        taken = take_script(rest, depth);
        if (taken == 0) taken = take_link(rest, depth);
        if (taken == 0) taken = take_emphasis(rest, depth);
      }
      if (taken == 0) {
        literal(rest.substr(0, 1));
        taken = 1;
      }
      i += taken;
    }
  }

  std::string take() { return std::move(out_); }

 private:
  void literal(std::string_view text) {
    if (!html_)
      out_ += text;
    else
      out_ += text == "\n" ? "<br>" : escape_html(text);
  }
  void tag(std::string_view text) {
    if (html_) out_ += text;
  }

  // Each of these takes what begins at `rest`, and says how much it was.
  std::size_t take_code(std::string_view rest) {
    const std::size_t ticks = std::min(rest.find_first_not_of('`'), rest.size());
    rest = rest.substr(0, std::max(ticks, span_bytes_max));
    for (std::size_t end = rest.find('`', ticks); end != std::string_view::npos;) {
      const std::size_t run = std::min(rest.find_first_not_of('`', end), rest.size()) - end;
      if (run == ticks) {
        tag("<code>");
        literal(rest.substr(ticks, end - ticks));
        tag("</code>");
        return end + ticks;
      }
      end = rest.find('`', end + run);
    }
    literal(rest.substr(0, ticks));
    return ticks;
  }

  std::size_t take_script(std::string_view rest, int depth) {
    for (const std::string_view open : {"<sup>", "<sub>"}) {
      if (!rest.starts_with(open)) continue;
      const std::string close = "</" + std::string(open.substr(1));
      const std::size_t end = rest.find(close);
      if (end == std::string_view::npos) continue;
      tag(open);
      write(rest.substr(open.size(), end - open.size()), depth + 1);
      tag(close);
      return end + close.size();
    }
    return 0;
  }

  std::size_t take_link(std::string_view rest, int depth) {
    if (rest[0] != '[') return 0;
    const Link link = link_at(rest);
    if (link.length == 0 || (html_ && !safe_link(link.uri))) return 0;
    tag("<a href=\"" + escape_html(link.uri) + "\">");
    write(link.text, depth + 1);
    tag("</a>");
    return link.length;
  }

  std::size_t take_emphasis(std::string_view rest, int depth) {
    for (const Mark& mark : marks) {
      if (!rest.starts_with(mark.sign)) continue;
      const std::size_t end = closing(rest, mark.sign.size(), mark.sign);
      if (end == std::string_view::npos || rest[mark.sign.size()] == ' ') continue;
      tag(mark.open);
      write(rest.substr(mark.sign.size(), end - mark.sign.size()), depth + 1);
      tag(mark.close);
      return end + mark.sign.size();
    }
    return 0;
  }

  const bool html_;
  std::string out_;
};

std::string written(std::string_view markdown, bool html) {
  Writer writer(html);
  writer.write(markdown, 0);
  return writer.take();
}

}  // namespace

std::string inline_html(std::string_view markdown) {
  return written(markdown, true);
}

std::string inline_plain(std::string_view markdown) {
  return written(markdown, false);
}

}  // namespace lectern::reading
