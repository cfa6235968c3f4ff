#include "reading/known_owners.h"

#include <algorithm>
#include <vector>

#include "reading/journal.h"
#include "reading/output_format.h"

namespace lectern::reading {
namespace {

namespace fs = std::filesystem;

constexpr OutputFormat all_formats[] = {OutputFormat::markdown, OutputFormat::json, OutputFormat::text,
                                        OutputFormat::html};

struct FoundJournal {
  fs::path file;
  fs::file_time_type written_at;
};

// The latest first: of two that wrote the same file its text is the last one's.
Result<std::vector<FoundJournal>> journals_in(const fs::path& folder) {
  std::vector<FoundJournal> journals;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(folder, error); !error && it != fs::recursive_directory_iterator();
       it.increment(error)) {
    std::error_code vanished;
    if (it->path().extension() != ".journal" || !it->is_regular_file(vanished)) continue;
    journals.push_back({it->path(), it->last_write_time(vanished)});
  }
  if (error) return fail_errno(fmt::format("cannot list {}", folder.string()), error.value());
  std::ranges::sort(journals, [](const FoundJournal& a, const FoundJournal& b) {
    return a.written_at != b.written_at ? a.written_at > b.written_at : a.file < b.file;
  });
  return journals;
}

std::string without_extension(const std::string& name) {
  return fs::path(name).replace_extension().string();
}

// The stem that an output was made from.
std::string stem_of(const std::string& document, const std::string& output, OutputFormat format) {
  for (const std::string& stem : {without_extension(document), document}) {
    if (OutputFolder::output(stem, format) == output) return stem;
  }
  return output.substr(0, output.size() - std::min(output.size(), format_extension(format).size()));
}

// Whatever the document may have written under this stem.
Owner owner_of_all(const std::string& document, const std::string& stem) {
  Owner owner{.document = document, .stem = stem};
  for (const OutputFormat format : all_formats) owner.outputs.insert(OutputFolder::output(stem, format).string());
  return owner;
}

Owner owner_from(const std::string& document, const JournalContents& contents) {
  // Without a row it was stopped before it wrote anything, or after its document changed.
  if (contents.outputs.empty()) return owner_of_all(document, without_extension(document));
  Owner owner{.document = document};
  for (const Assembled& output : contents.outputs) {
    owner.stem = stem_of(document, output.output, output.format);  // the last counts
    owner.outputs.insert(output.output);
  }
  return owner;
}

Status add_journal(Owners& owners, const OutputFolder& folder, Journal::Seams seams, const fs::path& file) {
  auto opened = Journal::open(seams, file);
  if (!opened) return std::unexpected(opened.error());
  if (!*opened) return {};
  // The row's name may be shortened in the file's, the file's may hold bytes that JSON has no way to write.
  const JournalContents& contents = (*opened)->contents;
  std::string document = contents.header.document;
  if (folder.journal(document) != file) {
    document = file.lexically_relative(folder.path() / state_folder_name).replace_extension().string();
  }
  Owner owner = owner_from(document, contents);
  if (!owners.has_stem(owner.stem)) {
    owners.put(std::move(owner));
    return {};
  }
  // Another document has written over this one's files since: its text and figures are gone.
  (*opened)->journal.reset();
  return seams.disk.remove(file);
}

bool has_output(const OutputFolder& folder, const std::string& stem) {
  std::error_code ignored;  // what cannot be looked at tells nothing
  return std::ranges::any_of(all_formats, [&](OutputFormat format) {
    return fs::exists(folder.path() / OutputFolder::output(stem, format), ignored);
  });
}

// The manifest does not say what outputs are called; the outputs do, the longer name first: it can only be this one's.
void add_manifest(Owners& owners, const OutputFolder& folder, const Manifest& manifest) {
  for (const std::string& document : manifest.documents_with_pages()) {
    if (owners.named(document) != nullptr) continue;
    const std::string stem = has_output(folder, document) ? document : without_extension(document);
    if (!owners.has_stem(stem)) owners.put(owner_of_all(document, stem));
  }
}

}  // namespace

Result<Owners> known_owners(const OutputFolder& folder, Disk& disk, const Clock& clock, const Manifest& manifest) {
  auto listed = Owners::load(folder.owners());
  if (!listed) return std::unexpected(listed.error());
  if (*listed) return std::move(**listed);
  Owners owners;
  const auto journals = journals_in(folder.path() / state_folder_name);
  if (!journals) return std::unexpected(journals.error());
  for (const FoundJournal& journal : *journals) {
    if (auto added = add_journal(owners, folder, {disk, clock}, journal.file); !added) {
      return std::unexpected(added.error());
    }
  }
  add_manifest(owners, folder, manifest);
  return owners;
}

}  // namespace lectern::reading
