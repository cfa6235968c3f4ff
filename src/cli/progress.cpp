#include "cli/progress.h"

#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/printable.h"

namespace lectern::cli {
namespace {

using reading::DocumentOutcome;
using reading::DocumentReport;
using reading::PageRecord;
using reading::PageState;
using reading::RunDocument;
using reading::RunReport;

std::chrono::milliseconds since(TimePoint start, const Clock& clock) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock.now() - start);
}

// Errors and nothing else.
class QuietProgress : public Progress {
 public:
  QuietProgress(ProgressOptions options, const Clock& clock, std::FILE* out)
      : options_(options), clock_(clock), out_(out), state_(0), start_(clock.now()) {}

  void run_started(int documents) override { state_ = ProgressState(documents); }
  void document_started(const RunDocument&, int, int pages_to_read) override { state_.started(pages_to_read); }
  void page_done(const RunDocument& document, const PageRecord& record) override {
    state_.page(clock_.now(), record.tokens.completion);
    if (record.state == PageState::failed) {
      say(fmt::format("{}: page {} could not be read: {}", document.name, record.page, record.reason));
    }
  }
  void document_done(const DocumentReport& report) override {
    state_.document_done();
    if (report.outcome == DocumentOutcome::failed) say(fmt::format("{}: {}", report.name, report.error));
  }
  void problem(const std::string& name, const std::string& reason) override {
    state_.document_done();
    say(fmt::format("{}: {}", name, reason));
  }
  void warning(const std::string& text) override { say(fmt::format("lectern: {}", text)); }
  void load(const ModelLoad& load) override {
    for (const EngineChange& change : engine_changes(load_, load)) engine_changed(change);
    load_ = load;
  }
  void stopping(bool) override {}
  void run_done(const RunReport&, int, int) override {}
  void error(const std::string& text) override { say(fmt::format("lectern: {}", text)); }

 protected:
  // To be quiet is to say what went wrong, and no more.
  virtual void engine_changed(const EngineChange& change) {
    if (change.away) say(to_text(change));
  }
  virtual void say(const std::string& line) {
    fmt::print(out_, "{}\n", printable(line));
    std::fflush(out_);
  }

  const ProgressOptions options_;
  const Clock& clock_;
  std::FILE* const out_;
  ProgressState state_;
  ModelLoad load_;
  const TimePoint start_;
};

// One line for each document, and now and then one for a long one.
class LineProgress : public QuietProgress {
 public:
  using QuietProgress::QuietProgress;

  void page_done(const RunDocument& document, const PageRecord& record) override {
    QuietProgress::page_done(document, record);
    if (clock_.now() < next_line_) return;
    say(progress_words(state_, load_, clock_.now()));
    next_line_ = clock_.now() + line_interval;
  }
  void document_done(const DocumentReport& report) override {
    QuietProgress::document_done(report);
    if (report.outcome == DocumentOutcome::up_to_date) {
      say(fmt::format("{}: up to date", report.name));
    } else if (report.outcome == DocumentOutcome::read) {
      const int pages = report.pages_ok + report.pages_fallback + report.pages_failed;
      std::string line = fmt::format("{}: {} page{}", report.name, pages, pages == 1 ? "" : "s");
      if (report.pages_fallback > 0) line += fmt::format(", {} fallen back", report.pages_fallback);
      if (report.pages_failed > 0) line += fmt::format(", {} failed", report.pages_failed);
      say(report.output.empty() ? line : line + " -> " + report.output);
    }
  }
  void stopping(bool resumable) override {
    say(!resumable        ? "Stopping. Press Ctrl-C again to leave at once."
        : options_.models ? "Stopping; what is done is kept. Press Ctrl-C again to leave at once."
                          : "Stopping; pages in hand are being finished. Press Ctrl-C again to leave at once.");
  }
  void run_done(const RunReport& report, int problems, int) override {
    say(account(
        report,
        {.problems = problems, .took = since(start_, clock_), .kept = options_.kept, .models = options_.models}));
  }

 protected:
  void engine_changed(const EngineChange& change) override { say(to_text(change)); }

 private:
  static constexpr std::chrono::seconds line_interval{10};
  TimePoint next_line_ = start_ + line_interval;
};

// One line that is drawn over and over; what must stay is printed above it.
class BarProgress final : public LineProgress {
 public:
  using LineProgress::LineProgress;

  void document_started(const RunDocument& document, int wanted, int pages_to_read) override {
    LineProgress::document_started(document, wanted, pages_to_read);
    document_ = document.name;
    draw();
  }
  void page_done(const RunDocument& document, const PageRecord& record) override {
    QuietProgress::page_done(document, record);
    document_ = document.name;
    draw();
  }
  void document_done(const DocumentReport& report) override {
    // A hundred lines "up to date" would hide what matters; the account at the end counts them.
    if (report.outcome == DocumentOutcome::up_to_date) {
      QuietProgress::document_done(report);
    } else {
      LineProgress::document_done(report);
    }
    draw();
  }
  void load(const ModelLoad& load) override {
    LineProgress::load(load);
    draw();
  }
  void run_done(const RunReport& report, int problems, int exit_code) override {
    over_ = true;
    LineProgress::run_done(report, problems, exit_code);
  }
  void error(const std::string& text) override {
    over_ = true;
    LineProgress::error(text);
  }

