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

}  // namespace

void ProgressState::page(TimePoint now) {
  ++pages_done_;
  recent_.push_back(now);
  if (recent_.size() > recent_max) recent_.pop_front();
}

std::optional<double> ProgressState::pages_per_second(TimePoint now) const {
  if (recent_.size() < 2) return std::nullopt;
  const std::chrono::duration<double> span = now - recent_.front();
  if (span.count() <= 0) return std::nullopt;
  return static_cast<double>(recent_.size() - 1) / span.count();
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

std::string progress_words(const ProgressState& state, TimePoint now) {
  std::string text = fmt::format("{} of {} pages", state.pages_done(), state.pages_known());
  if (state.documents() > 1) text += fmt::format(", {} of {} documents", state.documents_done(), state.documents());
  if (const auto rate = state.pages_per_second(now)) text += fmt::format(", {:.1f} pages/s", *rate);
  if (const auto left = state.time_left(now)) text += fmt::format(", {} left", clock_text(*left));
  return text;
}

std::string progress_bar(const ProgressState& state, TimePoint now, const std::string& document, int columns) {
  constexpr int cells = 20;
  // While documents wait that nobody has opened, pages alone would show too much as done.
  const double pages = state.pages_known() == 0 ? 0 : static_cast<double>(state.pages_done()) / state.pages_known();
  const double documents = static_cast<double>(state.documents_done()) / std::max(1, state.documents());
  const double done = state.documents() > 1 ? std::min(pages, documents) : pages;
  const int filled = std::clamp(static_cast<int>(done * cells), 0, cells);
  std::string text = fmt::format("[{:#<{}}{:-<{}}] {}", "", filled, "", cells - filled, progress_words(state, now));
  const auto room = static_cast<std::size_t>(std::max(0, columns - 1));  // the last column would wrap on some terminals
  if (text.size() >= room) return text.substr(0, room);
  const std::string name = shortened(document, room - std::min(room, text.size() + 2));
  return name.empty() ? text : text + "  " + name;
}

std::string account(const reading::RunReport& report, int problems, std::chrono::milliseconds took, bool kept) {
  const int documents_failed = report.documents_failed + problems;
  const int documents_good = report.documents - report.documents_failed;
  const double seconds = static_cast<double>(took.count()) / 1000;
  std::string text;
  if (report.stopped) {
    text = fmt::format("Stopped after {}.", counted(report.pages_read, "page"));
    return text + (kept ? " Run the same command again to go on from here."
                        : " Nothing was kept; with -o DIR a run can be resumed.");
  }
  if (documents_good == 0) {
    text = "Nothing was read.";
  } else if (report.pages_read == 0) {
    text = report.documents_up_to_date == documents_good
               ? fmt::format("Up to date: {} in {}.", counted(report.pages_ok + report.pages_failed, "page"),
                             counted(documents_good, "document"))
               : fmt::format("Wrote {} again; no page had to be read.", counted(documents_good, "document"));
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
  if (report.pages_failed > 0) {
    text += fmt::format(" {} failed{}.", counted(report.pages_failed, "page"),
                        !kept                      ? ""
                        : report.pages_failed == 1 ? "; --retry-failed reads it once more"
                                                   : "; --retry-failed reads them once more");
  }
  return text;
}

}  // namespace lectern::cli
