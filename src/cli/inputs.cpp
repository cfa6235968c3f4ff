#include "cli/inputs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <set>

#include "base/disk.h"
#include "reading/document_type.h"
#include "reading/figure_files.h"
#include "reading/output_folder.h"

namespace lectern::cli {
namespace {

namespace fs = std::filesystem;

std::string tail_of(const fs::path& path, int parts) {
  std::vector<std::string> components;
  for (const fs::path& component : path.relative_path()) components.push_back(component.string());
  const auto first = components.size() - std::min(components.size(), static_cast<std::size_t>(parts));
  std::string tail;
  for (std::size_t i = first; i < components.size(); ++i) tail += (tail.empty() ? "" : "/") + components[i];
  return tail;
}

int count_parts(const fs::path& path) {
  const auto relative = path.relative_path();
  return static_cast<int>(std::distance(relative.begin(), relative.end()));
}

// Indices of those whose value occurs more than once.
std::set<std::size_t> duplicates(const std::vector<std::string>& values) {
  std::map<std::string_view, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < values.size(); ++i) places[values[i]].push_back(i);
  std::set<std::size_t> found;
  for (const auto& [value, where] : places) {
    if (where.size() > 1) found.insert(where.begin(), where.end());
  }
  return found;
}

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

// What stands there instead of a file; empty where nothing does any more.
std::string_view not_a_file(const fs::directory_entry& entry) {
  std::error_code error;
  switch (entry.status(error).type()) {
    case fs::file_type::not_found:
      return entry.is_symlink(error) ? "is a link to something that is not there" : "";
    case fs::file_type::fifo:
      return "is a pipe";
    case fs::file_type::directory:
      return entry.is_symlink(error) ? "is a link to a folder" : "";
    default:
      return "is not a file";
  }
}

struct Walked {
  std::vector<fs::path> files;
  std::vector<InputProblem> passed_over;
};

// Sorted by path; the error of the first folder that cannot be listed.
Result<Walked> walk(const fs::path& folder) {
  Walked walked;
  std::vector<fs::path> folders = {folder};
  std::error_code unsure;  // a folder that cannot be looked at is an error below
  const bool output_folder = fs::exists(folder / reading::state_folder_name, unsure);
  while (!folders.empty()) {
    const fs::path current = folders.back();
    folders.pop_back();
    std::error_code error;
    for (auto it = fs::directory_iterator(current, error); !error && it != fs::directory_iterator();
         it.increment(error)) {
      if (is_hidden(it->path())) continue;
      std::error_code unreadable;  // an entry that vanished or cannot be looked at is not a document
      if (it->is_directory(unreadable) && !it->is_symlink(unreadable)) {
        // What an earlier run wrote (figures are pictures, too) is not to be read.
        if (!fs::exists(it->path() / reading::state_folder_name, unreadable)) folders.push_back(it->path());
      } else if (!reading::has_document_extension(it->path())) {
        continue;
      } else if (it->is_regular_file(unreadable)) {
        const bool figure = output_folder && current.extension() == ".figures" &&
                            reading::is_figure_name(it->path().filename().string());
        if (!figure) walked.files.push_back(it->path());
      } else if (const std::string_view reason = not_a_file(*it); !reason.empty()) {
        walked.passed_over.push_back({it->path().string(), std::string(reason)});
      }
    }
    if (error) return fail_errno(fmt::format("cannot list {}", current.string()), error.value());
  }
  std::ranges::sort(walked.files);
  std::ranges::sort(walked.passed_over, {}, &InputProblem::name);
  return walked;
}

// Standard input as a file that can be read from any place, without a name.
Result<UniqueFd> spool(int from, const fs::path& temporary_folder) {
  auto file = nameless_file(temporary_folder);
  if (!file) return file;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(from, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("cannot read standard input", errno);
    if (got == 0) return file;
    const std::string_view bytes(buffer, static_cast<std::size_t>(got));
    if (auto written = real_disk().write_all(file->get(), bytes, temporary_folder); !written) {
      return std::unexpected(written.error());
    }
  }
}

class Collector {
 public:
  Status add(const std::string& argument, const InputOptions& options, Inputs& inputs) {
    std::error_code error;
    const auto status = fs::status(argument, error);
    if (argument == "-") {
      if (inputs.standard_input) return {};
      auto file = spool(options.standard_input, options.temporary_folder);
      if (!file) return std::unexpected(file.error());
      inputs.standard_input = std::move(*file);
      keep({fmt::format("/proc/self/fd/{}", inputs.standard_input.get()), "/stdin", 1, "-"});
    } else if (status.type() == fs::file_type::directory) {
      add_folder(argument, inputs);
    } else if (status.type() == fs::file_type::not_found) {
      inputs.problems.push_back({argument, "there is no such file"});
    } else if (error) {
      inputs.problems.push_back({argument, error.message()});
    } else {
      keep({argument, fs::absolute(argument).lexically_normal(), 1});
    }
    return {};
  }
  std::vector<FoundFile> take() { return std::move(files_); }

 private:
  void add_folder(const fs::path& folder, Inputs& inputs) {
    const auto found = walk(folder);
    if (!found) {
      inputs.problems.push_back({folder.string(), found.error().for_caller});
      return;
    }
    inputs.passed_over.insert(inputs.passed_over.end(), found->passed_over.begin(), found->passed_over.end());
    if (found->files.empty()) {
      inputs.problems.push_back({folder.string(), fmt::format("no documents in this folder (looked for {})",
                                                              reading::document_extensions())});
      return;
    }
    const fs::path base = (fs::absolute(folder) / "").lexically_normal().parent_path();
    for (const fs::path& file : found->files) {
      const fs::path absolute = fs::absolute(file).lexically_normal();
      keep({file, absolute, count_parts(absolute) - count_parts(base)});
    }
  }
  // A file named twice is read once.
  void keep(FoundFile file) {
    if (seen_.insert(file.absolute).second) files_.push_back(std::move(file));
  }

  std::vector<FoundFile> files_;
  std::set<fs::path> seen_;
};

}  // namespace

std::vector<reading::RunDocument> name_documents(std::vector<FoundFile> files) {
  std::vector<std::string> names(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) names[i] = tail_of(files[i].absolute, files[i].name_parts);
  for (bool grew = true; grew;) {
    grew = false;
    for (const std::size_t i : duplicates(names)) {
      if (files[i].name_parts >= count_parts(files[i].absolute)) continue;
      names[i] = tail_of(files[i].absolute, ++files[i].name_parts);
      grew = true;
    }
  }
  std::vector<std::string> stems(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) stems[i] = fs::path(names[i]).replace_extension().string();
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::size_t i : duplicates(stems)) {
      changed = changed || stems[i] != names[i];
      stems[i] = names[i];
    }
  }
  std::vector<reading::RunDocument> documents;
  for (std::size_t i = 0; i < files.size(); ++i) {
    documents.push_back({files[i].file, names[i], stems[i], files[i].source});
  }
  return documents;
}

Result<Inputs> collect_inputs(const InputOptions& options) {
  Inputs inputs;
  Collector collector;
  for (const std::string& argument : options.arguments) {
    if (auto added = collector.add(argument, options, inputs); !added) return std::unexpected(added.error());
  }
  inputs.documents = name_documents(collector.take());
  return inputs;
}

}  // namespace lectern::cli
