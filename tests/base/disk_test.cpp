#include "base/disk.h"

#include <gtest/gtest.h>

#include "faulty_disk.h"
#include "temp_folder.h"

namespace lectern {
namespace {

TEST(AtomicFile, AppearsWholeOrNotAtAll) {
  const TempFolder folder;
  const auto file = folder.path() / "result.md";
  {
    auto atomic = AtomicFile::create(real_disk(), file);
    ASSERT_TRUE(atomic);
    ASSERT_TRUE(atomic->write("half a res"));
    EXPECT_FALSE(exists(file)) << "nothing before commit";
  }
  EXPECT_TRUE(is_empty(folder.path())) << "an abandoned file leaves nothing behind";
  ASSERT_TRUE(write_file_atomically(real_disk(), file, "a whole result"));
  EXPECT_EQ(read_file(file, 100).value(), "a whole result");
}

TEST(AtomicFile, ANameMayBeAsLongAsTheFileSystemTakes) {
  const TempFolder folder;
  const auto file = folder.path() / std::string(255, 'x');
  ASSERT_TRUE(write_file_atomically(real_disk(), file, "whole"));
  EXPECT_EQ(read_file(file, 100).value(), "whole");
}

TEST(AtomicFile, EveryFailingCallLeavesTheOldContent) {
  const TempFolder folder;
  const auto file = folder.path() / "result.md";
  ASSERT_TRUE(write_file_atomically(real_disk(), file, "old"));
  int failures = 0;
  for (int nth = 1;; ++nth) {
    SCOPED_TRACE(nth);
    FaultyDisk disk(real_disk(), nth);
    const auto status = write_file_atomically(disk, file, "new");
    const std::string now = read_file(file, 100).value();
    if (status) {
      EXPECT_EQ(now, "new");
      if (!disk.fired()) break;
    } else {
      ++failures;
      EXPECT_EQ(status.error().kind, ErrorKind::overloaded);
      // A failure after the rename (fsync of the folder) may show either; it must never show a mixture.
      EXPECT_TRUE(now == "old" || now == "new") << now;
    }
    ASSERT_TRUE(write_file_atomically(real_disk(), file, "old"));
  }
  EXPECT_EQ(failures, 5) << "create, write, fsync, rename, fsync of the folder";
}

TEST(RealDisk, ErrorsNameThePathAndWhatToDo) {
  const auto status = write_file_atomically(real_disk(), "/proc/forbidden/x", "y");
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().for_caller.find("/proc/forbidden/x"), std::string::npos) << status.error().for_caller;
}

TEST(RealDisk, WritesThroughNoLink) {
  const TempFolder folder;
  const auto target = folder.write("target", "precious");
  const auto link = folder.path() / "new";
  std::filesystem::create_symlink(target, link);
  const auto fd = real_disk().create(link);
  ASSERT_TRUE(fd);
  ASSERT_TRUE(real_disk().write_all(fd->get(), "bytes", link));
  EXPECT_EQ(read_file(target, 100), "precious");
  EXPECT_EQ(read_file(link, 100), "bytes");
  EXPECT_FALSE(std::filesystem::is_symlink(link));
}

TEST(ReadFile, RefusesMoreThanItsLimit) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(real_disk(), folder.path() / "big", std::string(1000, 'x')));
  EXPECT_EQ(read_file(folder.path() / "big", 999).error().kind, ErrorKind::invalid_input);
  EXPECT_EQ(read_file(folder.path() / "none", 999).error().kind, ErrorKind::not_found);
}

TEST(Disk, RenamesToAFreeNameOnly) {
  TempFolder folder;
  const auto from = folder.write("from", "new");
  const auto taken = folder.write("taken", "old");
  const auto refused = real_disk().rename_new(from, taken);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::conflict);
  EXPECT_EQ(read_file(taken, 10).value_or("?"), "old");
  EXPECT_TRUE(real_disk().rename_new(from, folder.path() / "free"));
  EXPECT_EQ(read_file(folder.path() / "free", 10).value_or("?"), "new");
  EXPECT_FALSE(std::filesystem::exists(from));
}

}  // namespace
}  // namespace lectern
