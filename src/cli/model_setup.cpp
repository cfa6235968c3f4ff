#include "cli/model_setup.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/async.h"
#include "base/random.h"
#include "base/timers.h"
#include "cli/engines.h"
#include "provider/fleet.h"
#include "reading/model/prompts.h"
#include "reading/model/reply_cache.h"
#include "reading/output_folder.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;
using provider::FailureReason;

constexpr int parallel_max = 256;  // of one engine whose limit is being found
constexpr std::chrono::seconds probe_timeout{30};
constexpr std::chrono::seconds listen_interval{1};  // between two questions to an engine that is away

// Prepared or waiting beside those that are being asked about, so that a slot that falls free is filled at once. No
// more than the limit: a page's time runs while it waits, and with a slow engine it would run out.
int pages_ahead(int limit) {
  return std::min(std::max(2 * hardware_threads(), limit / 8), limit);
}

}  // namespace

struct ModelSetup::Parts {
  // Of the process: a probe that is under way when all this ends is kept by its event loop, and the program that it
  // asked (process:) looks at the time until the loop is gone, too.
  static Timers& timers_of_process() {
    static SystemTimers timers;
    return timers;
  }

  Timers& timers = timers_of_process();
  SystemRandom random;
  EngineParts engines;

  explicit Parts(asio::any_io_executor executor) : engines{executor, provider::make_http_client(executor), timers} {}
};

// Between the reader and a fleet: notices refusals that concern the whole run. To fall back page after page would hide
// what somebody has to mend.
struct ModelSetup::Watched final : provider::Provider {
  Watched(ModelSetup& owner, provider::Fleet& inner) : setup(owner), fleet(inner) {}

  asio::awaitable<provider::Answer> invoke(provider::Prompt prompt, provider::CallOptions options) override {
    provider::Answer answer = co_await fleet.invoke(std::move(prompt), std::move(options));
    if (setup.options_.on_answer) setup.options_.on_answer(answer);
    if (answer || !provider::needs_a_person(answer.error().reason)) co_return answer;
    const auto engines = fleet.report().engines;
    if (!std::ranges::all_of(engines, &provider::EngineReport::ejected)) co_return answer;  // others go on
    if (!setup.refused_) {
      const Error error = answer.error().error();
      setup.refused_ = error;
      setup.options_.cancellation.request();
    }
    // The page is not read by anybody else: it stays pending and is asked about when the run goes on.
    answer.error().reason = FailureReason::cancelled;
    co_return answer;
  }
  std::string name() const override { return fleet.name(); }

  ModelSetup& setup;
  provider::Fleet& fleet;
};

// Between a fleet and an engine: no request goes out once the budget is used up. The pages that wanted it stay pending.
struct ModelSetup::Metered final : provider::Provider {
  Metered(ModelSetup& owner, std::unique_ptr<provider::Provider> inner) : setup(owner), engine(std::move(inner)) {}

  asio::awaitable<provider::Answer> invoke(provider::Prompt prompt, provider::CallOptions options) override {
    if (auto refusal = setup.refusal()) co_return std::unexpected(std::move(*refusal));
    co_return co_await engine->invoke(std::move(prompt), std::move(options));
  }
  asio::awaitable<std::vector<provider::Answer>> batch_invoke(std::vector<provider::Prompt> prompts,
                                                              provider::CallOptions options) override {
    if (auto refusal = setup.refusal()) {
      co_return std::vector<provider::Answer>(prompts.size(), std::unexpected(std::move(*refusal)));
    }
    co_return co_await engine->batch_invoke(std::move(prompts), std::move(options));
  }
  bool supports_batch() const override { return engine->supports_batch(); }
  bool tells_load() const override { return engine->tells_load(); }
  asio::awaitable<provider::LoadAnswer> load(provider::CallOptions options) override {
    return engine->load(std::move(options));
  }
  std::string name() const override { return engine->name(); }

  ModelSetup& setup;
  const std::unique_ptr<provider::Provider> engine;
};

std::optional<provider::Failure> ModelSetup::refusal() const {
  const reading::Budget& budget = options_.settings.budget;
  if (!budget.tokens_max && !budget.cost_max) return std::nullopt;
  if (!reading::reached(budget, spent())) return std::nullopt;
  return provider::Failure{.reason = FailureReason::cancelled, .message = "the budget is used up"};
}

