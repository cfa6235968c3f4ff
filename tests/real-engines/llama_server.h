// A llama-server of our own with the tiny model, on a free port; killed at the end.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "provider/process_child.h"
#include "temp_folder.h"

namespace lectern::provider {

class LlamaServer {
 public:
  explicit LlamaServer(std::vector<std::string> flags);

  void start();                                            // returns at once: it still has to load its model
  void kill();                                             // SIGKILL
  const std::string& address() const { return address_; }  // "http://127.0.0.1:PORT"
  std::string log() const;                                 // what it has said so far

 private:
  TempFolder folder_;
  int port_;
  std::string address_;
  std::vector<std::string> flags_;
  std::optional<ProcessChild> child_;
};

}  // namespace lectern::provider
