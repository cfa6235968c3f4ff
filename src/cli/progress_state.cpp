#include <fmt/format.h>

#include "cli/progress.h"

namespace lectern::cli {
namespace {

constexpr std::size_t recent_max = 64;

std::string counted(int count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// The end of a long name says more than its beginning.
std::string shortened(const std::string& name, std::size_t columns) {
  if (name.size() <= columns) return name;
  if (columns < 4) return {};
  std::size_t start = name.size() - columns + 3;
  while (start < name.size() && (static_cast<unsigned char>(name[start]) & 0xC0U) == 0x80U)
    ++start;  // whole characters
  return "..." + name.substr(start);
}

// 51200 → "51,200"
std::string grouped(std::int64_t number) {
  std::string digits = fmt::format("{}", number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

// What models cost; nothing where none answered.
std::string spent_text(const reading::RunReport& report, const AccountOptions& options) {
  const reading::Tokens& tokens = report.spent.tokens;
  if (!options.models || tokens == reading::Tokens{}) return {};
  std::string text =
      fmt::format(" {} prompt and {} completion tokens", grouped(tokens.prompt), grouped(tokens.completion));
  if (report.spent.cost) text += fmt::format(", cost {:.4f}", *report.spent.cost);
  return text + ".";
}

// How the pages of the documents are now, earlier runs included.
std::string pages_text(const reading::RunReport& report, const AccountOptions& options) {
  const int poor = report.pages_failed + report.pages_fallback;
  const std::string again = !options.kept || poor == 0 ? ""
                            : poor == 1                ? "; --retry-failed reads it once more"
                                                       : "; --retry-failed reads them once more";
  if (options.models && report.pages_ok + poor > 0) {
    return fmt::format(" Pages: {} ok, {} fallen back, {} failed{}.", report.pages_ok, report.pages_fallback,
                       report.pages_failed, again);
  }
  if (report.pages_failed == 0) return {};
  return fmt::format(" {} failed{}.", counted(report.pages_failed, "page"), again);
}

std::string stopped_account(const reading::RunReport& report, const AccountOptions& options) {
  const std::string pages = counted(report.pages_read, "page");
  if (!options.kept) {
    return fmt::format("Stopped after {}{}. Nothing was kept; with -o DIR a run can be resumed.", pages,
                       report.budget_spent ? ": the budget is used up" : "");
  }
  if (!report.budget_spent)
    return fmt::format("Stopped after {}. Run the same command again to go on from here.", pages);
  return fmt::format(
      "Stopped after {}: the budget is used up. Run the same command again to go on from here, with a new budget of "
      "the "
      "same size or with a higher --max-tokens or --max-cost.",
      pages);
}

}  // namespace

void ProgressState::page(TimePoint now, std::int64_t completion_tokens) {
  ++pages_done_;
  recent_.push_back({now, completion_tokens});
  if (recent_.size() > recent_max) recent_.pop_front();
}

std::optional<double> ProgressState::pages_per_second(TimePoint now) const {
  if (recent_.size() < 2) return std::nullopt;
  const std::chrono::duration<double> span = now - recent_.front().when;
  if (span.count() <= 0) return std::nullopt;
  return static_cast<double>(recent_.size() - 1) / span.count();
}

std::optional<double> ProgressState::tokens_per_second(TimePoint now) const {
  if (recent_.size() < 2) return std::nullopt;
  const std::chrono::duration<double> span = now - recent_.front().when;
  std::int64_t tokens = 0;
  for (std::size_t i = 1; i < recent_.size(); ++i) tokens += recent_[i].tokens;
  if (span.count() <= 0 || tokens == 0) return std::nullopt;
  return static_cast<double>(tokens) / span.count();
}

std::optional<std::chrono::seconds> ProgressState::time_left(TimePoint now) const {
  const auto rate = pages_per_second(now);
  if (!rate || *rate <= 0 || pages_done_ >= pages_known_) return std::nullopt;
  return std::chrono::seconds(static_cast<std::int64_t>((pages_known_ - pages_done_) / *rate + 0.5));
}

std::string clock_text(std::chrono::seconds time) {
  const auto seconds = time.count();
  if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string progress_words(const ProgressState& state, const ModelLoad& load, TimePoint now) {
  std::string text = fmt::format("{} of {} pages", state.pages_done(), state.pages_known());
  if (state.documents() > 1) text += fmt::format(", {} of {} documents", state.documents_done(), state.documents());
  if (const auto rate = state.pages_per_second(now)) text += fmt::format(", {:.1f} pages/s", *rate);
  if (const auto rate = state.tokens_per_second(now)) text += fmt::format(", {:.0f} tokens/s", *rate);
  if (load.limit > 0) text += fmt::format(", {}/{} in flight", load.in_flight, load.limit);
  if (load.retries > 0) text += fmt::format(", {} {}", load.retries, load.retries == 1 ? "retry" : "retries");
  const auto away = std::ranges::count(load.engines, true, &EngineLoad::away);
  if (away > 0) text += fmt::format(", {} of {} engines away", away, load.engines.size());
  if (const auto left = state.time_left(now)) text += fmt::format(", {} left", clock_text(*left));
  return text;
}

std::string progress_bar(const ProgressState& state, const ModelLoad& load, TimePoint now, const std::string& document,
                         int columns) {
  constexpr int cells = 20;
  // While documents wait that nobody has opened, pages alone would show too much as done.
  const double pages = state.pages_known() == 0 ? 0 : static_cast<double>(state.pages_done()) / state.pages_known();
  const double documents = static_cast<double>(state.documents_done()) / std::max(1, state.documents());
  const double done = state.documents() > 1 ? std::min(pages, documents) : pages;
  const int filled = std::clamp(static_cast<int>(done * cells), 0, cells);
  std::string text =
      fmt::format("[{:#<{}}{:-<{}}] {}", "", filled, "", cells - filled, progress_words(state, load, now));
  const auto room = static_cast<std::size_t>(std::max(0, columns - 1));  // the last column would wrap on some terminals
  if (text.size() >= room) return text.substr(0, room);
  const std::string name = shortened(document, room - std::min(room, text.size() + 2));
  return name.empty() ? text : text + "  " + name;
}

std::string account(const reading::RunReport& report, const AccountOptions& options) {
  if (report.stopped) return stopped_account(report, options) + spent_text(report, options);
  const int documents_failed = report.documents_failed + options.problems;
  const int documents_good = report.documents - report.documents_failed;
  const double seconds = static_cast<double>(options.took.count()) / 1000;
  std::string text;
  if (documents_good == 0) {
    text = "Nothing was read.";
  } else if (report.pages_read == 0) {
    const int pages = report.pages_ok + report.pages_fallback + report.pages_failed;
    text = report.documents_up_to_date == documents_good
               ? fmt::format("Up to date: {} in {}.", counted(pages, "page"), counted(documents_good, "document"))
               : fmt::format("Wrote {} again; no page had to be read.", counted(documents_good, "document"));
  } else if (report.pages_ok + report.pages_fallback == 0) {
    text = fmt::format("Tried {} of {} in {:.1f} s; none could be read.", counted(report.pages_read, "page"),
                       counted(documents_good, "document"), seconds);
  } else {
    text = fmt::format("Read {} of {} in {:.1f} s", counted(report.pages_read, "page"),
                       counted(documents_good - report.documents_up_to_date, "document"), seconds);
    if (seconds > 0 && report.pages_read > 1) text += fmt::format(" ({:.1f} pages/s)", report.pages_read / seconds);
    text += ".";
    if (report.documents_up_to_date > 0) {
      text += fmt::format(" {} up to date.", counted(report.documents_up_to_date, "document"));
    }
  }
  if (documents_failed > 0) text += fmt::format(" {} could not be read.", counted(documents_failed, "document"));
  return text + pages_text(report, options) + spent_text(report, options);
}

}  // namespace lectern::cli
