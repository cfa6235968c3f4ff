#include "job/blobs_conformance.h"

#include <boost/asio/co_spawn.hpp>
#include <sys/mman.h>
#include <sys/stat.h>

#include <chrono>
#include <map>
#include <set>
#include <vector>

namespace lectern::job {
namespace {

namespace asio = boost::asio;

// Different for every seed, at every place: a piece in the wrong place shows.
std::string pattern(std::size_t size, unsigned seed) {
  std::string bytes(size, '\0');
  std::uint64_t state = seed * 0x9E3779B97F4A7C15U + 1;
  for (char& c : bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    c = static_cast<char>(state >> 56);
  }
  return bytes;
}

Millis now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

TEST_P(BlobsConformance, GivesBackWhatWasPut) {
  const Millis before = now();
  for (const std::size_t size : {0U, 1U, 1000U, 70'000U, 3'000'000U}) {
    const std::string key = "jobs/a/" + std::to_string(size);
    const std::string bytes = pattern(size, 7);
    const auto info = put(key, bytes);
    ASSERT_TRUE(info) << why(info);
    EXPECT_EQ(info->key, key);
    EXPECT_EQ(info->bytes, static_cast<std::int64_t>(size));
    EXPECT_GE(info->etag.size(), 3U);
    EXPECT_TRUE(info->etag.starts_with('"') && info->etag.ends_with('"')) << info->etag;
    EXPECT_GE(info->modified, before - 2000);
    EXPECT_LE(info->modified, now() + 2000);
    const auto read = get(key);
    ASSERT_TRUE(read) << why(read);
    EXPECT_TRUE(*read == bytes) << size;
    const auto head = run(blobs_->head(key));
    ASSERT_TRUE(head) << why(head);
    EXPECT_EQ(head->key, key);
    EXPECT_EQ(head->bytes, info->bytes);
    EXPECT_EQ(head->etag, info->etag);
    EXPECT_LE(std::abs(head->modified - info->modified), 2000);
  }
}

TEST_P(BlobsConformance, SaysWhatIsNotThere) {
  ASSERT_TRUE(put("jobs/a/original", "x"));
  for (const std::string key : {"nothing", "jobs/a/other", "jobs/a", "jobs", "jobs/b/original"}) {
    SCOPED_TRACE(key);
    EXPECT_EQ(kind(get(key)), ErrorKind::not_found);
    EXPECT_EQ(kind(run(blobs_->get_range(key, {0, 10}))), ErrorKind::not_found);
    EXPECT_EQ(kind(run(blobs_->get_range(key, {0, 0}))), ErrorKind::not_found);
    EXPECT_EQ(kind(run(blobs_->head(key))), ErrorKind::not_found);
    EXPECT_EQ(kind(run(blobs_->open(key, folder_.path()))), ErrorKind::not_found);
    const auto removed = run(blobs_->remove(key));
    EXPECT_TRUE(removed) << why(removed);
  }
  EXPECT_TRUE(get("jobs/a/original"));
}

TEST_P(BlobsConformance, RefusesMoreThanItMayRead) {
  ASSERT_TRUE(put("big", pattern(100'000, 1)));
  EXPECT_TRUE(run(blobs_->get("big", 100'000)));
  EXPECT_EQ(kind(run(blobs_->get("big", 99'999))), ErrorKind::invalid_input);
  EXPECT_EQ(kind(run(blobs_->get("big", 0))), ErrorKind::invalid_input);
}

TEST_P(BlobsConformance, ReadsRanges) {
  const std::string bytes = pattern(1000, 3);
  ASSERT_TRUE(put("ranged", bytes));
  ASSERT_TRUE(put("empty", ""));
  struct Case {
    std::int64_t first, count, got;
  };
  for (const Case& c : {Case{0, 1, 1},
                        {0, 1000, 1000},
                        {10, 20, 20},
                        {999, 1, 1},
                        {990, 50, 10},
                        {1000, 1, 0},
                        {5000, 10, 0},
                        {5, 0, 0}}) {
    const auto read = run(blobs_->get_range("ranged", {c.first, c.count}));
    ASSERT_TRUE(read) << c.first << "+" << c.count << " " << why(read);
    EXPECT_EQ(read->size(), static_cast<std::size_t>(c.got));
    if (c.got > 0)
      EXPECT_TRUE(*read == bytes.substr(static_cast<std::size_t>(c.first), static_cast<std::size_t>(c.got)));
  }
  const auto nothing = run(blobs_->get_range("empty", {0, 10}));
  ASSERT_TRUE(nothing) << why(nothing);
  EXPECT_EQ(*nothing, "");
  EXPECT_EQ(kind(run(blobs_->get_range("ranged", {-1, 10}))), ErrorKind::invalid_input);
  EXPECT_EQ(kind(run(blobs_->get_range("ranged", {0, -1}))), ErrorKind::invalid_input);
}

TEST_P(BlobsConformance, CreatesOnlyOnceAndReplacesWhenAsked) {
  const auto first = put("k/one", "first", PutMode::create_only);
  ASSERT_TRUE(first) << why(first);
  EXPECT_EQ(kind(put("k/one", "second", PutMode::create_only)), ErrorKind::conflict);
  EXPECT_EQ(kind(put("k/one", "first", PutMode::create_only)), ErrorKind::conflict) << "also with the same bytes";
  EXPECT_EQ(get("k/one").value_or("?"), "first");
  const auto replaced = put("k/one", "third", PutMode::replace);
  ASSERT_TRUE(replaced) << why(replaced);
  EXPECT_NE(replaced->etag, first->etag);
  EXPECT_EQ(get("k/one").value_or("?"), "third");
  EXPECT_TRUE(run(blobs_->remove("k/one")));
  const auto again = put("k/one", "fourth", PutMode::create_only);
  EXPECT_TRUE(again) << why(again);
}

TEST_P(BlobsConformance, TellsBlobsApartByTheirTags) {
  std::set<std::string> tags;
  for (int i = 0; i < 40; ++i) {
    if (i % 4 == 3) EXPECT_TRUE(run(blobs_->remove("tagged")));
    const auto info = put("tagged", std::to_string(1000 + i));
    ASSERT_TRUE(info) << why(info);
    tags.insert(info->etag);
  }
  EXPECT_EQ(tags.size(), 40U);
}

TEST_P(BlobsConformance, LetsOneOfManyCreate) {
  std::map<int, Result<BlobInfo>> results;
  for (int i = 0; i < 16; ++i) {
    asio::co_spawn(
        loop_, blobs_->put("race/key", "from " + std::to_string(i), PutMode::create_only),
        [&results, i](std::exception_ptr, Result<BlobInfo> result) { results.emplace(i, std::move(result)); });
  }
  loop_.restart();
  loop_.run();
  ASSERT_EQ(results.size(), 16U);
  int winner = -1;
  for (const auto& [i, result] : results) {
    if (!result) {
      EXPECT_EQ(kind(result), ErrorKind::conflict) << why(result);
    } else {
      EXPECT_EQ(winner, -1) << "two were told that theirs is the blob";
      winner = i;
    }
  }
  EXPECT_EQ(get("race/key").value_or("?"), "from " + std::to_string(winner));
}

asio::awaitable<Result<BlobInfo>> write_in_pieces(Blobs& blobs, std::string key, std::string bytes, PutMode mode) {
  auto writer = co_await blobs.writer(key, mode);
  if (!writer) co_return std::unexpected(writer.error());
  std::size_t at = 0;
  for (std::size_t step = 1; at < bytes.size(); step = step * 3 % 1'000'003) {
    std::string piece = bytes.substr(at, step);
    at += piece.size();
    if (auto status = co_await (*writer)->write(std::move(piece)); !status) co_return std::unexpected(status.error());
    auto seen = co_await blobs.head(key);
    if (step > 200'000 && seen && mode == PutMode::create_only) {
      co_return fail(ErrorKind::internal, "visible before it was whole");
    }
  }
  co_return co_await (*writer)->commit();
}

TEST_P(BlobsConformance, WritesBitByBit) {
  for (const std::size_t size : {0U, 5U, 900'000U, 20'000'000U}) {
    const std::string key = "uploads/" + std::to_string(size);
    const std::string bytes = pattern(size, 11);
    const auto info = run(write_in_pieces(*blobs_, key, bytes, PutMode::create_only));
    ASSERT_TRUE(info) << why(info);
    EXPECT_EQ(info->bytes, static_cast<std::int64_t>(size));
    const auto read = get(key);
    ASSERT_TRUE(read) << why(read);
    EXPECT_TRUE(*read == bytes) << size;
    EXPECT_EQ(run(blobs_->head(key)).value_or(BlobInfo{}).etag, info->etag);
    EXPECT_EQ(kind(run(write_in_pieces(*blobs_, key, "other", PutMode::replace))), std::nullopt);
    EXPECT_EQ(get(key).value_or("?"), "other");
  }
}

TEST_P(BlobsConformance, WritersRespectWhatIsThere) {
  for (const std::size_t size : {10U, 9'000'000U}) {
    const std::string key = "taken/" + std::to_string(size);
    ASSERT_TRUE(put(key, "mine"));
    const auto result = [&]() -> Result<BlobInfo> {
      auto writer = run(blobs_->writer(key, PutMode::create_only));
      if (!writer) return std::unexpected(writer.error());
      if (auto status = run((*writer)->write(pattern(size, 2))); !status) return std::unexpected(status.error());
      return run((*writer)->commit());
    }();
    EXPECT_EQ(kind(result), ErrorKind::conflict) << why(result);
    EXPECT_EQ(get(key).value_or("?"), "mine");
  }
}

TEST_P(BlobsConformance, LeavesNothingOfADroppedWriter) {
  for (const std::size_t size : {0U, 100U, 9'000'000U}) {
    auto writer = run(blobs_->writer("dropped/key", PutMode::replace));
    ASSERT_TRUE(writer) << why(writer);
    const auto status = run((*writer)->write(pattern(size, 5)));
    ASSERT_TRUE(status) << why(status);
    writer->reset();
    loop_.restart();
    loop_.run();
    EXPECT_EQ(kind(run(blobs_->head("dropped/key"))), ErrorKind::not_found);
    const auto page = run(blobs_->list("", "", 100));
    ASSERT_TRUE(page) << why(page);
    for (const BlobInfo& info : page->blobs) EXPECT_FALSE(info.key.starts_with("dropped")) << info.key;
  }
}

TEST_P(BlobsConformance, Removes) {
  ASSERT_TRUE(put("jobs/x/pages/1", "one"));
  ASSERT_TRUE(put("jobs/x/pages/2", "two"));
  EXPECT_TRUE(run(blobs_->remove("jobs/x/pages/1")));
  EXPECT_TRUE(run(blobs_->remove("jobs/x/pages/1"))) << "absent is fine";
  EXPECT_EQ(kind(get("jobs/x/pages/1")), ErrorKind::not_found);
  EXPECT_EQ(get("jobs/x/pages/2").value_or("?"), "two");
  EXPECT_TRUE(run(blobs_->remove("jobs/x/pages/2")));
  const auto page = run(blobs_->list("jobs/", "", 10));
  ASSERT_TRUE(page) << why(page);
  EXPECT_TRUE(page->blobs.empty());
  const auto back = put("jobs/x/pages/1", "again", PutMode::create_only);
  EXPECT_TRUE(back) << why(back);
}

TEST_P(BlobsConformance, ListsInOrderPageByPage) {
  std::vector<std::string> keys = {"jobs/a/images/000001.jpg",
                                   "jobs/a/original",
                                   "jobs/a/pages/000001-1.json",
                                   "jobs/a/pages/000002-1.json",
                                   "jobs/a/results/9.md",
                                   "jobs/a2/original",
                                   "jobs/b/original",
                                   "jobs/b/pages/000010-2.json"};
  for (const std::string& key : keys) ASSERT_TRUE(put(key, "bytes of " + key));
  ASSERT_TRUE(put("keys/other", "not a job's"));
  for (const std::string prefix : {"jobs/", "jobs/a/", "jobs/a", "jobs/a/pages/0000", "jobs/b/original", "nothing/"}) {
    std::vector<std::string> expected;
    for (const std::string& key : keys) {
      if (key.starts_with(prefix)) expected.push_back(key);
    }
    for (const int limit : {1, 2, 3, 7, 8, 1000}) {
      SCOPED_TRACE(prefix + " by " + std::to_string(limit));
      std::vector<std::string> found;
      std::string from;
      do {
        const auto page = run(blobs_->list(prefix, from, limit));
        ASSERT_TRUE(page) << why(page);
        ASSERT_LE(page->blobs.size(), static_cast<std::size_t>(limit));
        for (const BlobInfo& info : page->blobs) {
          found.push_back(info.key);
          EXPECT_EQ(info.bytes, static_cast<std::int64_t>(("bytes of " + info.key).size()));
        }
        from = page->next;
        ASSERT_LE(found.size(), keys.size());
      } while (!from.empty());
      EXPECT_EQ(found, expected);
    }
  }
  const auto listed = run(blobs_->list("jobs/a/original", "", 10));
  const auto head = run(blobs_->head("jobs/a/original"));
  ASSERT_TRUE(listed && head);
  ASSERT_EQ(listed->blobs.size(), 1U);
  EXPECT_EQ(listed->blobs.front().etag, head->etag);
  EXPECT_LE(std::abs(listed->blobs.front().modified - head->modified), 1000);
}

TEST_P(BlobsConformance, OpensAsAFileThatCanBeMapped) {
  for (const std::size_t size : {1U, 5000U, 17'000'000U}) {
    const std::string bytes = pattern(size, 13);
    ASSERT_TRUE(put("document", bytes));
    TempFolder scratch;
    auto fd = run(blobs_->open("document", scratch.path()));
    ASSERT_TRUE(fd) << why(fd);
    ASSERT_TRUE(run(blobs_->remove("document")));
    struct stat stat{};
    ASSERT_EQ(::fstat(fd->get(), &stat), 0);
    ASSERT_EQ(stat.st_size, static_cast<off_t>(size));
    void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd->get(), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    EXPECT_TRUE(std::string_view(static_cast<const char*>(mapped), size) == bytes) << size;
    ::munmap(mapped, size);
    EXPECT_EQ(::lseek(fd->get(), 0, SEEK_CUR), 0) << "read from its beginning";
    EXPECT_TRUE(std::filesystem::is_empty(scratch.path())) << "nothing to clean up after a crash";
  }
}

TEST_P(BlobsConformance, RefusesKeysThatAreNone) {
  for (const std::string& key :
       {std::string(), std::string("/a"), std::string("a/"), std::string("a//b"), std::string("../a"),
        std::string("a/./b"), std::string("a b"), std::string("a\\b"), std::string("\xc3\xa9"), std::string(513, 'k'),
        std::string("a\0b", 3), std::string("+writing/x"), std::string("a?b")}) {
    SCOPED_TRACE(key);
    EXPECT_FALSE(is_blob_key(key));
    EXPECT_EQ(kind(put(key, "x")), ErrorKind::invalid_input);
    EXPECT_EQ(kind(run(blobs_->writer(key, PutMode::replace))), ErrorKind::invalid_input);
    EXPECT_EQ(kind(get(key)), ErrorKind::invalid_input);
    EXPECT_EQ(kind(run(blobs_->get_range(key, {0, 1}))), ErrorKind::invalid_input);
    EXPECT_EQ(kind(run(blobs_->head(key))), ErrorKind::invalid_input);
    EXPECT_EQ(kind(run(blobs_->remove(key))), ErrorKind::invalid_input);
    EXPECT_EQ(kind(run(blobs_->open(key, folder_.path()))), ErrorKind::invalid_input);
  }
  const std::string longest = std::string(255, 'k') + "/" + std::string(255, 'k');
  ASSERT_TRUE(is_blob_key(longest));
  const auto info = put(longest, "x");
  EXPECT_TRUE(info) << why(info);
}

TEST_P(BlobsConformance, ServesManyAtOnce) {
  int written = 0;
  std::vector<std::string> faults;
  for (int i = 0; i < 60; ++i) {
    const std::string key = "many/" + std::to_string(i % 6) + "/" + std::to_string(i);
    asio::co_spawn(loop_, blobs_->put(key, pattern(static_cast<std::size_t>(i) * 1000, 1), PutMode::create_only),
                   [&](std::exception_ptr, Result<BlobInfo> result) {
                     if (result) {
                       ++written;
                     } else {
                       faults.push_back(why(result));
                     }
                   });
  }
  loop_.restart();
  loop_.run();
  EXPECT_EQ(written, 60);
  EXPECT_TRUE(faults.empty()) << faults.front();
  int read = 0;
  for (int i = 0; i < 60; ++i) {
    const std::string key = "many/" + std::to_string(i % 6) + "/" + std::to_string(i);
    asio::co_spawn(loop_, blobs_->get(key, 1 << 20), [&read, i](std::exception_ptr, Result<std::string> result) {
      read += result && *result == pattern(static_cast<std::size_t>(i) * 1000, 1) ? 1 : 0;
    });
  }
  loop_.restart();
  loop_.run();
  EXPECT_EQ(read, 60);
}

TEST_P(BlobsConformance, IsReadyAndSaysWhatItIs) {
  const auto status = run(blobs_->check());
  EXPECT_TRUE(status) << why(status);
  EXPECT_FALSE(blobs_->description().empty());
}

}  // namespace

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BlobsConformance);

}  // namespace lectern::job
