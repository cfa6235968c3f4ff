#include "vision/languages.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "vision/ocr.h"

namespace lectern::vision {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view model_suffix = ".traineddata";
constexpr const char* usual_folders[] = {"/usr/share/tesseract-ocr/5/tessdata",
                                         "/usr/share/tesseract-ocr/4.00/tessdata", "/usr/share/tessdata",
                                         "/usr/local/share/tessdata"};

bool is_folder(const fs::path& path) {
  std::error_code ignored;  // "cannot be looked at" and "is not there" mean the same here: try the next one
  return fs::is_directory(path, ignored);
}

// Debian names its packages with '-' where Tesseract has '_': chi_sim is in tesseract-ocr-chi-sim.
std::string package_of(std::string language) {
  std::ranges::replace(language, '_', '-');
  return "tesseract-ocr-" + language;
}

}  // namespace

Result<std::string> find_data_folder(const std::string& data_folder) {
  if (!data_folder.empty()) {
    if (is_folder(data_folder)) return data_folder;
    return fail(ErrorKind::not_found, "OCR data folder '{}' is not a folder", data_folder);
  }
  if (const char* prefix = std::getenv("TESSDATA_PREFIX"); prefix != nullptr && *prefix != '\0') {
    // Tesseract 3 wanted the parent of tessdata here, Tesseract 4 and later the folder itself; both are in use.
    if (const fs::path inner = fs::path(prefix) / "tessdata"; is_folder(inner)) return inner.string();
    if (is_folder(prefix)) return std::string(prefix);
    return fail(ErrorKind::not_found, "TESSDATA_PREFIX is '{}', which is not a folder", prefix);
  }
  for (const char* folder : usual_folders) {
    if (is_folder(folder)) return std::string(folder);
  }
  return fail(ErrorKind::unavailable, "no OCR data found: apt-get install tesseract-ocr-eng, or set TESSDATA_PREFIX");
}

Result<std::vector<std::string>> installed_languages(const std::string& data_folder) {
  const auto folder = find_data_folder(data_folder);
  if (!folder) return std::unexpected(folder.error());
  std::vector<std::string> languages;
  std::error_code error;
  for (fs::directory_iterator entry(*folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.extension() != model_suffix || path.stem() == "osd") continue;
    languages.push_back(path.stem().string());
  }
  if (error) return fail(ErrorKind::unavailable, "cannot list OCR data folder '{}': {}", *folder, error.message());
  std::ranges::sort(languages);
  return languages;
}

Result<std::vector<std::string>> split_languages(std::string_view joined) {
  std::vector<std::string> languages;
  for (std::size_t start = 0; start <= joined.size();) {
    const std::size_t end = std::min(joined.find('+', start), joined.size());
    const std::string_view name = joined.substr(start, end - start);
    const bool plain = !name.empty() && std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
    if (!plain) {
      return fail(ErrorKind::invalid_input, "'{}' is not a list of OCR languages: join names by '+', as in eng+por",
                  joined);
    }
    if (std::ranges::find(languages, name) == languages.end()) languages.emplace_back(name);
    start = end + 1;
  }
  return languages;
}

Status check_languages(const std::vector<std::string>& wanted, const std::vector<std::string>& installed) {
  std::vector<std::string> missing;
  std::vector<std::string> packages;
  for (const std::string& language : wanted) {
    if (std::ranges::find(installed, language) != installed.end()) continue;
    missing.push_back("'" + language + "'");
    packages.push_back(package_of(language));
  }
  if (missing.empty()) return {};
  return fail(ErrorKind::not_found, "{} {} not installed: apt-get install {}; installed: {}",
              missing.size() == 1 ? "language " + missing[0] : fmt::format("languages {}", fmt::join(missing, ", ")),
              missing.size() == 1 ? "is" : "are", fmt::join(packages, " "),
              installed.empty() ? "none" : fmt::format("{}", fmt::join(installed, ", ")));
}

}  // namespace lectern::vision
