#include "reading/document_type.h"

#include <array>
#include <cctype>

namespace lectern::reading {
namespace {

constexpr std::array<std::string_view, 6> names = {"pdf", "jpeg", "png", "tiff", "webp", "bmp"};
static_assert(static_cast<std::size_t>(document::DocumentKind::bmp) + 1 == names.size());

constexpr std::array<std::string_view, 8> extensions = {".pdf",  ".jpg", ".jpeg", ".png",
                                                        ".tiff", ".tif", ".webp", ".bmp"};

}  // namespace

std::string_view type_name(document::DocumentKind kind) {
  return names.at(static_cast<std::size_t>(kind));
}

std::optional<document::DocumentKind> type_from_name(std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<document::DocumentKind>(found - names.begin());
}

bool has_document_extension(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::find(extensions, extension) != extensions.end();
}

std::string_view document_extensions() {
  return ".pdf, .jpg, .jpeg, .png, .tiff, .tif, .webp, .bmp";
}

}  // namespace lectern::reading
