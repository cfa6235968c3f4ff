// What a run shows while it goes: a bar on a terminal, plain lines elsewhere, JSON lines for programs, or nothing.
// All of it goes to standard error. What is shown is decided by pure functions over ProgressState.
#pragma once

#include <cstdio>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "cli/model_load.h"
#include "reading/read_run.h"

namespace lectern::cli {

// How far a run is. Pages of documents not yet opened are unknown and not counted.
class ProgressState {
 public:
  explicit ProgressState(int documents) : documents_(documents) {}

  void started(int pages_to_read) { pages_known_ += pages_to_read; }
  void page(TimePoint now, std::int64_t completion_tokens = 0);
  void document_done() { ++documents_done_; }

  int documents() const { return documents_; }
  int documents_done() const { return documents_done_; }
  int pages_known() const { return pages_known_; }
  int pages_done() const { return pages_done_; }
  // Over the last pages that finished; nullopt until two have.
  std::optional<double> pages_per_second(TimePoint now) const;
  // Tokens that models wrote, likewise; nullopt where none did.
  std::optional<double> tokens_per_second(TimePoint now) const;
  // Of what is known; nullopt while that would be a guess.
  std::optional<std::chrono::seconds> time_left(TimePoint now) const;

 private:
  int documents_;
  int documents_done_ = 0;
  int pages_known_ = 0;
  int pages_done_ = 0;
  struct Finished {
    TimePoint when;
    std::int64_t tokens;
  };
  std::deque<Finished> recent_;  // the last pages
};

// "[####----]  12/40 pages  3.5 pages/s  0:08 left  report.pdf", at most `columns` wide.
std::string progress_bar(const ProgressState& state, const ModelLoad& load, TimePoint now, const std::string& document,
                         int columns);
// "12 of 40 pages, 3.5 pages/s, 910 tokens/s, 62/64 in flight, 2 retries, 0:08 left"
std::string progress_words(const ProgressState& state, const ModelLoad& load, TimePoint now);
// "0:08", "12:34", "1:02:03"
std::string clock_text(std::chrono::seconds time);

struct AccountOptions {
  int problems = 0;  // arguments that gave no document
  std::chrono::milliseconds took{0};
  bool kept = false;    // results went to a folder
  bool models = false;  // models were asked
};
// A run's last line.
std::string account(const reading::RunReport& report, const AccountOptions& options);

// Beyond what the run tells: arguments that gave no document, how busy the models are, the end, and errors.
class Progress : public reading::RunObserver {
 public:
  virtual void run_started(int documents) = 0;
  virtual void problem(const std::string& name, const std::string& reason) = 0;
  virtual void warning(const std::string& text) = 0;
  // Called a few times a second while models read.
  virtual void load(const ModelLoad& load) = 0;
  virtual void stopping(bool resumable) = 0;
  virtual void run_done(const reading::RunReport& report, int problems, int exit_code) = 0;
  virtual void error(const std::string& text) = 0;
};

enum class ProgressStyle { bar, lines, json, quiet };
struct ProgressOptions {
  ProgressStyle style = ProgressStyle::lines;
  bool kept = false;    // results go to a folder
  bool models = false;  // models are asked
};
std::unique_ptr<Progress> make_progress(ProgressOptions options, const Clock& clock, std::FILE* out);

}  // namespace lectern::cli
