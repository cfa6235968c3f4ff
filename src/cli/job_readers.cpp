#include "cli/job_readers.h"

#include <nlohmann/json.hpp>

#include <utility>

#include "base/async.h"
#include "cli/model_setup.h"
#include "cli/run_setup.h"
#include "reading/page_reader.h"
#include "telemetry/log.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;

constexpr int pages_in_flight_extra = 2;  // one being prepared and one being stored beside those being read
constexpr std::chrono::seconds idle_time{30};
constexpr std::chrono::seconds listening_interval{5};  // to engines that could not be heard

// What a job did not ask for is this worker's trouble: another worker may do better, or this one later.
Error blamed(Error error, bool wished) {
  if (!wished) error.kind = ErrorKind::unavailable;
  return error;
}

}  // namespace

// What a reader depends on; the pages that are wanted do not matter.
struct JobReaders::Wishes {
  bool force_ocr = false;
  job::JobOptions options;

  std::string key() const {
    job::JobOptions plain = options;
    plain.pages.clear();
    return (force_ocr ? "ocr " : "read ") + job::to_json(plain);
  }
};

// The fleets of one model, connected once for all who ask.
struct JobReaders::Models {
  std::unique_ptr<ModelSetup> setup;
  Cancellation connected;  // requested once `status` is set
  std::optional<Status> status;
  TimePoint listened;  // when the engines were last asked who they are

  // Whoever waits must not wait for ever, also when connecting ended by an exception.
  struct Connecting {
    Models& models;
    ~Connecting() {
      if (!models.status) models.status = fail(ErrorKind::internal, "connecting to the engines failed");
      models.connected.request();
    }
  };
};

struct JobReaders::Reader {
  std::shared_ptr<Models> models;  // shared: pages in flight outlive a refused setup
  std::unique_ptr<reading::PageReader> builtin;
  std::shared_ptr<reading::ModelReader> model;
  std::string prompt;
  TimePoint used;

  reading::PageReader* reader() const { return model ? model.get() : builtin.get(); }
  bool refused() const { return models && models->setup->refused(); }
};

JobReaders::JobReaders(Parts parts) : parts_(std::move(parts)) {}
JobReaders::~JobReaders() = default;

asio::awaitable<Result<job::JobReader>> JobReaders::reader(std::string operation, job::JobOptions options) {
  const Wishes wishes{.force_ocr = operation == "ocr", .options = std::move(options)};
  const std::string key = wishes.key();
  co_await listen_again(wishes.options.model);
  auto known = readers_.find(key);
  if (known != readers_.end() && known->second->refused()) {  // somebody may have mended it
    readers_.erase(known);
    known = readers_.end();
  }
  std::shared_ptr<Reader> reader = known == readers_.end() ? nullptr : known->second;
  if (!reader) {
    auto made = co_await make(wishes);
    if (!made) co_return std::unexpected(made.error());
    reader = readers_.try_emplace(key, std::move(*made)).first->second;  // another page may have been quicker
  }
  reader->used = parts_.timers.clock().now();
  co_return job::JobReader{std::shared_ptr<reading::PageReader>(reader, reader->reader()), reader->prompt};
}

// A setup that was made while its engines were away does not know their model, hence not how to ask it: once they can
// be heard, the next page gets a new one.
asio::awaitable<void> JobReaders::listen_again(std::string model) {
  const auto known = models_.find(model);
  if (known == models_.end()) co_return;
  const std::shared_ptr<Models> models = known->second;
  if (!models->status || !*models->status || models->setup->unsure().empty()) co_return;
  const TimePoint now = parts_.timers.clock().now();
  if (now - models->listened < listening_interval) co_return;
  models->listened = now;  // other pages go on meanwhile
  if (!co_await models->setup->would_be_sure()) co_return;
  if (const auto same = models_.find(model); same != models_.end() && same->second == models) models_.erase(same);
  std::erase_if(readers_, [&models](const auto& one) { return one.second->models == models; });
}

