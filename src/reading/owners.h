// Who owns what in an output folder (docs/output-folder.md, "Whose files"): a document keeps its name over runs, no
// other document takes its outputs, and a file that nobody here owns is somebody else's and stays.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/disk.h"
#include "base/error.h"

namespace lectern::reading {

struct Owner {
  std::string document;           // its name in the folder
  std::string stem;               // name of its outputs without extension
  std::string source;             // absolute path that it was read from; empty = not known
  std::string relative;           // the same as seen from the output folder: survives a move of both
  std::set<std::string> outputs;  // files that its runs may replace, relative to the folder
  bool operator==(const Owner&) const = default;
};

class Owners {
 public:
  // nullopt: there is no such file. Errors name file and line.
  static Result<std::optional<Owners>> load(const std::filesystem::path& file);
  Status save(Disk& disk, const std::filesystem::path& file) const;

  const Owner* named(const std::string& document) const;
  const Owner* from(const std::string& source) const;
  bool has_stem(const std::string& stem) const { return stems_.contains(stem); }
  // The stem must be the document's own. Returns whether something changed.
  bool put(Owner owner);
  bool remove(const std::string& document);

 private:
  std::map<std::string, Owner> owners_;         // by document
  std::map<std::string, std::string> sources_;  // source → document
  std::map<std::string, std::string> stems_;    // stem → document
};

}  // namespace lectern::reading
