// What a renderer that has been taken over can do: nothing. Each attempt is made by hostile_renderer_main.cpp behind
// the same walls that lectern-render has, in a process of its own.
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "document/pool_fixture.h"
#include "document/render/sanitizer.h"
#include "document/renderer_pool.h"
#include "temp_folder.h"

namespace lectern::document {
namespace {

using testing::HasSubstr;

class SandboxTest : public testing::Test {
 protected:
  std::string outcome_of(const std::string& attempt, const std::string& how = "with everything") {
    RendererPoolOptions options;
    options.renderer = LECTERN_BIN_DIR "/hostile_renderer";
    options.pdfium = how;
    options.processes = 1;
    RendererPool pool(context_.get_executor(), options);
    auto document = run(context_, pool.open(scratch_.write("attempt.pdf", attempt), ""));
    if (!document) return document.error().for_log;
    const auto outcome = run(context_, (*document)->inspect(1));
    return outcome ? "a page" : outcome.error().for_log;
  }
  SandboxReport report() {
    RendererPoolOptions options;
    options.renderer = LECTERN_BIN_DIR "/hostile_renderer";
    options.processes = 1;
    RendererPool pool(context_.get_executor(), options);
    return run(context_, pool.check()).value();
  }

  TempFolder scratch_;
  boost::asio::io_context context_;
};

TEST_F(SandboxTest, EveryAttemptIsDenied) {
  struct Case {
    const char* attempt;
    const char* outcome;
  };
  const std::string stopped = "forbidden system call";
  const std::vector<Case> cases = {
      // Refused, because a library may try it in good faith.
      {"open-passwd", "errno EPERM"},
      {"open-new", "errno EPERM"},
      {"open-proc", "errno EPERM"},
      {"unlink", "errno EPERM"},
      {"fork", "errno EPERM"},
      {"clone3", "errno ENOSYS"},
      {"mmap-shared", "errno EPERM"},
      {"prctl", "errno EPERM"},
      {"raise-limit", "errno EPERM"},
      {"signal-host", "errno EPERM"},
      {"shrink-window", "errno EPERM"},
      // Stopped, because only an attacker does it.
      {"socket", stopped.c_str()},
      {"socket-unix", stopped.c_str()},
      {"connect", stopped.c_str()},
      {"execve", stopped.c_str()},
      {"ptrace", stopped.c_str()},
      {"fork-call", stopped.c_str()},
      {"vfork", stopped.c_str()},
      {"kill-host", stopped.c_str()},
      {"process-vm-readv", stopped.c_str()},
      {"mmap-exec", stopped.c_str()},
      {"mprotect-exec", stopped.c_str()},
      {"memfd", stopped.c_str()},
      {"io-uring", stopped.c_str()},
      {"unshare", stopped.c_str()},
      {"setns", stopped.c_str()},
      {"bpf", stopped.c_str()},
      {"userfaultfd", stopped.c_str()},
      {"keyctl", stopped.c_str()},
      {"mount", stopped.c_str()},
      // Held by limits.
      {"write-past-window", "errno EFBIG"},
      {"allocate-10g", "errno ENOMEM"},
  };
  for (const Case& c : cases) EXPECT_THAT(outcome_of(c.attempt), HasSubstr(c.outcome)) << c.attempt;
  EXPECT_FALSE(std::filesystem::exists("/tmp/lectern-escape"));
  EXPECT_THAT(outcome_of("nothing"), HasSubstr("succeeded")) << "the attempts are really made";
}

// A sanitizer's own pthread_create does not take no for an answer.
TEST_F(SandboxTest, NoThreadCanBeStarted) {
  if (under_sanitizer) GTEST_SKIP() << "sanitizers end the process when a thread cannot be started";
  EXPECT_THAT(outcome_of("thread"), HasSubstr("errno EPERM"));
}

TEST_F(SandboxTest, MemoryIsLimitedHoweverItIsTaken) {
  if (under_sanitizer) GTEST_SKIP() << "sanitizers need the address space";
  EXPECT_THAT(outcome_of("allocate-10g-in-pieces"), HasSubstr("errno ENOMEM"));
  EXPECT_THAT(outcome_of("crash-after-refusal"),
              HasSubstr("page 1 needs more memory than the renderer's limit of 1 GiB"));
}

// The second wall, looked at without the first.
TEST_F(SandboxTest, TheOtherLayersHoldWithoutSeccomp) {
  const SandboxReport layers = report();
  if (layers.landlock_abi > 0) {
    // With an empty root the file is not even there; without one, Landlock forbids it.
    EXPECT_THAT(outcome_of("open-passwd", "without-seccomp"), testing::ContainsRegex("errno (EACCES|ENOENT)"));
    EXPECT_THAT(outcome_of("open-new", "without-seccomp"), testing::ContainsRegex("errno (EACCES|ENOENT)"));
  }
  if (layers.network_namespace) {
    EXPECT_THAT(outcome_of("stat-passwd"), HasSubstr("errno ENOENT"));  // the root folder is empty
    EXPECT_THAT(outcome_of("connect-tcp", "without-seccomp"), testing::ContainsRegex("errno (EACCES|ENETUNREACH)"));
  }
  if (layers.landlock_abi >= 6) EXPECT_THAT(outcome_of("kill-host", "without-seccomp"), HasSubstr("errno EPERM"));
  EXPECT_THAT(outcome_of("ptrace", "without-seccomp"), HasSubstr("errno EPERM"));
}

TEST_F(SandboxTest, ReportsWhatIsInForceAndWhatIsMissing) {
  const SandboxReport layers = report();
  EXPECT_TRUE(layers.seccomp);
  EXPECT_EQ(layers.rlimits, !under_sanitizer);
  const bool complete = layers.rlimits && layers.network_namespace && layers.landlock_abi > 0;
  EXPECT_EQ(layers.missing.empty(), complete);
  for (const std::string& sentence : layers.missing) EXPECT_THAT(sentence, testing::EndsWith("."));
}

}  // namespace
}  // namespace lectern::document
