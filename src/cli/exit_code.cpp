#include <fmt/format.h>

#include "cli/commands.h"

namespace lectern::cli {

int exit_code(const Error& error) {
  switch (error.kind) {
    case ErrorKind::not_found:
    case ErrorKind::conflict:
      return exit_none_read;
    case ErrorKind::invalid_input:
      return exit_usage;
    case ErrorKind::cancelled:
      return exit_stopped;
    case ErrorKind::overloaded:
    case ErrorKind::timeout:
    case ErrorKind::unavailable:
    case ErrorKind::corrupt:
    case ErrorKind::internal:
      return exit_run_ended;
  }
  return exit_run_ended;
}

int fail_with(const Error& error) {
  fmt::print(stderr, "lectern: {}\n", error.for_caller);
  return exit_code(error);
}

}  // namespace lectern::cli
