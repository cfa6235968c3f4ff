// Names and file extensions of output formats.
#pragma once

#include <optional>
#include <string_view>

#include "reading/output/render.h"

namespace lectern::reading {

std::string_view format_name(OutputFormat format);  // "md", "json", "text", "html": as --format takes it
std::optional<OutputFormat> format_from_name(std::string_view name);
std::string_view format_extension(OutputFormat format);  // ".md", ".json", ".txt", ".html"

}  // namespace lectern::reading
