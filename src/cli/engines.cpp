#include "cli/engines.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/run_all.h"
#include "cli/model_load.h"
#include "provider/openai_address.h"
#include "provider/process.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;
using provider::FailureReason;

constexpr std::chrono::seconds offer_timeout{10};
constexpr std::size_t offers_shown = 8;

// An engine whose name for the model is not the fleet's.
class RenamingProvider final : public provider::Provider {
 public:
  RenamingProvider(std::unique_ptr<provider::Provider> engine, std::string model)
      : engine_(std::move(engine)), model_(std::move(model)) {}

  asio::awaitable<provider::Answer> invoke(provider::Prompt prompt, provider::CallOptions options) override {
    prompt.model = model_;
    return engine_->invoke(std::move(prompt), std::move(options));
  }
  asio::awaitable<std::vector<provider::Answer>> batch_invoke(std::vector<provider::Prompt> prompts,
                                                              provider::CallOptions options) override {
    for (provider::Prompt& prompt : prompts) prompt.model = model_;
    return engine_->batch_invoke(std::move(prompts), std::move(options));
  }
  bool supports_batch() const override { return engine_->supports_batch(); }
  bool tells_load() const override { return engine_->tells_load(); }
  asio::awaitable<provider::LoadAnswer> load(provider::CallOptions options) override {
    return engine_->load(std::move(options));
  }
  std::string name() const override { return engine_->name(); }

 private:
  const std::unique_ptr<provider::Provider> engine_;
  const std::string model_;
};

using Offers = std::vector<EngineOffer>;

asio::awaitable<void> ask_offer(std::shared_ptr<Offers> offers, std::size_t index,
                                std::shared_ptr<provider::HttpClient> client, provider::OpenAiOptions options,
                                provider::CallOptions call) {
  auto models = co_await provider::list_models(std::move(client), std::move(options), std::move(call));
  if (models) {
    (*offers)[index].models = std::move(*models);
  } else {
    (*offers)[index].failure = std::move(models.error());
  }
}

// Ollama lists "llama3.2-vision:latest" and answers to "llama3.2-vision".
bool is_called(const std::string& id, const std::string& wanted) {
  return id == wanted || id == wanted + ":latest";
}

// An engine that did not say what it offers.
Result<ModelChoice> choose_unheard(const EngineOffer& offer, const std::string& wanted) {
  const provider::Failure& failure = *offer.failure;
  switch (failure.reason) {
    case FailureReason::unauthorized:
      return fail(
          ErrorKind::invalid_input,
          "{}; give the right key in LECTERN_API_KEY or OPENAI_API_KEY, in a file named by engines.api_key_file, or "
          "in [[engine]] of lectern.toml",
          failure.message);
    case FailureReason::quota:
      return std::unexpected(failure.error());
    case FailureReason::cancelled:
      return fail(ErrorKind::cancelled, "stopped");
    case FailureReason::unknown_model:
    case FailureReason::not_supported:
    case FailureReason::bad_request:
      // There is a server, but it keeps no list.
      if (!wanted.empty()) return ModelChoice{.model = wanted};
      return fail(ErrorKind::invalid_input, "{} does not say which models it has ({}); name one with --model",
                  offer.engine, failure.message);
    case FailureReason::too_long:
    case FailureReason::bad_image:
    case FailureReason::rate_limited:
    case FailureReason::overloaded:
    case FailureReason::loading:
    case FailureReason::out_of_memory:
    case FailureReason::engine_failed:
    case FailureReason::unreachable:
    case FailureReason::connection_lost:
    case FailureReason::timed_out:
    case FailureReason::bad_reply:
      break;
  }
  return ModelChoice{.model = wanted, .warning = not_answering(offer.engine, failure.message)};
}

}  // namespace

bool is_process(const EngineSettings& engine) {
  return engine.address.starts_with(process_prefix);
}

