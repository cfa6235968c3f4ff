#include "cli/doctor.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace lectern::cli {
namespace {

const std::vector<Finding> findings = {{"lectern", Health::good, "version 1", ""},
                                       {"sandbox", Health::warning, "seccomp", "get a newer kernel"}};

TEST(Doctor, EachFindingSaysHowToMendIt) {
  EXPECT_EQ(findings_text(findings),
            "ok       lectern  version 1\n"
            "warning  sandbox  seccomp\n"
            "                  to mend: get a newer kernel\n");
}

TEST(Doctor, NamesThePdfLibraryThatIsLoaded) {
  const Finding other = renderer_finding("0123abcd");
  EXPECT_EQ(other.health, Health::warning);
  EXPECT_THAT(other.detail, testing::HasSubstr("unknown version (build 0123abcd)"));
  EXPECT_THAT(other.mend, testing::HasSubstr("unset LECTERN_PDFIUM"));
  EXPECT_THAT(renderer_finding("").detail, testing::HasSubstr("(without build id)"));
}

TEST(Doctor, JsonIsHealthyUnlessSomethingIsBroken) {
  auto json = nlohmann::json::parse(findings_json(findings));
  EXPECT_EQ(json["healthy"], true);
  EXPECT_EQ(json["findings"][1]["mend"], "get a newer kernel");
  EXPECT_FALSE(json["findings"][0].contains("mend"));
  json = nlohmann::json::parse(findings_json({{"OCR", Health::broken, "none", "install"}}));
  EXPECT_EQ(json["healthy"], false);
}

}  // namespace
}  // namespace lectern::cli