struct ModelSetup::Fleet {
  FleetSettings settings;
  std::unique_ptr<provider::Fleet> fleet;
  std::unique_ptr<Watched> watched;
};

ModelSetup::ModelSetup(asio::any_io_executor executor, CpuPool& cpu, ModelSetupOptions options)
    : options_(std::move(options)), cpu_(cpu), parts_(std::make_unique<Parts>(std::move(executor))) {}

ModelSetup::~ModelSetup() {
  for (const auto& fleet : fleets_) fleet->fleet->on_change({});
}

asio::awaitable<Status> ModelSetup::connect() {
  std::vector<FleetSettings> fleets = {options_.settings.first};
  if (options_.settings.second) fleets.push_back(*options_.settings.second);
  auto recall = [this] { return read_known_models(options_.models_file); };
  if (!options_.models_file.empty()) known_ = co_await cpu_.run(recall);
  const KnownModels before = known_;
  for (FleetSettings& fleet : fleets) {
    for (const EngineSettings& engine : fleet.engines) {  // before anybody is asked anything
      if (auto made = make_engine(parts_->engines, engine, options_.settings); !made) {
        co_return std::unexpected(made.error());
      }
    }
    if (auto settled = co_await settle(&fleet); !settled) co_return settled;
    if (auto made = make_fleet(std::move(fleet)); !made) co_return made;
    co_await fleets_.back()->fleet->look_at_load(options_.cancellation);
  }
  if (!options_.models_file.empty() && known_ != before) {
    auto remember = [this] { return write_known_models(real_disk(), options_.models_file, known_); };
    // A folder that cannot be written is found out, and said, by the run itself.
    static_cast<void>(co_await cpu_.run(remember));
  }
  if (!options_.cache_folder.empty()) {
    cache_ = std::make_unique<reading::ReplyCache>(real_disk(), options_.cache_folder);
  }
  fleets_.front()->fleet->on_change([this] {
    for (const auto& one : readers_) {
      if (const auto reader = one.lock()) reader->window_changed();
    }
  });
  auto reader =
      make_reader({.auto_rotate = options_.auto_rotate, .languages = options_.languages, .builtin = options_.builtin});
  if (!reader) co_return std::unexpected(reader.error());
  reader_ = std::move(*reader);
  co_return Status{};
}

// Finds the model's name where none was given, and sees that each engine has it.
asio::awaitable<Status> ModelSetup::settle(FleetSettings* fleet) {
  waited_ = false;
  auto offers = co_await ask_offers(parts_->engines, *fleet, options_.settings, options_.cancellation);
  if (name_is_missing(*fleet, offers)) {
    for (const EngineSettings& engine : fleet->engines) {
      const auto known = known_.find(engine_name(engine));
      if (known != known_.end() && fleet->model.empty()) fleet->model = known->second;
    }
    const bool remembered = !fleet->model.empty();
    if (!remembered) offers = co_await wait_for_name(fleet, std::move(offers));
    if (remembered || name_is_missing(*fleet, offers)) {
      unsure_ = fmt::format("{} does not say now which model it serves", engine_name(fleet->engines.front()));
    }
  }
  std::string found_at;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    EngineSettings& engine = fleet->engines[i];
    const std::string wanted = engine.model.empty() ? fleet->model : engine.model;
    const auto choice = choose_model(offers[i], wanted);
    if (!choice) co_return std::unexpected(choice.error());
    if (!choice->warning.empty()) {
      options_.warn(fmt::format("{}; pages wait for it a while and fall back if it stays away", choice->warning));
    }
    if (!choice->listed) {
      if (auto there = co_await probe(&engine, wanted, offered(offers[i])); !there) co_return there;
    }
    if (choice->model.empty() || !wanted.empty()) continue;
    // Nobody named a model: all engines must have the same one.
    fleet->model = choice->model;
    found_at = offers[i].engine;
    known_[found_at] = choice->model;
    for (std::size_t j = i + 1; j < offers.size(); ++j) {
      const auto other = choose_model(offers[j], fleet->engines[j].model);
      if (!other || !fleet->engines[j].model.empty() || other->model.empty()) continue;
      known_[offers[j].engine] = other->model;
      if (other->model == fleet->model) continue;
      co_return fail(ErrorKind::invalid_input,
                     "{} serves {} and {} serves {}: name the model with --model, or give each [[engine]] of "
                     "lectern.toml its own name for it",
                     found_at, fleet->model, offers[j].engine, other->model);
    }
  }
  co_return Status{};
}

