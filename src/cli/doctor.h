// lectern doctor: each finding says what was looked at, how it is, and how to mend it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/config.h"

namespace lectern::cli {

enum class Health { good, warning, broken };
std::string_view to_string(Health health);

struct Finding {
  std::string name;
  Health health = Health::good;
  std::string detail;
  std::string mend;  // what to do; empty when there is nothing to do
  bool operator==(const Finding&) const = default;
};

std::vector<Finding> examine(const Config& config);
// A renderer that starts, by the build id of the PDF library that it loaded. PDFium does not tell its version: it is
// known only for the pinned build.
Finding renderer_finding(std::string_view pdfium_build_id);

// Where jobs are kept: nothing is made there by looking.
std::vector<Finding> examine_jobs(const Config& config);

std::string findings_text(const std::vector<Finding>& findings);
std::string findings_json(const std::vector<Finding>& findings);

}  // namespace lectern::cli
