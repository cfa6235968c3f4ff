// base/: results and errors, bytes, hashes, time, configuration, async helpers.
// May use: nothing of ours. Knows nothing of documents, pages or models.
// Start at error.h (every fallible function returns Result), then async.h (event loop and CPU pool).
#pragma once

#include <fmt/format.h>

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace lectern {

enum class ErrorKind {
  invalid_input,  // the caller's input is wrong and will stay wrong: bad flag, unreadable document, wrong password
  not_found,      // the named thing does not exist
  conflict,       // the thing exists but is in a state that forbids this
  overloaded,     // a limit was reached; the same call may succeed later
  timeout,        // a deadline passed
  cancelled,      // somebody asked for it to stop
  unavailable,    // a process, server or library that we depend on is not there (now)
  corrupt,        // data that should be sound is not: torn file, broken protocol
  internal,       // a bug of ours
};

// An expected failure, passed as a value. `for_log` may name paths, pids and addresses; `for_caller` is safe to show to
// whoever sent the input: it names the input and says what to do.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string for_log;
  std::string for_caller;

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

std::string_view to_string(ErrorKind kind);

// The same text for both readers.
[[nodiscard]] inline std::unexpected<Error> fail(ErrorKind kind, std::string text) {
  std::string copy = text;
  return std::unexpected(Error{kind, std::move(text), std::move(copy)});
}

template <class... Args>
  requires(sizeof...(Args) > 0)
[[nodiscard]] std::unexpected<Error> fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return fail(kind, fmt::format(format, std::forward<Args>(args)...));
}

// A failed system call: kind from errno, text "what: strerror".
[[nodiscard]] std::unexpected<Error> fail_errno(std::string_view what, int error_number);

}  // namespace lectern