std::string engine_name(const EngineSettings& engine) {
  if (is_process(engine)) return engine.address;
  const auto address = provider::parse_engine_address(engine.address);
  return address ? address->name : engine.address;
}

provider::OpenAiOptions openai_options(const EngineSettings& engine, const ModelSettings& settings) {
  return {.address = engine.address,
          .model = engine.model,
          .api_key = engine.api_key,
          .extra_body = engine.extra_body,
          .proxy = settings.proxy,
          .ca_file = settings.ca_file,
          .verify_tls = settings.verify_tls};
}

Result<std::unique_ptr<provider::Provider>> make_engine(const EngineParts& parts, const EngineSettings& engine,
                                                        const ModelSettings& settings) {
  Result<std::unique_ptr<provider::Provider>> made;
  if (is_process(engine)) {
    auto command = split_command(std::string_view(engine.address).substr(process_prefix.size()));
    if (!command) return std::unexpected(command.error());
    made = provider::make_process_provider(parts.timers, {.command = std::move(*command), .model = engine.model});
  } else {
    made = provider::make_openai_provider(parts.client, openai_options(engine, settings));
  }
  if (!made || engine.model.empty()) return made;
  return under_name(std::move(*made), engine.model);
}

std::unique_ptr<provider::Provider> under_name(std::unique_ptr<provider::Provider> engine, std::string model) {
  return std::make_unique<RenamingProvider>(std::move(engine), std::move(model));
}

asio::awaitable<std::vector<EngineOffer>> ask_offers(EngineParts parts, FleetSettings fleet, ModelSettings settings,
                                                     Cancellation cancellation) {
  auto offers = std::make_shared<Offers>(fleet.engines.size());  // shared with the coroutines that ask
  std::vector<asio::awaitable<void>> all;
  for (std::size_t i = 0; i < fleet.engines.size(); ++i) {
    const EngineSettings& engine = fleet.engines[i];
    (*offers)[i].engine = engine_name(engine);
    (*offers)[i].process = is_process(engine);
    if (is_process(engine)) continue;
    provider::CallOptions call{.deadline = Deadline::after(offer_timeout, parts.timers.clock()),
                               .cancellation = cancellation};
    all.push_back(ask_offer(offers, i, parts.client, openai_options(engine, settings), std::move(call)));
  }
  co_await run_all(std::move(all));
  co_return std::move(*offers);
}

std::string offered(const EngineOffer& offer) {
  if (offer.models.empty()) return "it offers none";
  std::vector<std::string> names;
  for (const provider::ModelInfo& model : offer.models) names.push_back(model.id);
  std::string more;
  if (names.size() > offers_shown) {
    more = fmt::format(" and {} more", names.size() - offers_shown);
    names.resize(offers_shown);
  }
  return fmt::format("it offers {}{}", fmt::join(names, ", "), more);
}

Result<ModelChoice> choose_model(const EngineOffer& offer, const std::string& wanted) {
  if (offer.process) return ModelChoice{.model = wanted};
  if (offer.failure) return choose_unheard(offer, wanted);
  if (!wanted.empty()) {
    const bool listed =
        std::ranges::any_of(offer.models, [&](const auto& model) { return is_called(model.id, wanted); });
    return ModelChoice{.model = wanted, .listed = listed};
  }
  if (offer.models.size() == 1) return ModelChoice{.model = offer.models.front().id};
  return fail(ErrorKind::invalid_input, "{}: {}; choose with --model NAME or VLM_MODEL_NAME", offer.engine,
              offered(offer));
}

bool name_is_missing(const FleetSettings& fleet, const std::vector<EngineOffer>& offers) {
  if (!fleet.model.empty() || !fleet.engines.front().model.empty()) return false;
  bool away = false;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    if (offers[i].process || !fleet.engines[i].model.empty()) continue;
    const auto choice = choose_model(offers[i], "");
    if (!choice || !choice->model.empty()) return false;  // a name, or something that no waiting mends
    away = true;
  }
  return away;
}

}  // namespace lectern::cli
