#include "job/handlers/fate.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

namespace lectern::job {
namespace {

constexpr Millis away_delay = 2'000;
constexpr Millis full_delay = 10'000;
constexpr Millis reader_delay = 15'000;  // somebody has to start or mend an engine, or the installation

Outcome failed(std::string error) {
  return {.ending = Ending::failed, .error = std::move(error)};
}
Outcome again(std::string error, Millis delay = 0) {
  return {.ending = Ending::again, .error = std::move(error), .delay = delay};
}
Outcome back(const Error& error, Millis delay) {
  return {.ending = Ending::give_back, .error = error.for_caller, .for_log = error.for_log, .delay = delay};
}
// The words are for whoever sent the document; where renderer and library should be is for us.
Outcome no_renderer(std::string for_log) {
  return {.ending = Ending::give_back,
          .error = "the worker cannot open or draw documents now: its installation is broken",
          .for_log = std::move(for_log),
          .delay = reader_delay};
}

}  // namespace

Outcome after_blob_error(const Error& error) {
  switch (error.kind) {
    case ErrorKind::unavailable:
    case ErrorKind::timeout:
    case ErrorKind::cancelled:
      return back(error, away_delay);
    case ErrorKind::overloaded:
      return back(error, full_delay);
    case ErrorKind::not_found:
    case ErrorKind::corrupt:
    case ErrorKind::invalid_input:
      return failed(error.for_caller);
    case ErrorKind::conflict:
    case ErrorKind::internal:
      return again(error.for_caller);
  }
  return again(error.for_caller);
}

Outcome after_open_error(const Error& error, const std::string& document) {
  const std::string text = in_words_of_the_api(without_name(error.for_caller, document));
  switch (error.kind) {
    case ErrorKind::invalid_input:
    case ErrorKind::corrupt:
    case ErrorKind::timeout:
    case ErrorKind::not_found:
      return failed(text);
    case ErrorKind::unavailable:
      return no_renderer(error.for_log);
    case ErrorKind::conflict:
    case ErrorKind::overloaded:
    case ErrorKind::cancelled:
    case ErrorKind::internal:
      return again(text);
  }
  return again(text);
}

std::optional<Outcome> after_unread_page(const reading::PageResult& page) {
  if (page.error.empty()) return std::nullopt;
  const std::string_view lacking = to_string(ErrorKind::unavailable);
  const auto attempt = std::ranges::find(page.attempts, lacking, &reading::Attempt::outcome);
  if (attempt == page.attempts.end()) return std::nullopt;
  return no_renderer(attempt->reason);
}

Outcome after_reader_error(const Error& error) {
  switch (error.kind) {
    case ErrorKind::invalid_input:
    case ErrorKind::not_found:
      return failed(error.for_caller);
    case ErrorKind::timeout:
    case ErrorKind::overloaded:
    case ErrorKind::cancelled:
    case ErrorKind::unavailable:
      return back(error, reader_delay);
    case ErrorKind::conflict:
    case ErrorKind::corrupt:
    case ErrorKind::internal:
      return again(error.for_caller, reader_delay);
  }
  return again(error.for_caller, reader_delay);
}

std::string in_words_of_the_api(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> words = {
      {{"give --password or LECTERN_PASSWORD", "send it with the job as the field 'password'"},
       {"--pages", "'pages'"}}};
  for (const auto& [flag, field] : words) {
    if (const auto at = text.find(flag); at != std::string::npos) text.replace(at, flag.size(), field);
  }
  return text;
}

std::string without_name(const std::string& text, const std::string& document) {
  for (const std::string& name : {document, std::filesystem::path(document).filename().string()}) {
    if (!name.empty() && text.starts_with(name + ": ")) return text.substr(name.size() + 2);
  }
  return text;
}

}  // namespace lectern::job
