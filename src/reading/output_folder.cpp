#include "reading/output_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "base/hash.h"
#include "reading/output_format.h"

namespace lectern::reading {
namespace {

// A run writes its process id into the lock file and empties it when it ends in order.
std::string holder(int fd) {
  char text[32] = {};
  const ssize_t got = ::pread(fd, text, sizeof text - 1, 0);
  return {text, static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

// Temporary files that a killed run left behind: "a.md.1234-0.tmp", named by AtomicFile.
bool is_stray(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  if (!name.ends_with(".tmp")) return false;
  const std::string_view head = std::string_view(name).substr(0, name.size() - 4);
  const auto dot = head.rfind('.');
  return dot != std::string_view::npos && dot + 1 < head.size() &&
         head.find_first_not_of("0123456789-", dot + 1) == std::string_view::npos;
}

Status sweep(Disk& disk, const std::filesystem::path& folder) {
  std::error_code error;
  for (auto it = std::filesystem::recursive_directory_iterator(folder, error);
       !error && it != std::filesystem::recursive_directory_iterator(); it.increment(error)) {
    if (!it->is_regular_file(error) || !is_stray(it->path())) continue;
    if (auto removed = disk.remove(it->path()); !removed) return removed;
  }
  if (error) return fail_errno(fmt::format("cannot list {}", folder.string()), error.value());
  return {};
}

// `path` with an ending. Where the file system would not take so long a name, its tail gives way to a hash of the
// whole: names that differ stay different.
std::filesystem::path with_ending(const std::string& path, std::string_view ending) {
  const auto slash = path.rfind('/');
  const std::size_t begins = slash == std::string::npos ? 0 : slash + 1;
  const std::string_view name = std::string_view(path).substr(begins);
  if (name.size() + ending.size() <= NAME_MAX) return path + std::string(ending);
  const std::string hash = "~" + sha256_hex(name).substr(0, 16);
  std::size_t cut = NAME_MAX - ending.size() - hash.size();
  while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xC0U) == 0x80) --cut;  // between characters of UTF-8
  return fmt::format("{}{}{}", std::string_view(path).substr(0, begins + cut), hash, ending);
}

}  // namespace

OutputFolder::OutputFolder(std::filesystem::path folder, UniqueFd lock)
    : folder_(std::move(folder)), lock_(std::move(lock)) {}

OutputFolder::~OutputFolder() {
  // An emptied lock file tells the next run that this one ended in order. If that fails, the next run merely looks for
  // leftovers that are not there.
  if (lock_) std::ignore = ::ftruncate(lock_.get(), 0);
}

Result<OutputFolder> OutputFolder::open(Disk& disk, std::filesystem::path folder) {
  std::error_code ignored;  // making the folder tells what is wrong
  if (std::filesystem::exists(folder, ignored) && !std::filesystem::is_directory(folder, ignored)) {
    return fail(ErrorKind::invalid_input, "{} is a file, not a folder: name a folder with -o", folder.string());
  }
  if (auto made = disk.make_folders(folder / state_folder_name); !made) return std::unexpected(made.error());
  const auto file = folder / state_folder_name / "lock";
  UniqueFd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock) return fail_errno(fmt::format("cannot open {}", file.string()), errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return fail_errno(fmt::format("cannot lock {}", file.string()), errno);
    const std::string who = holder(lock.get());
    return fail(ErrorKind::conflict,
                "another lectern{} is writing to {}; wait until it ends, or choose another folder with -o",
                who.empty() ? "" : fmt::format(" (process {})", who), folder.string());
  }
  if (!holder(lock.get()).empty()) {
    if (auto swept = sweep(disk, folder); !swept) return std::unexpected(swept.error());
  }
  if (auto emptied = disk.truncate(lock.get(), 0, file); !emptied) return std::unexpected(emptied.error());
  if (auto noted = disk.write_all(lock.get(), fmt::format("{}", ::getpid()), file); !noted) {
    return std::unexpected(noted.error());
  }
  return OutputFolder(std::move(folder), std::move(lock));
}

std::filesystem::path OutputFolder::manifest() const {
  return folder_ / "manifest.jsonl";
}

std::filesystem::path OutputFolder::owners() const {
  return folder_ / state_folder_name / "documents.jsonl";
}

std::filesystem::path OutputFolder::journal(const std::string& document) const {
  return folder_ / state_folder_name / with_ending(document, ".journal");
}

std::filesystem::path OutputFolder::output(const std::string& stem, OutputFormat format) {
  return with_ending(stem, format_extension(format));
}

std::filesystem::path OutputFolder::figures(const std::string& stem) const {
  return folder_ / with_ending(stem, ".figures");
}

}  // namespace lectern::reading