 private:
  void say(const std::string& line) override {
    fmt::print(out_, "\r\x1b[K{}\n", printable(line));
    drawn_at_.reset();
    draw();
  }
  void draw() {
    const TimePoint now = clock_.now();
    if (over_ || state_.pages_known() == 0 || (drawn_at_ && now - *drawn_at_ < redraw_interval)) {
      std::fflush(out_);
      return;
    }
    drawn_at_ = now;
    winsize size{};
    const int columns = ::ioctl(::fileno(out_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
    fmt::print(out_, "\r{}\x1b[K", progress_bar(state_, load_, now, printable(document_), columns));
    std::fflush(out_);
  }

  static constexpr std::chrono::milliseconds redraw_interval{100};
  std::string document_;
  std::optional<TimePoint> drawn_at_;  // nothing while there is no bar on the screen
  bool over_ = false;
};

// docs/commands.md lists the events.
class JsonProgress final : public Progress {
 public:
  JsonProgress(const Clock& clock, std::FILE* out) : clock_(clock), out_(out), start_(clock.now()) {}

  void run_started(int documents) override { emit({{"event", "run_started"}, {"documents", documents}}); }
  void document_started(const RunDocument& document, int pages_wanted, int pages_to_read) override {
    emit({{"event", "document_started"},
          {"document", document.name},
          {"pages", pages_wanted},
          {"pages_to_read", pages_to_read}});
    state_.started(pages_to_read);
  }
  void page_done(const RunDocument& document, const PageRecord& record) override {
    Json json{{"event", "page_done"},    {"document", document.name},
              {"page", record.page},     {"state", to_string(record.state)},
              {"reader", record.reader}, {"ms", record.ms}};
    if (!record.model.empty()) json["model"] = record.model;
    if (!record.reason.empty()) json["reason"] = record.reason;
    if (record.tokens != reading::Tokens{}) json["tokens"] = tokens_json(record.tokens);
    state_.page(clock_.now(), record.tokens.completion);
    emit(json);
  }
  void document_done(const DocumentReport& report) override {
    Json json{{"event", "document_done"},
              {"document", report.name},
              {"outcome", to_string(report.outcome)},
              {"pages_ok", report.pages_ok},
              {"pages_fallback", report.pages_fallback},
              {"pages_failed", report.pages_failed},
              {"pages_read", report.pages_read}};
    if (!report.output.empty()) json["output"] = report.output;
    if (!report.error.empty()) json["error"] = report.error;
    emit(json);
  }
  void problem(const std::string& name, const std::string& reason) override {
    emit({{"event", "document_done"}, {"document", name}, {"outcome", "failed"}, {"error", reason}});
  }
  void warning(const std::string& text) override { emit({{"event", "warning"}, {"message", text}}); }
  void load(const ModelLoad& load) override {
    for (const EngineChange& change : engine_changes(load_, load)) {
      Json json{{"event", change.away ? "engine_away" : "engine_back"}, {"engine", change.engine}};
      if (!change.reason.empty()) json["reason"] = change.reason;
      emit(json);
    }
    const bool changed = load != load_;
    load_ = load;
    const TimePoint now = clock_.now();
    if (!changed || now < next_load_) return;
    next_load_ = now + load_interval;
    Json json{{"event", "load"},
              {"pages_done", state_.pages_done()},
              {"pages_known", state_.pages_known()},
              {"in_flight", load.in_flight},
              {"limit", load.limit},
              {"waiting", load.waiting},
              {"retries", load.retries},
              {"tokens", tokens_json({load.prompt_tokens, load.completion_tokens})}};
    if (const auto rate = state_.pages_per_second(now)) json["pages_per_second"] = *rate;
    if (const auto rate = state_.tokens_per_second(now)) json["tokens_per_second"] = *rate;
    if (const auto left = state_.time_left(now)) json["seconds_left"] = left->count();
    for (const EngineLoad& engine : load.engines) {
      json["engines"].push_back(
          {{"engine", engine.name}, {"away", engine.away}, {"in_flight", engine.in_flight}, {"limit", engine.limit}});
    }
    emit(json);
  }
  void stopping(bool resumable) override { emit({{"event", "stopping"}, {"resumable", resumable}}); }
  void run_done(const RunReport& report, int problems, int exit_code) override {
    Json json{{"event", "run_done"},
              {"documents", report.documents + problems},
              {"documents_failed", report.documents_failed + problems},
              {"documents_up_to_date", report.documents_up_to_date},
              {"pages_ok", report.pages_ok},
              {"pages_fallback", report.pages_fallback},
              {"pages_failed", report.pages_failed},
              {"pages_read", report.pages_read},
              {"stopped", report.stopped},
              {"budget_spent", report.budget_spent},
              {"tokens", tokens_json(report.spent.tokens)},
              {"ms", since(start_, clock_).count()},
              {"exit_code", exit_code}};
    if (report.spent.cost) json["cost"] = *report.spent.cost;
    emit(json);
  }
  void error(const std::string& text) override { emit({{"event", "error"}, {"message", text}}); }

 private:
  using Json = nlohmann::ordered_json;
  static Json tokens_json(const reading::Tokens& tokens) {
    return {{"prompt", tokens.prompt}, {"completion", tokens.completion}};
  }
  void emit(const Json& json) {
    fmt::print(out_, "{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
    std::fflush(out_);
  }
  static constexpr std::chrono::seconds load_interval{2};
  const Clock& clock_;
  std::FILE* const out_;
  const TimePoint start_;
  ProgressState state_{0};
  ModelLoad load_;
  TimePoint next_load_ = start_;
};

}  // namespace

std::unique_ptr<Progress> make_progress(ProgressOptions options, const Clock& clock, std::FILE* out) {
  switch (options.style) {
    case ProgressStyle::bar:
      return std::make_unique<BarProgress>(options, clock, out);
    case ProgressStyle::lines:
      return std::make_unique<LineProgress>(options, clock, out);
    case ProgressStyle::json:
      return std::make_unique<JsonProgress>(clock, out);
    case ProgressStyle::quiet:
      return std::make_unique<QuietProgress>(options, clock, out);
  }
  return nullptr;
}

}  // namespace lectern::cli
