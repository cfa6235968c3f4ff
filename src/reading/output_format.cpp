#include "reading/output_format.h"

namespace lectern::reading {

std::string_view format_name(OutputFormat format) {
  switch (format) {
    case OutputFormat::markdown:
      return "md";
    case OutputFormat::json:
      return "json";
    case OutputFormat::text:
      return "text";
    case OutputFormat::html:
      return "html";
  }
  return "md";
}

std::optional<OutputFormat> format_from_name(std::string_view name) {
  for (const auto format : {OutputFormat::markdown, OutputFormat::json, OutputFormat::text, OutputFormat::html}) {
    if (format_name(format) == name) return format;
  }
  return std::nullopt;
}

std::string_view format_extension(OutputFormat format) {
  switch (format) {
    case OutputFormat::markdown:
      return ".md";
    case OutputFormat::json:
      return ".json";
    case OutputFormat::text:
      return ".txt";
    case OutputFormat::html:
      return ".html";
  }
  return ".md";
}

}  // namespace lectern::reading
