// What the documents of one run share. Private to reading/: read_run.cpp makes it, document_run.cpp uses it.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "reading/manifest.h"
#include "reading/output_folder.h"
#include "reading/owners.h"
#include "reading/page_window.h"
#include "reading/read_run.h"

namespace lectern::reading {

struct RunContext {
  RunContext(const boost::asio::any_io_executor& executor, RunServices s, RunOptions o)
      : services(std::move(s)), options(std::move(o)), window(executor, [this] {
          return options.pages_in_flight ? options.pages_in_flight() : options.pages_in_flight_max;
        }) {}

  // Ends the run, on the event loop's thread: an error that would hit every document.
  void give_up(const Error& error) {
    if (!fatal) fatal = error;
    options.cancellation.request();
  }
  // No page starts any more; those in flight are finished and kept.
  bool over_budget() {
    if (budget_spent || !services.spent || !reached(options.budget, services.spent())) return budget_spent;
    budget_spent = true;
    window.close();
    return true;
  }
  bool stopping() const { return options.cancellation.requested() || budget_spent; }
  bool kept() const { return folder.has_value(); }

  RunServices services;
  RunOptions options;
  std::optional<OutputFolder> folder;  // none when results go to services.output
  std::unique_ptr<Manifest> manifest;  // with the folder
  Owners owners;                       // likewise
  std::set<std::string> new_owners;    // documents that were given their name in this run
  std::vector<std::string> refusals;   // by document: why nothing can be written for it; empty = it can
  bool owners_changed = false;         // since they were saved
  PageWindow window;
  std::optional<Error> fatal;
  bool budget_spent = false;
};

}  // namespace lectern::reading
