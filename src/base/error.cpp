#include "base/error.h"

#include <cerrno>
#include <system_error>

namespace lectern {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_input:
      return "invalid_input";
    case ErrorKind::not_found:
      return "not_found";
    case ErrorKind::conflict:
      return "conflict";
    case ErrorKind::overloaded:
      return "overloaded";
    case ErrorKind::timeout:
      return "timeout";
    case ErrorKind::cancelled:
      return "cancelled";
    case ErrorKind::unavailable:
      return "unavailable";
    case ErrorKind::corrupt:
      return "corrupt";
    case ErrorKind::internal:
      return "internal";
  }
  return "internal";
}

std::unexpected<Error> fail_errno(std::string_view what, int error_number) {
  const auto kind = [&] {
    switch (error_number) {
      case ENOENT:
      case ENOTDIR:
        return ErrorKind::not_found;
      case EACCES:
      case EPERM:
      case EISDIR:
      case EINVAL:
      case ENAMETOOLONG:
        return ErrorKind::invalid_input;
      case ENOSPC:
      case EDQUOT:
      case ENOMEM:
      case EMFILE:
      case ENFILE:
      case EAGAIN:
        return ErrorKind::overloaded;
      case ETIMEDOUT:
        return ErrorKind::timeout;
      case ECANCELED:
        return ErrorKind::cancelled;
      default:
        return ErrorKind::unavailable;
    }
  }();
  return fail(kind, "{}: {}", what, std::generic_category().message(error_number));
}

}  // namespace lectern
