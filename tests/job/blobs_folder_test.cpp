// What the folder store does beyond the conformance suite: order to the letter, full disks, killed writers.
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>

#include "faulty_disk.h"
#include "job/blobs/folder.h"
#include "job/blobs_conformance.h"

namespace lectern::job {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

std::unique_ptr<Blobs> open_in(const fs::path& folder, Disk& disk = real_disk()) {
  auto blobs = open_folder_blobs({.folder = folder, .disk = &disk});
  return blobs ? std::move(*blobs) : nullptr;
}

INSTANTIATE_TEST_SUITE_P(Folder, BlobsConformance,
                         testing::Values(BlobsCase{"folder",
                                                   [](asio::io_context&, const TempFolder& folder) {
                                                     return open_in(folder.path() / "some" / "blobs");
                                                   }}),
                         [](const auto& info) { return info.param.name; });

class FolderBlobsTest : public testing::Test {
 protected:
  template <class T>
  T run(asio::awaitable<T> coroutine) {
    return run_coroutine(loop_, std::move(coroutine));
  }
  std::vector<std::string> files() const {  // all that lies in the folder, the folder of unfinished ones included
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      if (entry.is_regular_file()) found.push_back(entry.path().lexically_relative(root_).string());
    }
    std::ranges::sort(found);
    return found;
  }

  TempFolder folder_;
  const fs::path root_ = folder_.path() / "blobs";
  asio::io_context loop_;
};

TEST_F(FolderBlobsTest, ListsInTheOrderOfWholeKeys) {
  const auto blobs = open_in(root_);
  // '-' and '.' sort before '/', digits after it.
  std::vector<std::string> keys = {"o/k/z", "o/k-1", "o/k.a", "o/k0", "o/kA", "o/k_", "o/ka", "o-/x", "o.x", "o0"};
  for (const std::string& key : keys) ASSERT_TRUE(run(blobs->put(key, "x", PutMode::create_only)));
  std::ranges::sort(keys);
  for (const int limit : {1, 3, 100}) {
    std::vector<std::string> found;
    std::string from;
    do {
      const auto page = run(blobs->list("", from, limit));
      ASSERT_TRUE(page) << why(page);
      for (const BlobInfo& info : page->blobs) found.push_back(info.key);
      from = page->next;
    } while (!from.empty());
    EXPECT_EQ(found, keys) << limit;
  }
}

// Accounts of the machine are not keys: what is stored is for the service alone, whatever the umask is.
TEST_F(FolderBlobsTest, NobodyElseMayReadThem) {
  const mode_t before = ::umask(0);
  const auto blobs = open_in(root_);
  ASSERT_NE(blobs, nullptr);
  ASSERT_TRUE(run(blobs->put("jobs/a/original", "x", PutMode::create_only)));
  auto writer = run(blobs->writer("jobs/a/result.md", PutMode::replace));
  ASSERT_TRUE(writer);
  ASSERT_TRUE(run((*writer)->write("x")));
  const auto mode = [](const fs::path& path) { return static_cast<int>(fs::status(path).permissions()); };
  int found = 0;
  const auto look = [&] {
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      ++found;
      EXPECT_EQ(mode(entry.path()), entry.is_directory() ? 0700 : 0600) << entry.path();
    }
  };
  look();
  ASSERT_TRUE(run((*writer)->commit()));
  look();
  ::umask(before);
  EXPECT_EQ(mode(root_), 0700);
  EXPECT_GE(found, 8);
}

// Whatever call of the disk fails: a clean error, and the blob is there whole or not at all.
TEST_F(FolderBlobsTest, SurvivesEveryFailureOfTheDisk) {
  int failures = 0;
  for (int nth = 1;; ++nth) {
    TempFolder folder;
    ASSERT_NE(open_in(folder.path()), nullptr);
    FaultyDisk disk(real_disk(), nth + 2);  // opening it again makes two folders
    const auto blobs = open_in(folder.path(), disk);
    ASSERT_NE(blobs, nullptr);
    const auto info = run(blobs->put("jobs/a/original", "all of it", PutMode::create_only));
    const auto read = run(blobs->get("jobs/a/original", 100));
    if (!disk.fired()) {
      EXPECT_TRUE(info) << why(info);
      EXPECT_EQ(read.value_or("?"), "all of it");
      break;
    }
    ++failures;
    EXPECT_EQ(kind(info), ErrorKind::overloaded) << nth << " " << why(info);
    EXPECT_EQ(info.error().for_caller.find(folder.path().string()), std::string::npos) << "paths are not for callers";
    EXPECT_EQ(kind(read), ErrorKind::not_found) << nth;
    EXPECT_FALSE(fs::exists(folder.path() / "jobs")) << nth;
    const auto again = run(blobs->put("jobs/a/original", "all of it", PutMode::create_only));
    EXPECT_TRUE(again) << nth << " " << why(again);
    EXPECT_TRUE(fs::is_empty(folder.path() / "+writing")) << nth;
  }
  EXPECT_EQ(failures, 8) << "create, write, fsync, make folders, fsync of two folders, rename, fsync of the folder";
}

