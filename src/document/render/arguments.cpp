#include "document/render/arguments.h"

#include <charconv>
#include <string_view>

namespace lectern::document {
namespace {

template <class T>
Status take_number(std::string_view name, std::string_view text, T& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  if (error != std::errc() || end != text.data() + text.size() || to <= 0) {
    return fail(ErrorKind::invalid_input, "{} wants a positive number, not '{}'", name, text);
  }
  return {};
}

}  // namespace

Result<RendererArguments> parse_arguments(std::span<char* const> argv) {
  RendererArguments arguments;
  if (argv.size() % 2 == 0) {
    return fail(ErrorKind::invalid_input, "lectern-render is started by lectern, not by hand");
  }
  for (std::size_t i = 1; i + 1 < argv.size(); i += 2) {
    const std::string_view name = argv[i];
    const std::string_view value = argv[i + 1];
    Status taken;
    if (name == "--memory-bytes") {
      taken = take_number(name, value, arguments.memory_bytes);
    } else if (name == "--window-bytes") {
      taken = take_number(name, value, arguments.window_bytes);
    } else if (name == "--pdfium") {
      arguments.pdfium = value;
    } else {
      taken = fail(ErrorKind::invalid_input, "lectern-render does not know the argument '{}'", name);
    }
    if (!taken) return std::unexpected(std::move(taken.error()));
  }
  if (arguments.memory_bytes == 0 || arguments.window_bytes == 0) {
    return fail(ErrorKind::invalid_input, "lectern-render is started by lectern, not by hand");
  }
  return arguments;
}

}  // namespace lectern::document