// Without its name it is neither known how a model wants to be asked nor what its results are filed under.
asio::awaitable<std::vector<EngineOffer>> ModelSetup::wait_for_name(const FleetSettings* fleet,
                                                                    std::vector<EngineOffer> offers) {
  const TimePoint start = parts_->timers.clock().now();
  bool said = false;
  while (name_is_missing(*fleet, offers) && !options_.cancellation.requested()) {
    const auto loads = [](const EngineOffer& offer) {
      return offer.failure && offer.failure->reason == FailureReason::loading;
    };
    const bool loading = std::ranges::any_of(offers, loads);  // waited for as long as its pages would wait
    const TimePoint until = start + (loading ? options_.settings.page_timeout : options_.settings.patience);
    const TimePoint now = parts_->timers.clock().now();
    waited_ = now >= until;
    if (waited_) break;
    if (!std::exchange(said, true)) {
      options_.warn(
          fmt::format("waiting for {} to say which model it serves; --model NAME names it", offers[0].engine));
    }
    co_await parts_->timers.wait_until(std::min(until, now + listen_interval), options_.cancellation);
    offers = co_await ask_offers(parts_->engines, *fleet, options_.settings, options_.cancellation);
  }
  co_return offers;
}

asio::awaitable<bool> ModelSetup::would_be_sure() {
  std::vector<FleetSettings> fleets = {options_.settings.first};
  if (options_.settings.second) fleets.push_back(*options_.settings.second);
  for (const FleetSettings& fleet : fleets) {
    const auto offers = co_await ask_offers(parts_->engines, fleet, options_.settings, options_.cancellation);
    if (name_is_missing(fleet, offers)) co_return false;
  }
  co_return true;
}

// Some servers answer to names that they do not list; a question of one token tells.
asio::awaitable<Status> ModelSetup::probe(const EngineSettings* engine, std::string model, std::string offers) {
  const auto made = make_engine(parts_->engines, *engine, options_.settings);
  if (!made) co_return std::unexpected(made.error());
  provider::Prompt prompt{.model = model, .user = "Hello"};
  prompt.parameters.tokens_max = 1;
  provider::CallOptions call{.deadline = Deadline::after(probe_timeout, parts_->timers.clock()),
                             .cancellation = options_.cancellation};
  const auto answer = co_await (*made)->invoke(std::move(prompt), std::move(call));
  if (answer || !provider::needs_a_person(answer.error().reason)) co_return Status{};
  if (answer.error().reason != FailureReason::unknown_model) co_return std::unexpected(answer.error().error());
  co_return fail(ErrorKind::not_found, "{} has no model '{}'; {}", engine_name(*engine), model, offers);
}

Status ModelSetup::make_fleet(FleetSettings settings) {
  std::vector<std::unique_ptr<provider::Provider>> engines;
  const bool unnamed = settings.model.empty();
  for (const EngineSettings& engine : settings.engines) {
    auto made = make_engine(parts_->engines, engine, options_.settings);
    if (!made) return std::unexpected(made.error());
    if (unnamed && engine.model.empty()) made = under_name(std::move(*made), "");
    engines.push_back(std::make_unique<Metered>(*this, std::move(*made)));
  }
  // Results must say who read them, also when it is not known what the model is called.
  if (unnamed) {
    const EngineSettings& first = settings.engines.front();
    settings.model = first.model.empty() ? engine_name(first) : first.model;
  }
  // Pages need not wait for what has been waited for already.
  const auto patience = waited_ ? std::chrono::milliseconds(0) : options_.settings.patience;
  auto fleet = std::make_unique<Fleet>();
  fleet->settings = std::move(settings);
  fleet->fleet =
      std::make_unique<provider::Fleet>(std::move(engines),
                                        provider::FleetOptions{.parallel = options_.settings.parallel,
                                                               .parallel_max = parallel_max,
                                                               .attempts_max = options_.settings.attempts_max,
                                                               .patience = patience,
                                                               .hedge = options_.settings.hedge},
                                        provider::Fleet::Seams{parts_->timers, parts_->random});
  fleet->watched = std::make_unique<Watched>(*this, *fleet->fleet);
  fleets_.push_back(std::move(fleet));
  return {};
}

