// Everything that asking models takes, wired together: HTTP client, engines, fleets, reply cache, the reader itself.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/cancellation.h"
#include "base/config.h"
#include "cli/known_models.h"
#include "cli/model_load.h"
#include "cli/model_settings.h"
#include "reading/model/model_reader.h"
#include "reading/read_run.h"

namespace lectern {
class CpuPool;
}

namespace lectern::cli {

struct EngineOffer;

struct ModelSetupOptions {
  ModelSettings settings;
  std::filesystem::path cache_folder;  // empty = replies are not kept
  std::filesystem::path models_file;   // where it is remembered what the engines serve; empty = nowhere
  bool auto_rotate = true;
  std::string languages = "eng";
  std::string tessdata_folder;
  reading::PageReader* builtin = nullptr;  // borrowed; used where the settings allow it
  Cancellation cancellation;               // of the run
  std::function<void(const std::string& text)> warn;
  std::function<void(const provider::Answer& answer)> on_answer;  // hears each answer, if set
};

// What one reader does otherwise than another over the same fleets.
struct ReaderWishes {
  bool auto_rotate = true;
  std::string languages = "eng";
  std::string prompt;                      // empty = that of the settings
  reading::PageReader* builtin = nullptr;  // borrowed; used where the settings allow it
};

// Lives on one event loop: make it, await connect(), then read; all on the loop's thread.
class ModelSetup {
 public:
  ModelSetup(boost::asio::any_io_executor executor, CpuPool& cpu, ModelSetupOptions options);
  ~ModelSetup();
  ModelSetup(const ModelSetup&) = delete;
  ModelSetup& operator=(const ModelSetup&) = delete;

  // Asks the engines what they offer and settles which model is asked. An engine that does not answer is a warning: its
  // pages wait or fall back; where nobody named the model, it is waited for to say it. Errors: what no waiting mends
  // (key, unknown model, money, an address that is none).
  boost::asio::awaitable<Status> connect();

  // REQUIRES: connect() has succeeded, for all below.
  reading::ModelReader& reader() { return *reader_; }
  // Another one. It must not outlive this.
  Result<std::shared_ptr<reading::ModelReader>> make_reader(ReaderWishes wishes);
  // What such a reader tells the first model.
  std::string prompt(const ReaderWishes& wishes) const;
  // The first model, past the reader: its fleet, and its name.
  provider::Provider& provider();
  const std::string& model() const;
  ModelLoad load() const;
  reading::Spent spent() const;
  // How many pages the run may have in hand: now, and ever.
  int pages_in_flight() const;
  int pages_in_flight_max() const;
  // Why it is not sure which model is asked: nobody named it, and no engine could be heard. Empty = it is sure.
  const std::string& unsure() const { return unsure_; }
  // Whether the engines can be heard by now, so that a new setup would be sure.
  boost::asio::awaitable<bool> would_be_sure();
  // Why the models made the run stop: a key that was withdrawn, money that ran out.
  const std::optional<Error>& refused() const { return refused_; }

 private:
  struct Fleet;
  struct Watched;
  struct Metered;
  std::optional<provider::Failure> refusal() const;
  boost::asio::awaitable<Status> settle(FleetSettings* fleet);
  boost::asio::awaitable<std::vector<EngineOffer>> wait_for_name(const FleetSettings* fleet,
                                                                 std::vector<EngineOffer> offers);
  boost::asio::awaitable<Status> probe(const EngineSettings* engine, std::string model, std::string offers);
  Status make_fleet(FleetSettings fleet);
  reading::PageModel page_model(const Fleet& fleet, const ReaderWishes& wishes) const;
  int fleet_pages() const;

  ModelSetupOptions options_;
  CpuPool& cpu_;
  struct Parts;
  const std::unique_ptr<Parts> parts_;
  std::vector<std::unique_ptr<Fleet>> fleets_;  // in the order of the ladder
  std::unique_ptr<reading::ReplyCache> cache_;
  std::shared_ptr<reading::ModelReader> reader_;              // uses all above
  std::vector<std::weak_ptr<reading::ModelReader>> readers_;  // all of them: they hear when the fleets' limits move
  std::optional<Error> refused_;
  KnownModels known_;  // of the models file, and what was heard since
  std::string unsure_;
  bool waited_ = false;  // for the engines of the fleet settled last to say their model, in vain
};

// Where an output folder remembers what engines serve; empty without one.
std::filesystem::path known_models_file(const std::filesystem::path& output_folder);
// Where replies are kept: the configured folder, else inside the output folder; empty = nowhere.
std::filesystem::path reply_folder(const ModelSettings& settings, const std::filesystem::path& output_folder,
                                   bool no_cache);

}  // namespace lectern::cli
