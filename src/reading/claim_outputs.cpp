#include "reading/claim_outputs.h"

#include "base/hash.h"
#include "document/document_file.h"
#include "reading/journal.h"
#include "reading/known_owners.h"
#include "reading/obstacles.h"
#include "reading/settle_names.h"

namespace lectern::reading {
namespace {

namespace fs = std::filesystem;

bool is_standard_input(const std::string& source) {
  return source == "-";
}

std::string normal(const fs::path& path) {
  return fs::absolute(path).lexically_normal().string();
}

std::string relative_to(const OutputFolder& folder, const std::string& source) {
  if (is_standard_input(source)) return source;
  return fs::path(source).lexically_relative(normal(folder.path() / "")).string();
}

bool has_bytes_of(const fs::path& file, const std::string& sha256) {
  const auto fd = document::open_document_file(file);
  if (!fd) return false;
  const auto hash = sha256_hex_of_file(fd->get());
  return hash && *hash == sha256;
}

class Claiming {
 public:
  explicit Claiming(RunContext& context)
      : context_(context), folder_(*context.folder), documents_(context.options.documents), inputs_(documents_) {}

  Status claim() {
    auto known = known_owners(folder_, context_.services.disk, context_.services.clock, *context_.manifest);
    if (!known) return std::unexpected(known.error());
    context_.owners = std::move(*known);
    context_.refusals.assign(documents_.size(), "");
    for (const RunDocument& document : documents_) {
      claimants_.push_back({.name = document.name,
                            .stem = document.stem,
                            .source = document.source.empty() ? normal(document.file) : document.source});
    }
    const auto same = [this](const Owner& owner, std::size_t i) { return is_same(owner, i); };
    const std::vector<Settled> settled = settle_names(context_.owners, claimants_, same);
    for (std::size_t i = 0; i < documents_.size(); ++i) settle(i, settled[i]);
    if (!changed_) return {};
    return context_.owners.save(context_.services.disk, folder_.owners());
  }

 private:
  bool is_same(const Owner& owner, std::size_t i) const {
    if (owner.source.empty()) return true;  // earlier versions knew names only
    std::error_code ignored;                // what cannot be looked at is not there
    const bool moved = !fs::exists(owner.source, ignored);
    if (moved && owner.relative == relative_to(folder_, claimants_[i].source)) return true;
    const auto header = Journal::read_header(folder_.journal(owner.document));
    return header && has_bytes_of(documents_[i].file, header->identity.sha256);
  }

  void settle(std::size_t i, const Settled& settled) {
    RunDocument& document = documents_[i];
    if (settled.name.empty()) {
      context_.refusals[i] =
          fmt::format("{} holds the results of another document of this name; choose another folder with -o",
                      folder_.path().string());
      return;
    }
    document.name = settled.name;
    document.stem = settled.stem;
    Owner owner{.document = settled.name, .stem = settled.stem};
    if (settled.known) owner = *context_.owners.named(settled.name);
    const std::string output = OutputFolder::output(settled.stem, context_.options.format).string();
    if (auto obstacle = find_obstacle(folder_, owner, settled.known, output, inputs_)) {
      context_.refusals[i] = std::move(*obstacle);
      return;
    }
    owner.outputs.insert(output);
    remember_source(owner, claimants_[i].source);
    if (!settled.known) context_.new_owners.insert(settled.name);
    changed_ |= context_.owners.put(std::move(owner));
  }

  // A copy of a document that is still there does not become the document.
  void remember_source(Owner& owner, const std::string& source) const {
    std::error_code ignored;  // as above
    if (!owner.source.empty() && owner.source != source && fs::exists(owner.source, ignored)) return;
    owner.source = source;
    owner.relative = relative_to(folder_, source);
  }

  RunContext& context_;
  const OutputFolder& folder_;
  std::vector<RunDocument>& documents_;
  const InputFiles inputs_;
  std::vector<Claimant> claimants_;
  bool changed_ = false;
};

}  // namespace

Status claim_outputs(RunContext& context) {
  return Claiming(context).claim();
}

}  // namespace lectern::reading
