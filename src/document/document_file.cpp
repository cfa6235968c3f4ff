#include "document/document_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

namespace lectern::document {
namespace {

// What stands there instead of a file; nullptr when it is a file.
const char* not_a_file(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return nullptr;
    case S_IFDIR:
      return "is a folder, not a document";
    case S_IFIFO:
      return "is a pipe; save it to a file first";
    case S_IFCHR:
    case S_IFBLK:
      return "is a device, not a document";
    case S_IFSOCK:
      return "is a socket, not a document";
    default:
      return "is not a file";
  }
}

std::unexpected<Error> refuse(ErrorKind kind, const std::filesystem::path& file, std::string_view reason) {
  return std::unexpected(Error{kind, fmt::format("{}: {}", file.string(), reason),
                               fmt::format("{}: {}", file.filename().string(), reason)});
}

}  // namespace

Result<UniqueFd> open_document_file(const std::filesystem::path& file) {
  // O_NONBLOCK: opening a pipe without a writer would wait forever. It means nothing for regular files.
  UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    const int error_number = errno;
    struct stat status{};
    if (::stat(file.c_str(), &status) == 0) {
      if (const char* reason = not_a_file(status.st_mode)) return refuse(ErrorKind::invalid_input, file, reason);
    }
    switch (error_number) {
      case ENOENT:
      case ENOTDIR:
        return refuse(ErrorKind::not_found, file, "there is no such file");
      case EACCES:
      case EPERM:
        return refuse(ErrorKind::invalid_input, file, "may not be read (permission denied)");
      default: {
        auto failure = fail_errno("cannot be opened", error_number);
        return refuse(failure.error().kind, file, failure.error().for_log);
      }
    }
  }
  if (auto sound = check_document_file(fd.get(), file); !sound) return std::unexpected(sound.error());
  return fd;
}

Status check_document_file(int fd, const std::filesystem::path& name) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) {
    auto failure = fail_errno("cannot be looked at", errno);
    return refuse(failure.error().kind, name, failure.error().for_log);
  }
  if (const char* reason = not_a_file(status.st_mode)) return refuse(ErrorKind::invalid_input, name, reason);
  if (status.st_size == 0) return refuse(ErrorKind::invalid_input, name, "is empty");
  return {};
}

}  // namespace lectern::document
