#include "reading/figure_files.h"

#include <algorithm>
#include <cstring>

#include "image/encode.h"

namespace lectern::reading {
namespace {

constexpr int photo_side_px_min = 32;       // smaller pictures gain nothing from JPEG
constexpr double photo_matches_max = 0.35;  // share of neighbours that are equal
constexpr int jpeg_quality = 88;

// Drops a number from 1, without leading zeros, off the front.
bool take_number(std::string_view& text) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || text.front() == '0') return false;
  text.remove_prefix(digits);
  return true;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

}  // namespace

bool is_figure_name(std::string_view name) {
  return take(name, "page-") && take_number(name) && take(name, "-") && take_number(name) &&
         (name == ".png" || name == ".jpg");
}

std::vector<std::filesystem::path> figure_files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;  // a folder that cannot be listed has nothing that we could name
  for (auto it = std::filesystem::directory_iterator(folder, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    std::error_code vanished;
    if (is_figure_name(it->path().filename().string()) && !it->is_directory(vanished)) files.push_back(it->path());
  }
  std::ranges::sort(files);
  return files;
}

Status remove_figures(Disk& disk, const std::filesystem::path& folder) {
  for (const auto& file : figure_files_in(folder)) {
    if (auto removed = disk.remove(file); !removed) return removed;
  }
  std::error_code error;
  if (std::filesystem::is_symlink(folder, error)) return {};
  std::filesystem::remove(folder, error);
  if (error && error != std::errc::directory_not_empty && error != std::errc::file_exists) {
    return fail_errno(fmt::format("cannot remove {}", folder.string()), error.value());
  }
  return {};
}

bool looks_like_photo(const image::Image& pixels) {
  if (pixels.width_px < photo_side_px_min || pixels.height_px < photo_side_px_min) return false;
  const auto size = static_cast<std::size_t>(image::channels(pixels.format));
  const int step = std::max(1, pixels.height_px / 64);
  std::int64_t pairs = 0;
  std::int64_t matches = 0;
  for (int y = step / 2; y < pixels.height_px; y += step) {
    const std::uint8_t* row = pixels.row(y);
    for (int x = 1; x < pixels.width_px; ++x) {
      const std::uint8_t* pixel = row + static_cast<std::size_t>(x) * size;
      ++pairs;
      if (std::memcmp(pixel, pixel - size, size) == 0) ++matches;
    }
  }
  return static_cast<double>(matches) < photo_matches_max * static_cast<double>(pairs);
}

FigureSink figure_files(Disk& disk, std::filesystem::path folder) {
  return [&disk, folder = std::move(folder)](int page, int figure, const image::Image& pixels) -> Result<std::string> {
    const bool photo = looks_like_photo(pixels);
    const auto bytes = photo ? image::encode_jpeg(pixels, jpeg_quality) : image::encode_png(pixels);
    // The picture's own trouble: it costs the figure, not the run.
    if (!bytes) return fail(ErrorKind::corrupt, "{}", bytes.error().for_log);
    if (auto made = disk.make_folders(folder); !made) return std::unexpected(made.error());
    const std::string name = fmt::format("page-{}-{}.{}", page, figure, photo ? "jpg" : "png");
    const std::string_view view(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    if (auto written = write_file_atomically(disk, folder / name, view); !written) {
      return std::unexpected(written.error());
    }
    return (folder.filename() / name).generic_string();
  };
}

}  // namespace lectern::reading
