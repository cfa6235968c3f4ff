// The readers of a worker: one for each set of wishes that jobs have, over the engines that the worker was given.
// Fleets are shared by all readers of a model, so that an engine is kept full and not overrun whatever jobs ask for.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/config.h"
#include "base/timers.h"
#include "cli/model_load.h"
#include "cli/model_settings.h"
#include "job/handlers/reader_source.h"

namespace lectern {
class CpuPool;
}

namespace lectern::cli {

// Not thread safe: all calls come from one event loop thread. Config, CPU pool and timers are borrowed.
class JobReaders final : public job::ReaderSource {
 public:
  struct Parts {
    boost::asio::any_io_executor executor;
    const Config& config;
    CpuPool& cpu;
    Timers& timers;
    std::optional<ModelSettings> models;  // nullopt = the builtin reader reads everything
  };
  explicit JobReaders(Parts parts);
  ~JobReaders() override;

  // Nothing is asked of an engine, and no OCR is loaded, before the first page needs it.
  boost::asio::awaitable<Result<job::JobReader>> reader(std::string operation, job::JobOptions options) override;

  // How many pages the worker may have in hand, now.
  int room() const;
  // Lets go of readers that nobody has used for a while, and of the OCR engines that they keep.
  void close_idle();
  bool empty() const { return readers_.empty(); }
  ModelLoad load() const;  // of all fleets together

 private:
  struct Wishes;
  struct Models;
  struct Reader;
  boost::asio::awaitable<Result<std::shared_ptr<Models>>> models_for(std::string model);
  boost::asio::awaitable<void> listen_again(std::string model);
  boost::asio::awaitable<Result<std::shared_ptr<Reader>>> make(Wishes wishes);

  const Parts parts_;
  std::map<std::string, std::shared_ptr<Models>> models_;   // by model name; shared with the readers over them
  std::map<std::string, std::shared_ptr<Reader>> readers_;  // by wishes; shared with the pages being read
};

}  // namespace lectern::cli
