#include "reading/owners.h"

#include <gmock/gmock.h>

#include <fstream>

#include "temp_folder.h"

namespace lectern::reading {
namespace {

TEST(Owners, ComeBackAsTheyWere) {
  const TempFolder folder;
  const auto file = folder.path() / "documents.jsonl";
  ASSERT_TRUE(Owners::load(file));
  EXPECT_FALSE(Owners::load(file)->has_value()) << "there is none";
  const Owner plain{"sub/a.pdf", "sub/a", "/in/sub/a.pdf", "../in/sub/a.pdf", {"sub/a.md", "sub/a.json"}};
  const Owner odd{"b\xff\n.pdf", "b\xff\n", "/in/b\xff\n.pdf", "", {"b\xff\n.md"}};
  Owners owners;
  EXPECT_TRUE(owners.put(plain));
  EXPECT_TRUE(owners.put(odd));
  EXPECT_FALSE(owners.put(odd)) << "nothing new";
  ASSERT_TRUE(owners.save(real_disk(), file));
  const auto loaded = Owners::load(file);
  ASSERT_TRUE(loaded && *loaded);
  ASSERT_NE((*loaded)->named("sub/a.pdf"), nullptr);
  EXPECT_EQ(*(*loaded)->named("sub/a.pdf"), plain);
  ASSERT_NE((*loaded)->from("/in/b\xff\n.pdf"), nullptr) << "bytes that are not UTF-8, too";
  EXPECT_EQ(*(*loaded)->from("/in/b\xff\n.pdf"), odd);
  EXPECT_TRUE((*loaded)->has_stem("sub/a"));
}

TEST(Owners, AnOwnerThatChangesLeavesNothingBehind) {
  Owners owners;
  owners.put({"a.pdf", "a", "/x/a.pdf"});
  owners.put({"a.pdf", "a.pdf", "/y/a.pdf"});
  EXPECT_EQ(owners.from("/x/a.pdf"), nullptr);
  EXPECT_FALSE(owners.has_stem("a"));
  EXPECT_TRUE(owners.remove("a.pdf"));
  EXPECT_FALSE(owners.remove("a.pdf"));
  EXPECT_FALSE(owners.has_stem("a.pdf"));
}

TEST(Owners, ADamagedRowIsNamed) {
  const TempFolder folder;
  const auto file = folder.path() / "documents.jsonl";
  for (const char* row :
       {"nonsense", "{}", R"({"document":"a.pdf","stem":3})", R"({"document":"a","stem":"a","outputs":1})"}) {
    std::ofstream(file) << R"({"document":"ok.pdf","stem":"ok"})" << "\n" << row << "\n";
    const auto loaded = Owners::load(file);
    ASSERT_FALSE(loaded) << row;
    EXPECT_THAT(loaded.error().for_caller, testing::HasSubstr("documents.jsonl:2: "));
  }
}

}  // namespace
}  // namespace lectern::reading
