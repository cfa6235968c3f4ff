// Jobs as people look at them on a terminal. Pure functions over the JSON of the HTTP API.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace lectern::cli {

struct JobRow {
  std::string id;
  std::string status;
  std::string operation;
  std::string tenant;
  std::string document;
  std::string step;  // the one under way, or the last
  int pages_total = 0;
  int pages_ok = 0;
  int pages_fallback = 0;
  int pages_failed = 0;
  std::string created_at;
  std::string error;

  int pages_done() const { return pages_ok + pages_fallback + pages_failed; }
  bool over() const { return status == "succeeded" || status == "failed" || status == "cancelled"; }
  bool operator==(const JobRow&) const = default;
};

struct JobPage {
  std::vector<JobRow> rows;
  std::string next;  // empty = the last
};

// Errors: corrupt (what answered was not a lectern serve).
Result<JobRow> job_row(std::string_view job_json);
Result<JobPage> job_page(std::string_view jobs_json);

// Columns, aligned, no line wider than `width`.
std::string jobs_table(const std::vector<JobRow>& rows, int width);
// "job_… running: read, 3 of 10 pages, 1 failed  report.pdf"
std::string job_line(const JobRow& row);
// A job at length: everything it says, its steps, and its events (JSON of the API).
Result<std::string> job_story(std::string_view job_json, const std::vector<std::string>& event_pages);

}  // namespace lectern::cli
