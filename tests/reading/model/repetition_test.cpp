#include "reading/model/repetition.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "reading/model/real_text.h"

namespace lectern::reading {
namespace {

std::string shown(const RepetitionDetector& detector) {
  const Repetition* found = detector.found();
  return found == nullptr ? "nothing" : fmt::format("\"{}\" x {} from {}", found->unit, found->times, found->begins_at);
}

// Fed a few bytes at a time, as tokens come; how many bytes it took, or npos.
std::size_t bytes_until_found(RepetitionDetector& detector, std::string_view text, std::size_t step = 3) {
  for (std::size_t at = 0; at < text.size(); at += step) {
    if (detector.add(text.substr(at, step))) return std::min(at + step, text.size());
  }
  return std::string::npos;
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

TEST(Repetition, RealPagesAreNoLoops) {
  for (const RealText& real : real_texts()) {
    RepetitionDetector detector;
    EXPECT_EQ(bytes_until_found(detector, real.text), std::string::npos) << real.name << ": " << shown(detector);
    EXPECT_EQ(detector.found(), nullptr);
  }
}

TEST(Repetition, NothingThatWePrintIsALoop) {
  int files = 0;
  for (const char* folder : {"samples", "tests/golden", "docs"}) {
    const auto root = std::filesystem::path(LECTERN_SOURCE_DIR) / folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const auto extension = entry.path().extension();
      if (extension != ".md" && extension != ".truth") continue;
      std::ifstream in(entry.path());
      const std::string text((std::istreambuf_iterator<char>(in)), {});
      RepetitionDetector detector;
      detector.add(text);
      EXPECT_EQ(detector.found(), nullptr) << entry.path() << ": " << shown(detector);
      ++files;
    }
  }
  EXPECT_GT(files, 8);
}

struct Loop {
  std::string name;
  std::string text;          // the loop alone, long
  std::size_t chars = 2000;  // found within so many characters of its second turn
  std::size_t first = 0;     // bytes of the first turn
};

std::vector<Loop> loops() {
  std::vector<Loop> out;
  const auto add = [&](std::string name, const std::string& unit, std::size_t chars = 2000) {
    out.push_back({std::move(name), times(unit, static_cast<int>(12000 / unit.size()) + 3), chars, unit.size()});
  };
  add("one letter", "a");
  add("two letters", "ab");
  add("one word", "the ");
  add("a word on every line", "the\n");
  add("a word without blanks", "lorem");
  add("one ideograph", "的", 512);
  add("an ideographic phrase", "的人们说，", 512);
  add("an ideographic line", "会议决定致函另外两家公司，并在九月再次讨论此事。\n", 512);
  add("Hangul", "안녕하세요 ", 512);
  add("Cyrillic", "и так далее, ");
  add("Thai", "สวัสดีครับ");
  add("a sentence", "It was agreed to write to two other firms. ");
  add("a line", "- It was agreed to write to two other firms.\n");
  add("a heading and a line", "## Results\n\nThe results are shown below.\n\n");
  add("a paragraph of 700 characters", prose());
  add("a long paragraph",
      prose().substr(0, 680) +
          " and then, after a short pause, everybody went home on foot through "
          "the rain, because the last bus had left at nine and nobody had thought of asking the driver "
          "to wait for them.\n");
  add("a table row", "| Widget, large | in stock | 12.50 | yes |\n");
  add("an HTML row", "<tr><td>Widget, large</td><td>in stock</td><td>12.50</td></tr>\n");
  add("nested repetition", "red red red blue blue blue\n");
  add("cells that repeat inside the unit", "| A1 word | A1 word | A2 word | A2 word ");
  add("TeX", "\\alpha + \\beta + ");
  add("a web address", "https://example.com/path/");
  add("an emoji", "🙂", 1700);
  add("grounding", "<|ref|>text<|/ref|><|det|>[[1, 2, 3, 4]]<|/det|>\nThe same line again\n");
  // Without letters: later, because real pages have much of these.
  add("dots", ".", 1700);
  add("dashes", "-", 1700);
  add("underscores", "_", 1700);
  add("blanks", " ", 1700);
  add("line breaks", "\n", 1700);
  add("zeros", "0");
  add("a number", "0.00 ");
  add("empty cells in one row", "|  ");
  add("empty HTML cells in one row", "<td></td>");
  add("entities", "&nbsp;");
  add("empty rows", "|  |  |  |\n", 5200);
  add("empty HTML rows", "<tr><td></td><td></td></tr>\n", 5200);
  // Numbers that count.
  const auto counting = [&](std::string name, auto line, std::size_t chars = 2000) {
    std::string text;
    const std::size_t first = std::string(line(1)).size();
    for (int i = 1; text.size() < 14000; ++i) text += line(i);
    out.push_back({std::move(name), std::move(text), chars, first});
  };
  counting("items", [](int i) { return fmt::format("Item {}: the same thing as before.\n", i); });
  counting("items in one line", [](int i) { return fmt::format("see also section {}, ", i + 90); });
  counting("rows", [](int i) { return fmt::format("| {} | Widget, large | in stock | {}.50 |\n", i, 12 + i); }, 2300);
  counting("Chinese items", [](int i) { return fmt::format("第{}条 会议决定致函另外两家公司。\n", i); }, 540);
  counting("days",
           [](int i) { return fmt::format("2024-{:02}-{:02} nothing happened today\n", i / 28 % 12 + 1, i % 28 + 1); });
  counting("bare numbers", [](int i) { return fmt::format("{}\n", i); }, 3000);
  return out;
}

TEST(Repetition, LoopsAreFoundSoonAfterTheirOnset) {
  std::mt19937 random(11);
  for (const Loop& loop : loops()) {
    for (int trial = 0; trial < 4; ++trial) {
      const std::string before = times(prose(), trial % 2).substr(0, random() % 600) + (trial > 1 ? "| a | 1 |\n" : "");
      const std::size_t step = trial == 0 ? 1 : random() % 9 + 1;
      RepetitionDetector detector;
      const std::string text = before + loop.text;
      const std::size_t found = bytes_until_found(detector, text, step);
      ASSERT_NE(found, std::string::npos) << loop.name;
      const std::size_t onset = before.size() + loop.first;
      const std::size_t late = characters(text.substr(onset, found - std::min(found, onset)));
      EXPECT_LE(late, loop.chars + 64) << loop.name << ": " << shown(detector);
      ASSERT_NE(detector.found(), nullptr);
      // What is kept ends near the first turn: nothing sound is lost, little of the loop stays.
      EXPECT_GE(detector.found()->begins_at + 48, before.size()) << loop.name << ": " << shown(detector);
      EXPECT_LE(detector.found()->begins_at, onset + loop.first + 64) << loop.name << ": " << shown(detector);
      EXPECT_GE(detector.found()->times, 2);
    }
  }
}

TEST(Repetition, TheUnitIsShownToPeople) {
  RepetitionDetector detector;
  detector.add(prose());
  EXPECT_TRUE(detector.add(times("It was agreed to write to two other firms.\n", 60)));
  ASSERT_NE(detector.found(), nullptr);
  EXPECT_NEAR(static_cast<double>(detector.found()->begins_at), static_cast<double>(prose().size() + 43), 2);
  EXPECT_GE(detector.found()->times, 20);
  EXPECT_LE(detector.found()->times, 60);
  EXPECT_NE(detector.found()->unit.find("agreed to write"), std::string::npos) << detector.found()->unit;
  EXPECT_LE(detector.found()->unit.size(), 64U);
}

TEST(Repetition, PiecesDoNotMatter) {
  const std::string text = prose() + times("安心して、ください。 ok\n", 400);
  std::size_t begins_at = 0;
  for (const std::size_t step : {1UL, 2UL, 7UL, 100UL, 100000UL}) {
    RepetitionDetector detector;
    ASSERT_NE(bytes_until_found(detector, text, step), std::string::npos);
    if (begins_at == 0) begins_at = detector.found()->begins_at;
    EXPECT_EQ(detector.found()->begins_at, begins_at) << step;
  }
}

TEST(Repetition, StartsAnewAfterReset) {
  RepetitionDetector detector;
  EXPECT_TRUE(detector.add(times("again ", 1000)));
  detector.reset();
  EXPECT_EQ(detector.found(), nullptr);
  EXPECT_FALSE(detector.add(prose()));
  EXPECT_TRUE(detector.add(times("again ", 1000)));
  EXPECT_GE(detector.found()->begins_at, prose().size());
}

TEST(Repetition, AnyBytesAreSafe) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 20; ++trial) {
    std::string bytes(20000, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    RepetitionDetector detector;
    EXPECT_FALSE(detector.add(bytes)) << shown(detector);
  }
}

}  // namespace
}  // namespace lectern::reading