TEST_F(FolderBlobsTest, SurvivesEveryFailureWhileReplacing) {
  int failures = 0;
  for (int nth = 1;; ++nth) {
    TempFolder folder;
    ASSERT_TRUE(run(open_in(folder.path())->put("a/key", "the old one", PutMode::replace)));
    FaultyDisk disk(real_disk(), nth + 2);
    const auto blobs = open_in(folder.path(), disk);
    const auto info = run(blobs->put("a/key", "the new one", PutMode::replace));
    const auto read = run(blobs->get("a/key", 100)).value_or("?");
    EXPECT_TRUE(fs::is_empty(folder.path() / "+writing")) << nth;
    if (!disk.fired()) {
      EXPECT_EQ(read, "the new one");
      break;
    }
    ++failures;
    EXPECT_EQ(kind(info), ErrorKind::overloaded);
    EXPECT_TRUE(read == "the old one" || (nth == 7 && read == "the new one")) << nth << ": " << read;
  }
  EXPECT_EQ(failures, 7) << "create, write, fsync, make folders, fsync of its parent, rename, fsync of the folder";
}

TEST_F(FolderBlobsTest, SurvivesEveryFailureOfAWriter) {
  const std::string piece(300'000, 'p');
  for (int nth = 1;; ++nth) {
    TempFolder folder;
    ASSERT_NE(open_in(folder.path()), nullptr);
    FaultyDisk disk(real_disk(), nth + 2);
    const auto blobs = open_in(folder.path(), disk);
    const auto outcome = [&]() -> Result<BlobInfo> {
      auto writer = run(blobs->writer("up/load", PutMode::create_only));
      if (!writer) return std::unexpected(writer.error());
      for (int i = 0; i < 3; ++i) {
        if (auto status = run((*writer)->write(piece)); !status) {
          EXPECT_EQ(kind(run((*writer)->commit())), ErrorKind::internal) << "half a blob must not appear";
          return std::unexpected(status.error());
        }
      }
      return run((*writer)->commit());
    }();
    if (!disk.fired()) {
      EXPECT_TRUE(outcome) << why(outcome);
      break;
    }
    EXPECT_EQ(kind(outcome), ErrorKind::overloaded) << nth;
    EXPECT_EQ(kind(run(blobs->head("up/load"))), ErrorKind::not_found) << nth;
  }
}

TEST_F(FolderBlobsTest, ADroppedWriterTakesItsFileAlong) {
  {
    const auto blobs = open_in(root_);
    auto writer = run(blobs->writer("up/load", PutMode::create_only));
    ASSERT_TRUE(writer);
    ASSERT_TRUE(run((*writer)->write(std::string(1'000'000, 'x'))));
    EXPECT_EQ(files().size(), 1U);
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(FolderBlobsTest, RemovesWhatKilledWritersLeft) {
  ASSERT_NE(open_in(root_), nullptr);
  const auto leave = [&](const std::string& name, std::chrono::seconds age) {
    std::ofstream(root_ / "+writing" / name) << "half a blob";
    fs::last_write_time(root_ / "+writing" / name, fs::file_time_type::clock::now() - age);
  };
  leave("old", std::chrono::hours(2));
  leave("fresh", std::chrono::seconds(0));
  leave("held", std::chrono::hours(2));
  const UniqueFd held(::open((root_ / "+writing" / "held").c_str(), O_RDONLY));
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);  // somebody writes it, slowly
  ASSERT_NE(open_in(root_), nullptr);
  EXPECT_EQ(files(), (std::vector<std::string>{"+writing/fresh", "+writing/held"}));
}

// A process that is killed in the middle leaves an unfinished file that the kernel unlocks.
TEST_F(FolderBlobsTest, AKilledProcessHoldsNothing) {
  const pid_t child = ::fork();
  if (child == 0) {
    asio::io_context loop;
    const auto blobs = open_in(root_);
    auto writer = run_coroutine(loop, blobs->writer("up/load", PutMode::create_only));
    std::ignore = run_coroutine(loop, (*writer)->write(std::string(1'000'000, 'x')));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto left = files();
  ASSERT_EQ(left.size(), 1U);
  fs::last_write_time(root_ / left.front(), fs::file_time_type::clock::now() - std::chrono::hours(1));
  const auto blobs = open_in(root_);
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(kind(run(blobs->head("up/load"))), ErrorKind::not_found);
}

TEST_F(FolderBlobsTest, RemovesEmptyFolders) {
  const auto blobs = open_in(root_);
  ASSERT_TRUE(run(blobs->put("jobs/a/pages/1", "x", PutMode::create_only)));
  ASSERT_TRUE(run(blobs->put("jobs/b/original", "x", PutMode::create_only)));
  ASSERT_TRUE(run(blobs->remove("jobs/a/pages/1")));
  EXPECT_FALSE(fs::exists(root_ / "jobs" / "a"));
  EXPECT_TRUE(fs::exists(root_ / "jobs" / "b"));
  ASSERT_TRUE(run(blobs->remove("jobs/b/original")));
  EXPECT_FALSE(fs::exists(root_ / "jobs"));
  EXPECT_TRUE(fs::exists(root_));
}

TEST_F(FolderBlobsTest, APathCannotGoThroughABlob) {
  const auto blobs = open_in(root_);
  ASSERT_TRUE(run(blobs->put("a", "a blob", PutMode::create_only)));
  EXPECT_EQ(kind(run(blobs->put("a/b", "x", PutMode::create_only))), ErrorKind::invalid_input);
  EXPECT_EQ(files(), (std::vector<std::string>{"a"}));
}

// A file system that was unmounted, or moved away: that says nothing about blobs.
TEST_F(FolderBlobsTest, WithoutItsFolderNothingIsSaidAboutBlobs) {
  const auto blobs = open_in(root_);
  ASSERT_TRUE(run(blobs->put("a/key", "x", PutMode::create_only)));
  auto writer = run(blobs->writer("up/load", PutMode::create_only));
  ASSERT_TRUE(writer);
  ASSERT_TRUE(run((*writer)->write("bytes")));
  fs::rename(root_, folder_.path() / "elsewhere");
  for (const bool empty : {false, true}) {  // the folder that a file system was mounted on is still there
    SCOPED_TRACE(empty);
    if (empty) fs::create_directory(root_);
    EXPECT_EQ(kind(run(blobs->head("a/key"))), ErrorKind::unavailable);
    EXPECT_EQ(kind(run(blobs->get("a/key", 10))), ErrorKind::unavailable);
    EXPECT_EQ(kind(run(blobs->get_range("a/key", {0, 1}))), ErrorKind::unavailable);
    EXPECT_EQ(kind(run(blobs->open("a/key", ""))), ErrorKind::unavailable);
    EXPECT_EQ(kind(run(blobs->list("", "", 10))), ErrorKind::unavailable);
    EXPECT_EQ(kind(run(blobs->remove("a/key"))), ErrorKind::unavailable);
    EXPECT_EQ(kind(run(blobs->put("a/other", "x", PutMode::create_only))), ErrorKind::unavailable);
    EXPECT_EQ(kind(run(blobs->check())), ErrorKind::unavailable);
  }
  EXPECT_EQ(kind(run((*writer)->commit())), ErrorKind::unavailable);
  EXPECT_EQ(files(), std::vector<std::string>{}) << "nothing is written where the store is not";
  fs::remove_all(root_);
  fs::rename(folder_.path() / "elsewhere", root_);
  EXPECT_EQ(run(blobs->get("a/key", 10)).value_or("?"), "x");
  EXPECT_EQ(kind(run(blobs->head("a/other"))), ErrorKind::not_found);
}

TEST_F(FolderBlobsTest, SaysWhyAFolderCannotBeUsed) {
  const auto file = folder_.write("file", "x");
  const auto blobs = open_folder_blobs({.folder = file / "blobs"});
  ASSERT_FALSE(blobs);
  EXPECT_NE(blobs.error().for_log.find(file.string()), std::string::npos) << blobs.error().for_log;
}

}  // namespace
}  // namespace lectern::job
