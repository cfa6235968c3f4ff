// Names of document types: in results ("type": "pdf") and in file extensions.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "document/page_content.h"

namespace lectern::reading {

std::string_view type_name(document::DocumentKind kind);
std::optional<document::DocumentKind> type_from_name(std::string_view name);

// Whether a file's name promises a document that can be read (any case). What a file really is shows when it is opened;
// this only chooses among the files of a folder.
bool has_document_extension(const std::filesystem::path& file);

// ".pdf, .jpg, …", for messages.
std::string_view document_extensions();

}  // namespace lectern::reading
