// The engines of a run: how they are reached, and what they say about themselves before the first page is asked.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/timers.h"
#include "cli/model_settings.h"
#include "provider/openai.h"

namespace lectern::cli {

bool is_process(const EngineSettings& engine);
// How messages call it: its address, or the command.
std::string engine_name(const EngineSettings& engine);

struct EngineParts {
  boost::asio::any_io_executor executor;
  std::shared_ptr<provider::HttpClient> client;  // one for the whole process
  Timers& timers;
};

provider::OpenAiOptions openai_options(const EngineSettings& engine, const ModelSettings& settings);
// An engine with a name of its own for the model is asked by that name. Errors: an address or command that cannot be
// one.
Result<std::unique_ptr<provider::Provider>> make_engine(const EngineParts& parts, const EngineSettings& engine,
                                                        const ModelSettings& settings);

// The same engine, asked for `model` whatever a prompt says; empty = for its own.
std::unique_ptr<provider::Provider> under_name(std::unique_ptr<provider::Provider> engine, std::string model);

// What an engine says of itself.
struct EngineOffer {
  std::string engine;
  bool process = false;  // a program: it says nothing before it is asked
  std::vector<provider::ModelInfo> models;
  std::optional<provider::Failure> failure;  // it did not say
};

// All at once; a few seconds at most. As many offers as engines, in their order.
boost::asio::awaitable<std::vector<EngineOffer>> ask_offers(EngineParts parts, FleetSettings fleet,
                                                            ModelSettings settings, Cancellation cancellation);

// Whom to ask, as far as an offer tells.
struct ModelChoice {
  std::string model;   // empty = cannot be told yet
  bool listed = true;  // false: not among what the engine offers. Some serve it all the same; a question would tell.
  std::string warning;
  bool operator==(const ModelChoice&) const = default;
};
// `wanted` is empty when no model was named. Errors end the run: key refused, no money, several models and none named.
Result<ModelChoice> choose_model(const EngineOffer& offer, const std::string& wanted);
// Nobody has named the model, and of the engines that would tell its name none can be heard.
bool name_is_missing(const FleetSettings& fleet, const std::vector<EngineOffer>& offers);
// "it offers a, b and 3 more"
std::string offered(const EngineOffer& offer);

}  // namespace lectern::cli
