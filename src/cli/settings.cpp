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
    {.key = "engines.urls",
     .type = list,
     .environment = "VLLM_SERVER_URL",
     .help = "model servers that read pages: addresses, or process:COMMAND; none = the builtin reader"},
    {.key = "engines.api_key",
     .type = secret,
     .environment = "LECTERN_API_KEY|OPENAI_API_KEY",
     .help = "key that the engines want"},
    {.key = "engines.api_key_file",
     .environment = "LECTERN_API_KEY_FILE",
     .help = "file that holds the key; engines.api_key wins"},
    {.key = "engines.hedge",
     .type = boolean,
     .default_value = "false",
     .environment = "LECTERN_HEDGE",
     .help = "ask a second engine about the slowest pages"},
    {.key = "engines.patience_s",
     .type = number,
     .default_value = "30",
     .environment = "LECTERN_PATIENCE",
     .help = "seconds that pages wait for an engine when none answers, before they fall back",
     .minimum = 0,
     .maximum = 86400},
    {.key = "engines.ca_file",
     .environment = "LECTERN_CA_FILE",
     .help = "certificates to trust instead of the system's (PEM)"},
    {.key = "engines.insecure",
     .type = boolean,
     .default_value = "false",
     .environment = "LECTERN_INSECURE",
     .help = "do not check certificates"},
    {.key = "engines.proxy",
     .environment = "LECTERN_PROXY",
     .help = "proxy on the way to the engines; unset = as http_proxy and https_proxy say"},
    {.key = "model.name", .environment = "VLM_MODEL_NAME", .help = "model to ask for; unset = the engine's only one"},
    {.key = "model.use",
     .type = boolean,
     .environment = "USE_VLLM_OCR",
     .help = "false: the builtin reader, although an engine is configured; true: never without an engine"},
    {.key = "model.parallel",
     .type = integer,
     .default_value = "auto",
     .environment = "PARALLEL_VLM_REQUESTS",
     .help = "requests in flight; auto = as many as keep each engine exactly full; 1 = one after another",
     .minimum = 1,
     .maximum = 4096,
     .choices = "auto"},
    {.key = "model.timeout_s",
     .type = number,
     .default_value = "300",
     .environment = "VLM_CONCURRENT_TIMEOUT",
     .help = "seconds for one page, retries included",
     .minimum = 0.1,
     .maximum = 86400},
    {.key = "model.attempts_max",
     .type = integer,
     .default_value = "2",
     .environment = "VLM_RETRY_COUNT",
     .help = "how often one page is asked for in all when errors may pass",
     .minimum = 1,
     .maximum = 100},
    {.key = "model.family",
     .default_value = "auto",
     .environment = "LECTERN_MODEL_FAMILY",
     .help = "whose rules pictures and prompt follow; auto = told by the model's name",
     .choices = "auto|generic|qwen2.5-vl|qwen3-vl|pixtral|deepseek-ocr"},
    {.key = "model.resize_factor",
     .type = integer,
     .default_value = "32",
     .environment = "VLM_RESIZE_FACTOR",
     .help = "sides of pictures are multiples of it (generic models)",
     .minimum = 1,
     .maximum = 512},
    {.key = "model.side_max",
     .type = integer,
     .default_value = "1024",
     .environment = "LECTERN_SIDE_MAX",
     .help = "longest side of a picture in pixels (generic models)",
     .minimum = 64,
     .maximum = 16384},
    {.key = "model.pixels_min",
     .type = integer,
     .environment = "LECTERN_PIXELS_MIN",
     .help = "least pixels of a picture; unset = the family's own",
     .minimum = 1,
     .maximum = 268435456},
    {.key = "model.pixels_max",
     .type = integer,
     .environment = "LECTERN_PIXELS_MAX",
     .help = "most pixels of a picture; unset = the family's own",
     .minimum = 1024,
     .maximum = 268435456},
    {.key = "model.pixels_by_class",
     .type = boolean,
     .default_value = "false",
     .environment = "LECTERN_PIXELS_BY_CLASS",
     .help = "more pixels for diagrams, fewer for plain pages"},
    {.key = "model.picture",
     .default_value = "jpeg",
     .environment = "LECTERN_PICTURE",
     .help = "how pictures are sent",
     .choices = "jpeg|png"},
    {.key = "model.jpeg_quality",
     .type = integer,
     .default_value = "90",
     .environment = "LECTERN_JPEG_QUALITY",
     .help = "quality of JPEG pictures",
     .minimum = 1,
     .maximum = 100},
    {.key = "model.prompt_file",
     .environment = "LECTERN_PROMPT_FILE",
     .help = "file that holds the prompt; unset = the family's own"},
    {.key = "model.system_prompt_file",
     .environment = "LECTERN_SYSTEM_PROMPT_FILE",
     .help = "file that holds the system prompt; unset = none"},
    {.key = "model.reply_tokens_max",
     .type = integer,
     .default_value = "4096",
     .environment = "LECTERN_REPLY_TOKENS_MAX",
     .help = "longest reply for one page, in tokens",
     .minimum = 1,
     .maximum = 1000000},
    {.key = "model.temperature",
     .type = number,
     .default_value = "0",
     .environment = "LECTERN_TEMPERATURE",
     .help = "0 = always the likeliest word",
     .minimum = 0,
     .maximum = 2},
    {.key = "model.logprobs",
     .type = boolean,
     .default_value = "false",
     .environment = "LECTERN_LOGPROBS",
     .help = "ask for token probabilities, for the confidence of a page"},
    {.key = "model.extra_body",
     .environment = "LECTERN_EXTRA_BODY",
     .help = "JSON object whose members join every request as they are"},
    {.key = "model.fallback_urls",
     .type = list,
     .environment = "LECTERN_FALLBACK_URL",
     .help = "engines of the second model; unset = the same ones"},
    {.key = "model.fallback_name",
     .environment = "LECTERN_FALLBACK_MODEL",
     .help = "second model, asked about what the first cannot read"},
    {.key = "model.confidence_min",
     .type = number,
     .default_value = "0.85",
     .environment = "LECTERN_CONFIDENCE_MIN",
     .help = "below it the second model is asked too",
     .minimum = 0,
     .maximum = 1},
    {.key = "model.fallback",
     .default_value = "ocr",
     .environment = "LECTERN_FALLBACK",
     .help = "when no model could read a page: the builtin reader, or a placeholder",
     .choices = "ocr|placeholder"},
    {.key = "model.cache_folder",
     .environment = "LECTERN_CACHE",
     .help = "where replies are kept; unset = in the output folder, without -o not at all"},
    {.key = "model.price_prompt",
     .type = number,
     .environment = "LECTERN_PRICE_PROMPT",
     .help = "price of a million prompt tokens",
     .minimum = 0},
    {.key = "model.price_completion",
     .type = number,
     .environment = "LECTERN_PRICE_COMPLETION",
     .help = "price of a million completion tokens",
     .minimum = 0},
    {.key = "read.tokens_max",
     .type = integer,
     .environment = "LECTERN_TOKENS_MAX",
     .help = "tokens that a run may use before it stops; unset = no limit",
     .minimum = 1},
    {.key = "read.cost_max",
     .type = number,
     .environment = "LECTERN_COST_MAX",
     .help = "cost of a run at which it stops; needs prices; unset = no limit",
     .minimum = 0},
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

// Of one [[engine]] in lectern.toml.
constexpr auto engine_table = std::to_array<Setting>({
    {.key = "url", .help = "address, or process:COMMAND"},
    {.key = "model", .help = "what this engine calls the model; unset = model.name"},
    {.key = "api_key_env", .help = "name of the environment variable that holds its key"},
    {.key = "api_key_file", .help = "file that holds its key"},
    {.key = "extra_body", .help = "JSON object whose members join every request to it"},
});

constexpr auto entry_tables = std::to_array<SettingEntries>({{"engine", engine_table}});

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

std::span<const SettingEntries> settings_entries() {
  return entry_tables;
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
  LoadedSettings loaded{Config(settings_table(), settings_entries()), {}};
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
