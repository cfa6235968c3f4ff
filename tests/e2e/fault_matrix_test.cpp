// Every fault of an engine, met at every moment of a run: no page is lost, none is put in another's place, and whatever
// a page's text is, it says who read it and what was tried.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <ostream>

#include "e2e/program.h"
#include "sim_engine.h"
#include "temp_folder.h"

namespace lectern::e2e {
namespace {

using nlohmann::json;
using testing_sim::SimEngine;

constexpr int pages = 5;

// Text that is a page's own, and enough of it to be believed.
std::string sentence(int page, int line) {
  return fmt::format("This is page {} of the ledger, line {}: the harbour was quiet and the boats stayed in.", page,
                     line);
}

void write_pdf(const std::filesystem::path& file) {
  std::string pdf = "%PDF-1.4\n";
  std::vector<std::size_t> offsets;
  const auto add = [&](const std::string& object) {
    offsets.push_back(pdf.size());
    pdf += fmt::format("{} 0 obj\n{}\nendobj\n", offsets.size(), object);
  };
  std::string kids;
  for (int i = 0; i < pages; ++i) kids += fmt::format("{} 0 R ", 4 + 2 * i);
  add("<< /Type /Catalog /Pages 2 0 R >>");
  add(fmt::format("<< /Type /Pages /Count {} /Kids [ {}] >>", pages, kids));
  add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
  for (int i = 0; i < pages; ++i) {
    std::string content = "BT /F1 11 Tf 14 TL 60 760 Td\n";
    for (int line = 1; line <= 8; ++line) content += fmt::format("({}) Tj T*\n", sentence(i + 1, line));
    content += "ET";
    add(
        fmt::format("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
                    "/Contents {} 0 R >>",
                    5 + 2 * i));
    add(fmt::format("<< /Length {} >>\nstream\n{}\nendstream", content.size(), content));
  }
  const std::size_t table = pdf.size();
  pdf += fmt::format("xref\n0 {}\n0000000000 65535 f \n", offsets.size() + 1);
  for (const std::size_t offset : offsets) pdf += fmt::format("{:010} 00000 n \n", offset);
  pdf += fmt::format("trailer << /Size {} /Root 1 0 R >>\nstartxref\n{}\n%%EOF\n", offsets.size() + 1, table);
  std::ofstream(file, std::ios::binary) << pdf;
}

struct Moment {
  const char* name;
  const char* when;  // a condition of --fault
};
constexpr Moment moments[] = {{"at the beginning", "first=2"}, {"now and then", "every=3"}, {"always", "1"}};

struct Fault {
  const char* kind;
  const char* as;  // whose habits
  // Only a page's time ends it.
  bool is_slow() const {
    const std::string_view name = kind;
    return name.starts_with("hang") || name == "slow-bytes";
  }
};
void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.kind << " as " << fault.as;
}
constexpr Fault faults[] = {
    {"429", "vllm"},
    {"503", "llama-server"},
    {"oom", "vllm"},
    {"drop", "vllm"},
    {"hang", "vllm"},
    {"hang-mid-stream", "llama-server"},
    {"cut", "vllm"},
    {"slow-bytes", "vllm"},
    {"garbage", "vllm"},
    {"abort", "vllm"},
    {"wrong-content-type", "vllm"},
    {"error-in-stream", "vllm"},
    {"loop", "vllm"},
    {"error-in-stream", "llama-server"},
    {"truncated", "llama-server"},
    {"empty", "vllm"},
    {"refusal", "vllm"},
};

class FaultMatrix : public testing::TestWithParam<Fault> {
 protected:
  FaultMatrix() { write_pdf(folder_.path() / "ledger.pdf"); }

