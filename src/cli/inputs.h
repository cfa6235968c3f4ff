// From what was named on the command line to documents with names of their own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "reading/read_run.h"

namespace lectern::cli {

// An argument that gives no document, and why.
struct InputProblem {
  std::string name;
  std::string reason;
  bool operator==(const InputProblem&) const = default;
};

struct Inputs {
  std::vector<reading::RunDocument> documents;  // in the order of the command; those of a folder sorted
  std::vector<InputProblem> problems;
  std::vector<InputProblem> passed_over;  // in folders: called like documents, but not files
  UniqueFd standard_input;                // keeps the document of "-" alive; it has no name in the file system
};

struct InputOptions {
  std::vector<std::string> arguments;  // files, folders, "-" for standard input
  std::filesystem::path temporary_folder;
  int standard_input = 0;
};

// Walks folders (sorted; hidden entries, output folders of Lectern and the figures of one that is walked left out).
// Errors: standard input or the temporary folder cannot be used.
Result<Inputs> collect_inputs(const InputOptions& options);

// A file and how much of its path already belongs to its name.
struct FoundFile {
  std::filesystem::path file;      // as it will be opened and shown
  std::filesystem::path absolute;  // normalised
  int name_parts = 1;              // trailing components of `absolute` that make the name
  std::string source = {};         // RunDocument::source
};

// Names are unique and do not depend on the order of the arguments: a file's own name (or its path inside the folder
// that was walked), with as many parent folders before it as it takes to tell it from the others. Outputs are called
// like the document without its extension, or with it where two would be called the same (a.pdf, a.png).
std::vector<reading::RunDocument> name_documents(std::vector<FoundFile> files);

}  // namespace lectern::cli
