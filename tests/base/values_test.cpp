#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/clock.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/random.h"
#include "temp_folder.h"

namespace lectern {
namespace {

using namespace std::chrono_literals;

TEST(Error, SystemErrorsBecomeKinds) {
  EXPECT_EQ(fail_errno("open x", ENOENT).error().kind, ErrorKind::not_found);
  EXPECT_EQ(fail_errno("write x", ENOSPC).error().kind, ErrorKind::overloaded);
  EXPECT_EQ(fail_errno("open x", EACCES).error().kind, ErrorKind::invalid_input);
  EXPECT_EQ(fail_errno("open x", ENOENT).error().for_caller, "open x: No such file or directory");
}

TEST(Hash, KnownVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
}

TEST(Hash, AFileHashesLikeItsBytesAndKeepsItsPosition) {
  const TempFolder folder;
  const std::string bytes(700'000, 'q');
  ASSERT_TRUE(write_file_atomically(real_disk(), folder.path() / "f", bytes));
  const UniqueFd fd(::open((folder.path() / "f").c_str(), O_RDONLY));
  ASSERT_EQ(lseek(fd.get(), 5, SEEK_SET), 5);
  EXPECT_EQ(sha256_hex_of_file(fd.get()).value(), sha256_hex(bytes));
  EXPECT_EQ(lseek(fd.get(), 0, SEEK_CUR), 5);
}

TEST(Deadline, PassesWithTheClockAndTakesTheEarlier) {
  ManualClock clock;
  const Deadline soon = Deadline::after(10s, clock);
  EXPECT_FALSE(soon.passed(clock.now()));
  EXPECT_EQ(soon.left(clock.now()), 10s);
  EXPECT_EQ(Deadline::never().earlier(soon), soon);
  clock.advance(10s);
  EXPECT_TRUE(soon.passed(clock.now()));
  EXPECT_EQ(soon.left(clock.now()), 0s);
  EXPECT_FALSE(Deadline::never().passed(clock.now()));
}

TEST(Clock, StampsInUtcWithMilliseconds) {
  EXPECT_EQ(to_iso8601(WallTime{} + 1'700'000'000'123ms), "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(to_iso8601(WallTime{}), "1970-01-01T00:00:00.000Z");
}

TEST(Random, ASeedReplays) {
  SeededRandom a(7);
  SeededRandom b(7);
  for (int i = 0; i < 100; ++i) {
    const double value = a.uniform();
    EXPECT_EQ(value, b.uniform());
    EXPECT_GE(value, 0.0);
    EXPECT_LT(value, 1.0);
  }
  EXPECT_EQ(random_hex(a, 8).size(), 16U);
  EXPECT_NE(random_hex(a, 8), random_hex(a, 8));
}

}  // namespace
}  // namespace lectern