  json read(const SimEngine& engine, const std::string& fallback, const std::string& page_timeout = "30") const {
    ProgramOptions options;
    options.arguments = {"read",       (folder_.path() / "ledger.pdf").string(),
                         "--engine",   engine.url(),
                         "--parallel", "3",
                         "--format",   "json",
                         "--quiet"};
    options.environment = {
        {"VLM_CONCURRENT_TIMEOUT", page_timeout}, {"LECTERN_PATIENCE", "0.3"}, {"LECTERN_FALLBACK", fallback}};
    Program program(LECTERN_BIN_DIR "/lectern", options);
    const int code = program.finish();
    EXPECT_TRUE(code == 0 || (fallback == "placeholder" && (code == 3 || code == 4))) << code << program.errors();
    const json document = json::parse(program.output(), nullptr, false);
    EXPECT_TRUE(document.is_object()) << program.output() << program.errors();
    return document.is_object() ? document.at("pages") : json::array();
  }

  // What each page of the document says when nothing goes wrong.
  std::vector<std::string> sound_pages(const char* as) const {
    const SimEngine engine({"--as", as, "--words", "40"});
    std::vector<std::string> texts;
    for (const json& page : read(engine, "ocr")) texts.push_back(page.at("markdown"));
    return texts;
  }

  void expect_page(const json& page, int number, const std::vector<std::string>& sound) const {
    SCOPED_TRACE(fmt::format("page {}: {}", number, page.dump()));
    ASSERT_EQ(page.at("page"), number);
    const std::string text = page.value("markdown", "");
    EXPECT_FALSE(page.at("attempts").empty());
    if (page.contains("error")) {
      EXPECT_TRUE(text.starts_with(fmt::format("[VLM_ERROR page {}]: ", number)));
      EXPECT_NE(page.at("error"), "");
    } else if (page.at("reader") == "builtin") {
      EXPECT_NE(text.find(fmt::format("This is page {} of the ledger", number)), std::string::npos);
      EXPECT_GT(page.at("attempts").size(), 1U);
    } else if (text != sound[static_cast<std::size_t>(number - 1)]) {
      // Asked about in another way, so another text; but never that of another page.
      EXPECT_FALSE(text.empty());
      EXPECT_GT(page.at("attempts").size() + (page.value("confidence", 1.0) <= 0.2 ? 1 : 0), 1U);
    }
    for (std::size_t other = 0; other < sound.size(); ++other) {
      if (other + 1 != static_cast<std::size_t>(number))
        EXPECT_NE(text, sound[other]) << "the text of page " << other + 1;
    }
  }

  TempFolder folder_;
};

TEST_P(FaultMatrix, LosesNoPageAndShiftsNoNumber) {
  const Fault fault = GetParam();
  const std::vector<std::string> sound = sound_pages(fault.as);
  ASSERT_EQ(sound.size(), static_cast<std::size_t>(pages));
  for (const Moment& moment : moments) {
    for (const char* fallback : {"ocr", "placeholder"}) {
      // What happens now and then is met by both; the two ways down differ only when there is no way but down.
      if (fallback == std::string("placeholder") && moment.when != std::string("1")) continue;
      SCOPED_TRACE(fmt::format("{} {}, then {}", fault.kind, moment.name, fallback));
      const SimEngine engine(
          {"--as", fault.as, "--words", "40", "--fault", fmt::format("{}:{}", fault.kind, moment.when)});
      const json found = read(engine, fallback, fault.is_slow() ? "2" : "30");
      ASSERT_EQ(found.size(), static_cast<std::size_t>(pages));
      for (int i = 0; i < pages; ++i) expect_page(found[static_cast<std::size_t>(i)], i + 1, sound);
    }
  }
}

std::string name_of(const testing::TestParamInfo<Fault>& info) {
  std::string name = fmt::format("{}_{}", info.param.kind, info.param.as);
  std::ranges::replace(name, '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Engine, FaultMatrix, testing::ValuesIn(faults), name_of);

// The engine is gone before the first page, dies in the middle, or comes back: the run ends either way.
TEST_F(FaultMatrix, AnEngineThatDiesAndComesBackLosesNothing) {
  const std::vector<std::string> sound = sound_pages("vllm");
  const SimEngine engine({"--words", "40", "--die-after", "2", "--back-after", "0.2"});
  const json found = read(engine, "ocr");
  ASSERT_EQ(found.size(), static_cast<std::size_t>(pages));
  for (int i = 0; i < pages; ++i) expect_page(found[static_cast<std::size_t>(i)], i + 1, sound);
}

}  // namespace
}  // namespace lectern::e2e
