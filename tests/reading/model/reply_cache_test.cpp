#include "reading/model/reply_cache.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "base/disk.h"
#include "faulty_disk.h"
#include "temp_folder.h"

namespace lectern::reading {
namespace {

provider::Prompt prompt() {
  provider::Prompt made;
  made.model = "m";
  made.user = "read";
  made.images.push_back({std::make_shared<const std::vector<std::uint8_t>>(std::vector<std::uint8_t>{1, 2, 3})});
  return made;
}

provider::Reply reply() {
  provider::Reply made;
  made.text = "# Title\n\nä — text";
  made.finish = provider::FinishReason::length;
  made.model = "m-7b";
  made.mean_logprob = -0.25;
  return made;
}

TEST(QuestionHash, EverythingThatAnAnswerDependsOnCounts) {
  std::set<std::string> hashes = {question_hash(prompt())};
  const auto differs = [&](auto change) {
    provider::Prompt changed = prompt();
    change(changed);
    EXPECT_TRUE(hashes.insert(question_hash(changed)).second);
  };
  differs([](provider::Prompt& p) { p.model = "n"; });
  differs([](provider::Prompt& p) { p.system = "x"; });
  differs([](provider::Prompt& p) {
    p.user = "r";
    p.system = "ead";
  });
  differs([](provider::Prompt& p) { p.images[0].media_type = "image/png"; });
  differs([](provider::Prompt& p) { p.images.clear(); });
  differs([](provider::Prompt& p) { p.images.push_back(p.images[0]); });
  differs([](provider::Prompt& p) { p.parameters.tokens_max = 5; });
  differs([](provider::Prompt& p) { p.parameters.temperature = 0.5; });
  differs([](provider::Prompt& p) { p.parameters.top_p = 0.5; });
  differs([](provider::Prompt& p) { p.parameters.repetition_penalty = 0.5; });
  differs([](provider::Prompt& p) { p.parameters.frequency_penalty = 0.5; });
  differs([](provider::Prompt& p) { p.parameters.seed = 1; });
  differs([](provider::Prompt& p) { p.parameters.stop = {"a"}; });
  differs([](provider::Prompt& p) { p.parameters.logprobs = true; });
  differs([](provider::Prompt& p) { p.parameters.json_schema = "{}"; });
  differs([](provider::Prompt& p) { p.parameters.extra_body = "{}"; });
  EXPECT_TRUE(hashes.insert(question_hash(prompt(), R"({"top_k":20})")).second) << "what engines add";
  EXPECT_EQ(question_hash(prompt()), question_hash(prompt()));
}

TEST(ReplyCache, GivesBackWhatWasKept) {
  const TempFolder folder;
  const ReplyCache cache(real_disk(), folder.path() / "replies");
  const std::string question = question_hash(prompt());
  EXPECT_EQ(cache.find(question), std::nullopt);
  ASSERT_TRUE(cache.keep(question, reply()));
  const auto found = cache.find(question);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text, reply().text);
  EXPECT_EQ(found->finish, reply().finish);
  EXPECT_EQ(found->model, reply().model);
  EXPECT_EQ(found->mean_logprob, reply().mean_logprob);
  EXPECT_EQ(found->attempts, 0) << "nobody was asked";
}

TEST(ReplyCache, ADamagedFileIsAsGoodAsNone) {
  const TempFolder folder;
  const ReplyCache cache(real_disk(), folder.path());
  const std::string question = question_hash(prompt());
  ASSERT_TRUE(cache.keep(question, reply()));
  std::filesystem::path file;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.is_regular_file()) file = entry.path();
  }
  const auto whole = read_file(file, 1 << 20);
  ASSERT_TRUE(whole);
  for (std::size_t size = 0; size < whole->size(); ++size) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << whole->substr(0, size);
    EXPECT_EQ(cache.find(question), std::nullopt) << "cut at " << size;
  }
  std::string other = *whole;
  other.replace(other.find("Title"), 5, "Tilte");
  std::ofstream(file, std::ios::binary | std::ios::trunc) << other;
  EXPECT_EQ(cache.find(question), std::nullopt);
}

}  // namespace
}  // namespace lectern::reading
