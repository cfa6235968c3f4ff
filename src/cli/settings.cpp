#include "cli/settings.h"

#include <array>

namespace lectern::cli {
namespace {

using enum SettingType;

constexpr auto table = std::to_array<Setting>({
    {.key = "read.lang",
     .default_value = "eng",
     .environment = "LECTERN_LANG",
     .help = "languages for OCR: Tesseract names joined by '+'"},
    {.key = "read.format",
     .default_value = "md",
     .environment = "LECTERN_FORMAT",
     .help = "output format",
     .choices = "md|json|text|html"},
    {.key = "read.parallel",
     .type = integer,
     .default_value = "auto",
     .environment = "LECTERN_PARALLEL",
     .help = "pages read at once; auto = one a core",
     .minimum = 1,
     .maximum = 1024,
     .choices = "auto"},
    {.key = "read.auto_rotate",
     .type = boolean,
     .default_value = "true",
     .environment = "LECTERN_AUTO_ROTATE",
     .help = "turn sideways and upside-down scans upright before reading"},
    {.key = "read.password", .type = secret, .environment = "LECTERN_PASSWORD", .help = "password of encrypted PDFs"},
    {.key = "read.tessdata",
     .environment = "LECTERN_TESSDATA",
     .help = "folder of Tesseract's language files; unset = the system's"},
    {.key = "read.temporary_folder",
     .default_value = "/tmp",
     .environment = "TMPDIR",
     .help = "where results wait that are not kept"},
    {.key = "read.ocr_timeout_s",
     .type = number,
     .default_value = "25",
     .environment = "LECTERN_OCR_TIMEOUT_S",
     .help = "seconds that OCR of one page may take",
     .minimum = 0.1,
     .maximum = 3600},
    {.key = "read.pages_max",
     .type = integer,
     .default_value = "100000",
     .environment = "LECTERN_PAGES_MAX",
     .help = "a document of which more pages are wanted is refused",
     .minimum = 1,
     .maximum = 100000000},
    {.key = "render.pdfium", .environment = "LECTERN_PDFIUM", .help = "libpdfium.so to use instead of the pinned one"},
    {.key = "render.program",
     .environment = "LECTERN_RENDERER",
     .help = "lectern-render to use instead of the one beside lectern"},
    {.key = "render.memory_mib",
     .type = integer,
     .default_value = "1024",
     .environment = "LECTERN_RENDER_MEMORY_MIB",
     .help = "memory that one renderer may use",
     .minimum = 64,
     .maximum = 1048576},
    {.key = "render.page_timeout_s",
     .type = number,
     .default_value = "20",
     .environment = "LECTERN_PAGE_TIMEOUT_S",
     .help = "seconds that opening a document or rendering a page may take",
     .minimum = 0.1,
     .maximum = 3600},
    {.key = "render.megapixels_max",
     .type = integer,
     .default_value = "40",
     .environment = "LECTERN_MEGAPIXELS_MAX",
     .help = "no page is rendered larger",
     .minimum = 1,
     .maximum = 1000},
    {.key = "log.level",
     .default_value = "warning",
     .environment = "LECTERN_LOG",
     .help = "what is logged",
     .choices = "debug|info|warning|error|off"},
});

Result<std::filesystem::path> choose_file(const SettingSources& sources) {
  std::error_code error;
  if (!sources.config_file.empty()) {
    if (std::filesystem::is_regular_file(sources.config_file, error)) return sources.config_file;
    return fail(ErrorKind::invalid_input, "--config {}: there is no such file", sources.config_file);
  }
  if (const auto named = sources.environment("LECTERN_CONFIG"); named && !named->empty()) {
    if (std::filesystem::is_regular_file(*named, error)) return *named;
    return fail(ErrorKind::invalid_input, "LECTERN_CONFIG={}: there is no such file", *named);
  }
  for (const auto& place : lectern_toml_places(sources.environment)) {
    if (std::filesystem::is_regular_file(place, error)) return place;
  }
  return std::filesystem::path();
}

}  // namespace

std::span<const Setting> settings_table() {
  return table;
}

std::vector<std::filesystem::path> lectern_toml_places(const Config::Environment& environment) {
  std::vector<std::filesystem::path> places = {"lectern.toml"};
  const auto folder = environment("XDG_CONFIG_HOME");
  const auto home = environment("HOME");
  if (folder && !folder->empty()) {
    places.push_back(std::filesystem::path(*folder) / "lectern" / "lectern.toml");
  } else if (home && !home->empty()) {
    places.push_back(std::filesystem::path(*home) / ".config" / "lectern" / "lectern.toml");
  }
  return places;
}

Result<LoadedSettings> load_settings(const SettingSources& sources) {
  LoadedSettings loaded{Config(settings_table()), {}};
  const auto file = choose_file(sources);
  if (!file) return std::unexpected(file.error());
  loaded.file = *file;
  if (!file->empty()) {
    if (auto status = loaded.config.load_file(*file); !status) return std::unexpected(status.error());
  }
  if (auto status = loaded.config.load_environment(sources.environment); !status) {
    return std::unexpected(status.error());
  }
  for (const FlagValue& flag : sources.flags) {
    if (auto status = loaded.config.set_flag(flag.key, flag.value, flag.flag); !status) {
      return std::unexpected(status.error());
    }
  }
  return loaded;
}

}  // namespace lectern::cli
