// Saves the figures of a document beside its output: page-3-1.png, or .jpg where the picture is a photo.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "image/image.h"
#include "reading/page_reader.h"

namespace lectern::reading {

// Files go to `folder` ("out/sub/a.figures"); links are relative to the folder's parent, where the output lies
// ("a.figures/page-3-1.png"). The folder is made with the first figure. Errors: `corrupt` for a picture that cannot be
// encoded; all others are the disk's.
FigureSink figure_files(Disk& disk, std::filesystem::path folder);

// "page-3-1.png": a name that figure_files() gives.
bool is_figure_name(std::string_view name);
// What has such a name in the folder, sorted; nothing where there is no folder.
std::vector<std::filesystem::path> figure_files_in(const std::filesystem::path& folder);
// Removes these, and the folder when nothing else is in it: what people put there stays.
Status remove_figures(Disk& disk, const std::filesystem::path& folder);

// Neighbouring pixels of photos and shaded scans almost never match; those of charts and line art mostly do.
bool looks_like_photo(const image::Image& pixels);

}  // namespace lectern::reading