asio::awaitable<Result<std::shared_ptr<JobReaders::Reader>>> JobReaders::make(Wishes wishes) {
  const bool with_models = parts_.models && !wishes.force_ocr;
  if (!with_models && !wishes.options.model.empty() && !wishes.force_ocr) {
    // Another worker may have one.
    co_return fail(ErrorKind::unavailable, "model '{}' was asked for, but this worker has no engine",
                   wishes.options.model);
  }
  auto reader = std::make_shared<Reader>();
  reading::BuiltinReaderOptions builtin = reader_options(parts_.config, wishes.force_ocr);
  if (!wishes.options.languages.empty()) builtin.languages = wishes.options.languages;
  builtin.auto_rotate = wishes.options.auto_rotate.value_or(builtin.auto_rotate);
  if (!with_models || parts_.models->builtin_fallback) {
    auto made = reading::make_builtin_reader(builtin, parts_.cpu);
    if (!made) co_return std::unexpected(blamed(made.error(), !wishes.options.languages.empty()));
    reader->builtin = std::move(*made);
  }
  if (!with_models) co_return reader;
  auto models = co_await models_for(wishes.options.model);
  if (!models) {
    const bool unknown = models.error().kind == ErrorKind::not_found;
    co_return std::unexpected(blamed(models.error(), unknown && !wishes.options.model.empty()));
  }
  reader->models = std::move(*models);
  const ReaderWishes reads{.auto_rotate = builtin.auto_rotate,
                           .languages = builtin.languages,
                           .prompt = wishes.options.prompt,
                           .builtin = reader->builtin.get()};
  auto made = reader->models->setup->make_reader(reads);
  if (!made) co_return std::unexpected(made.error());
  reader->model = std::move(*made);
  reader->prompt = reader->models->setup->prompt(reads);
  co_return reader;
}

asio::awaitable<Result<std::shared_ptr<JobReaders::Models>>> JobReaders::models_for(std::string model) {
  if (const auto known = models_.find(model); known != models_.end()) {
    const std::shared_ptr<Models> models = known->second;
    while (!models->status) co_await parts_.timers.wait_until(TimePoint::max(), models->connected);
    if (*models->status && !models->setup->refused()) co_return models;
    if (!*models->status) co_return std::unexpected(models->status->error());
    if (const auto same = models_.find(model); same != models_.end() && same->second == models) models_.erase(same);
    co_return co_await models_for(std::move(model));
  }
  ModelSetupOptions options{
      .settings = *parts_.models,
      .auto_rotate = parts_.config.boolean("read.auto_rotate"),
      .languages = parts_.config.text("read.lang"),
      .tessdata_folder = parts_.config.text("read.tessdata"),
      .warn = [](const std::string& text) { telemetry::log(telemetry::LogLevel::warning, text); }};
  options.cache_folder = options.settings.cache_folder;
  options.settings.budget = {};  // that of a run of `lectern read`
  if (!model.empty()) options.settings.first.model = model;
  const auto models = std::make_shared<Models>();
  models->setup = std::make_unique<ModelSetup>(parts_.executor, parts_.cpu, std::move(options));
  models_[model] = models;
  {
    const Models::Connecting connecting{*models};
    models->status = co_await models->setup->connect();
    models->listened = parts_.timers.clock().now();
  }
  if (*models->status) co_return models;
  models_.erase(model);  // the next one tries again
  co_return std::unexpected(models->status->error());
}

int JobReaders::room() const {
  int most = 0;
  for (const auto& [name, models] : models_) {
    if (models->status && *models->status) most = std::max(most, models->setup->pages_in_flight());
  }
  return most > 0 ? most : parallel_pages(parts_.config) + pages_in_flight_extra;
}

void JobReaders::close_idle() {
  const TimePoint now = parts_.timers.clock().now();
  for (const auto& [key, reader] : readers_) {
    if (reader.use_count() > 1) reader->used = now;
  }
  std::erase_if(readers_, [now](const auto& one) { return now - one.second->used >= idle_time; });
}

ModelLoad JobReaders::load() const {
  ModelLoad all;
  for (const auto& [name, models] : models_) {
    if (!models->status || !*models->status) continue;
    ModelLoad load = models->setup->load();
    all.in_flight += load.in_flight;
    all.limit += load.limit;
    all.waiting += load.waiting;
    all.retries += load.retries;
    all.prompt_tokens += load.prompt_tokens;
    all.completion_tokens += load.completion_tokens;
    std::ranges::move(load.engines, std::back_inserter(all.engines));
  }
  return all;
}

}  // namespace lectern::cli
