// What is remembered of one page beside its result: a row of the manifest (docs/output-folder.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "reading/page_result.h"

namespace lectern::reading {

enum class PageState : std::uint8_t {
  pending,
  ok,
  fallback,  // read, but not by the model that was asked first, or only in part
  failed,
};
std::string_view to_string(PageState state);

struct PageRecord {
  int page = 0;  // from 1
  PageState state = PageState::pending;
  std::string reader;
  std::string model;                 // which model, when one read it
  int attempts = 0;                  // over all runs
  std::string reason;                // why it failed or fell back; empty otherwise
  Tokens tokens;                     // of the last attempt; zero where no model was asked
  std::vector<std::string> figures;  // files that it links to, relative to the folder of its output
  WallTime started_at{};
  std::int64_t ms = 0;  // of the last attempt
  bool operator==(const PageRecord&) const = default;
};

// Why somebody else than the first model read the page, or why there is only part of it; nullopt: the first model has
// read it, or nobody could.
std::optional<std::string> fallback_reason(const PageResult& result);

// Somebody ended the page's last attempt, rather than that it failed.
bool was_cut_short(const PageResult& result);

// `attempts_before` are those of earlier runs.
PageRecord record_of(const PageResult& result, WallTime started_at, int attempts_before);

// One line of JSON, as in the manifest: {"document":"a.pdf","page":3,"state":"ok",…}. `document` may be empty: then the
// key is absent. Fields without a value are absent.
std::string to_json(const PageRecord& record, std::string_view document);
struct NamedRecord {
  std::string document;
  PageRecord record;
  bool operator==(const NamedRecord&) const = default;
};
// Errors (corrupt) name the field that is wrong.
Result<NamedRecord> record_from_json(std::string_view json);

}  // namespace lectern::reading