Result<std::shared_ptr<reading::ModelReader>> ModelSetup::make_reader(ReaderWishes wishes) {
  const ModelSettings& settings = options_.settings;
  reading::ModelReaderOptions reader{.builtin = settings.builtin_fallback ? wishes.builtin : nullptr,
                                     .page_timeout = settings.page_timeout,
                                     .confidence_min = settings.confidence_min,
                                     .auto_rotate = wishes.auto_rotate,
                                     .picture_format = settings.picture_format,
                                     .jpeg_quality = settings.jpeg_quality,
                                     .languages = wishes.languages,
                                     .tessdata_folder = options_.tessdata_folder,
                                     .pages_max = [this] { return fleet_pages(); },
                                     .cache = cache_.get()};
  for (const auto& fleet : fleets_) reader.models.push_back(page_model(*fleet, wishes));
  auto made = reading::make_model_reader(std::move(reader), cpu_, system_clock());
  if (!made) return std::unexpected(made.error());
  std::erase_if(readers_, [](const auto& one) { return one.expired(); });
  std::shared_ptr<reading::ModelReader> shared = std::move(*made);
  readers_.push_back(shared);
  return shared;
}

std::string ModelSetup::prompt(const ReaderWishes& wishes) const {
  const reading::PageModel model = page_model(*fleets_.front(), wishes);
  return model.prompt.empty() ? std::string(reading::reading_prompt(model.size.family)) : model.prompt;
}

reading::PageModel ModelSetup::page_model(const Fleet& fleet, const ReaderWishes& wishes) const {
  const ModelSettings& settings = options_.settings;
  reading::SizePolicy size = settings.size;
  size.family = settings.family.value_or(reading::family_of_model(fleet.settings.model));
  std::set<std::string> extras;
  for (const EngineSettings& engine : fleet.settings.engines) extras.insert(engine.extra_body);
  return {.provider = fleet.watched.get(),
          .name = fleet.settings.model,
          .size = size,
          .system = settings.system,
          .prompt = wishes.prompt.empty() ? settings.prompt : wishes.prompt,
          .parameters = settings.parameters,
          .engine_extras = fmt::format("{}", fmt::join(extras, "\n"))};
}

provider::Provider& ModelSetup::provider() {
  return *fleets_.front()->watched;
}

const std::string& ModelSetup::model() const {
  return fleets_.front()->settings.model;
}

ModelLoad ModelSetup::load() const {
  ModelLoad load;
  for (const auto& fleet : fleets_) {
    const provider::FleetReport report = fleet->fleet->report();
    load.in_flight += report.in_flight;
    load.limit += report.limit;
    load.waiting += report.waiting;
    load.retries += report.retries;
    load.prompt_tokens += static_cast<std::int64_t>(report.prompt_tokens);
    load.completion_tokens += static_cast<std::int64_t>(report.completion_tokens);
    for (const provider::EngineReport& engine : report.engines) {
      load.engines.push_back({engine.name, engine.ejected, engine.in_flight, engine.limit, engine.last_failure});
    }
  }
  return load;
}

reading::Spent ModelSetup::spent() const {
  const ModelLoad now = load();
  const reading::Tokens tokens{now.prompt_tokens, now.completion_tokens};
  return {tokens, cost_of(options_.settings, tokens)};
}

int ModelSetup::fleet_pages() const {
  const int limit = std::max(1, fleets_.front()->fleet->report().limit);
  return limit + pages_ahead(limit);
}

int ModelSetup::pages_in_flight() const {
  // Beside those at the models: pages that the builtin reader has, and one being journalled.
  return fleet_pages() + 2 * hardware_threads() + 1;
}

int ModelSetup::pages_in_flight_max() const {
  const int engines = static_cast<int>(fleets_.front()->settings.engines.size());
  const int most = options_.settings.parallel > 0 ? options_.settings.parallel : parallel_max * engines;
  return most + pages_ahead(most) + 2 * hardware_threads() + 1;
}

std::filesystem::path known_models_file(const std::filesystem::path& output_folder) {
  return output_folder.empty() ? output_folder : output_folder / reading::state_folder_name / "models.json";
}

std::filesystem::path reply_folder(const ModelSettings& settings, const std::filesystem::path& output_folder,
                                   bool no_cache) {
  if (no_cache) return {};
  if (!settings.cache_folder.empty()) return settings.cache_folder;
  return output_folder.empty() ? output_folder : output_folder / reading::state_folder_name / "replies";
}

}  // namespace lectern::cli
