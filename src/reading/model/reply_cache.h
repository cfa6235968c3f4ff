// Good answers kept by content: the same picture, prompt, model and parameters are paid for once, in whatever document
// and run they come up again. One small file an answer, named by the hash of the question; a torn or foreign file is as
// good as none.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/disk.h"
#include "provider/provider.h"

namespace lectern::reading {

// SHA-256 over all that the answer depends on: the prompt, and what the engines add to every request of their own.
std::string question_hash(const provider::Prompt& prompt, std::string_view engine_extras = {});

// Thread safe; calls block on the disk, so they belong on the CPU pool.
class ReplyCache {
 public:
  ReplyCache(Disk& disk, std::filesystem::path folder) : disk_(disk), folder_(std::move(folder)) {}

  std::optional<provider::Reply> find(const std::string& question) const;
  // An answer that cannot be kept costs nothing but asking again, so errors are for the log alone.
  Status keep(const std::string& question, const provider::Reply& reply) const;

 private:
  std::filesystem::path file_of(const std::string& question) const;

  Disk& disk_;
  const std::filesystem::path folder_;
};

}  // namespace lectern::reading
