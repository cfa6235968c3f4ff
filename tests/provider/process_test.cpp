// The process provider with a program that crashes, hangs, babbles and runs out of memory.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "provider/fake_process.h"
#include "run_coroutine.h"

namespace lectern::provider {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using testing::HasSubstr;

class ProcessTest : public testing::Test {
 protected:
  void start(std::vector<std::string> arguments, ProcessOptions options = {}) {
    options.restart_delay = 1ms;
    provider_ = fake_provider(timers_, std::move(arguments), std::move(options));
  }
  Answer ask(std::string user, CallOptions options = {}) {
    return run_coroutine(loop_, provider_->invoke(Prompt{.user = std::move(user)}, std::move(options)));
  }
  std::vector<Answer> ask_all(const std::vector<std::string>& users) {
    std::vector<Prompt> prompts;
    for (const std::string& user : users) prompts.push_back({.user = user});
    return run_coroutine(loop_, provider_->batch_invoke(std::move(prompts), {}));
  }
  static std::string text(const Answer& answer) { return answer ? answer->text : answer.error().message; }

  TempFolder folder_;
  SystemTimers timers_;
  asio::io_context loop_;
  std::unique_ptr<Provider> provider_;
};

// As far as anybody can tell: a process that nobody has waited for yet still has its number.
bool runs(const std::string& pid) {
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string line;
  if (!std::getline(stat, line)) return false;
  return line.substr(line.rfind(')')).substr(2, 1) != "Z";
}

TEST_F(ProcessTest, CommandsThatCannotBe) {
  const auto error = [&](std::vector<std::string> command) {
    const auto made = make_process_provider(timers_, {.command = std::move(command)});
    return made ? std::string("was made") : made.error().for_caller;
  };
  EXPECT_THAT(error({}), HasSubstr("empty"));
  EXPECT_THAT(error({"no-such-program-anywhere"}), HasSubstr("no-such-program-anywhere"));
  EXPECT_THAT(error({"/no/such/program"}), HasSubstr("/no/such/program"));
  EXPECT_THAT(error({"/etc/passwd"}), HasSubstr("/etc/passwd")) << "a file that cannot be run";
  EXPECT_EQ(error({"cat"}), "was made");
}

TEST_F(ProcessTest, RepliesCarryAllThatTheProgramSaid) {
  start({});
  const Answer answer = ask("say hello");
  ASSERT_TRUE(answer) << text(answer);
  EXPECT_EQ(answer->usage, (Usage{.prompt_tokens = 7, .completion_tokens = 3, .cached_tokens = 1}));
  EXPECT_EQ(answer->mean_logprob, -0.25);
  EXPECT_EQ(answer->model, "fake");
  EXPECT_EQ(answer->engine, "fake_process");
  EXPECT_EQ(answer->attempts, 1);
}

TEST_F(ProcessTest, ProgramIsToldTheModel) {
  start({}, {.model = "small"});
  EXPECT_EQ(text(ask("model")), "small small");
  EXPECT_EQ(text(run_coroutine(loop_, provider_->invoke(Prompt{.model = "large", .user = "model"}, {}))),
            "small large");
}

TEST_F(ProcessTest, SaysWhetherItTakesBatches) {
  start({"--batch", "4"});
  EXPECT_FALSE(provider_->supports_batch()) << "nobody has asked it yet";
  ASSERT_TRUE(ask("say hello"));
  EXPECT_TRUE(provider_->supports_batch());
  start({});
  ASSERT_TRUE(ask("say hello"));
  EXPECT_FALSE(provider_->supports_batch());
}

TEST_F(ProcessTest, ConcurrentCallersShareABatch) {
  const std::string gate = folder_.path() / "gate";
  ASSERT_EQ(mkfifo(gate.c_str(), 0600), 0);
  start({"--batch", "8", "--start", "after", gate});
  std::vector<std::string> sizes(10);
  for (std::string& size : sizes) {
    asio::co_spawn(loop_, provider_->invoke(Prompt{.user = "size"}, {}),
                   [&size](std::exception_ptr, Answer answer) { size = text(answer); });
  }
  // After the callers have asked: only then is the program ready.
  asio::post(loop_, [&gate] { UniqueFd(open(gate.c_str(), O_WRONLY | O_CLOEXEC)); });
  loop_.run();
  EXPECT_EQ(sizes, (std::vector<std::string>{"8", "8", "8", "8", "8", "8", "8", "8", "2", "2"}));
}

TEST_F(ProcessTest, OutOfMemoryHalvesTheBatchAndLosesNobody) {
  std::vector<int> batches;  // written by the provider's thread while we wait for its answers
  const std::string gate = folder_.path() / "gate";
  ASSERT_EQ(mkfifo(gate.c_str(), 0600), 0);
  start({"--batch", "16", "--memory", "3", "--start", "after", gate},
        {.on_batch = [&](int batch) { batches.push_back(batch); }});
  std::vector<Prompt> questions(16, Prompt{.user = "size"});
  questions[5].user = "heavy";
  std::vector<Answer> answers;
  asio::co_spawn(loop_, provider_->batch_invoke(std::move(questions), {}),
                 [&answers](std::exception_ptr, std::vector<Answer> given) { answers = std::move(given); });
  asio::post(loop_, [&gate] { UniqueFd(open(gate.c_str(), O_WRONLY | O_CLOEXEC)); });  // all have asked
  loop_.run();
  ASSERT_EQ(answers.size(), 16U);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    SCOPED_TRACE(i);
    if (i == 5) {
      ASSERT_FALSE(answers[i]);
      EXPECT_EQ(answers[i].error().reason, FailureReason::out_of_memory);
      EXPECT_THAT(answers[i].error().message, HasSubstr("no memory left"));
    } else {
      ASSERT_TRUE(answers[i]) << text(answers[i]);
      EXPECT_LE(std::stoi(answers[i]->text), 3);
    }
  }
  provider_.reset();
  ASSERT_GE(batches.size(), 4U);
  EXPECT_EQ((std::vector(batches.begin(), batches.begin() + 4)), (std::vector{16, 8, 4, 2}));
}

TEST_F(ProcessTest, CrashIsRetriedOnce) {
  start({});
  int restarts = 0;
  CallOptions options;
  options.on_restart = [&] { ++restarts; };
  const Answer answer = ask("crash until " + (folder_.path() / "marker").string(), options);
  ASSERT_TRUE(answer) << text(answer);
  EXPECT_EQ(answer->text, "survived");
  EXPECT_EQ(answer->attempts, 2);
  EXPECT_EQ(restarts, 1);
}

TEST_F(ProcessTest, SecondCrashFailsWithItsLastWords) {
  start({});
  const Answer answer = ask("crash");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, FailureReason::connection_lost);
  EXPECT_THAT(answer.error().message, HasSubstr("fake_process ended while it worked (exit status 7)"));
  EXPECT_THAT(answer.error().message, HasSubstr("a warning | fatal: bad page"));
  EXPECT_EQ(text(ask("say still here")), "still here");
}

TEST_F(ProcessTest, TheOneThatCrashesItTakesNoOtherOfItsBatchWithIt) {
  start({"--batch", "8"});
  const auto answers = ask_all({"say a", "crash", "say b", "say c"});
  EXPECT_EQ(text(answers[0]), "a");
  ASSERT_FALSE(answers[1]);
  EXPECT_EQ(answers[1].error().reason, FailureReason::connection_lost);
  EXPECT_EQ(text(answers[2]), "b");
  EXPECT_EQ(text(answers[3]), "c");
}

TEST_F(ProcessTest, CrashInTheMiddleOfAnAnswerKeepsWhatHadArrived) {
  start({});
  const Answer answer = ask("half");
  ASSERT_FALSE(answer);
  EXPECT_TRUE(answer.error().reply_started);
  EXPECT_EQ(answer.error().partial_text, "half");
}

TEST_F(ProcessTest, BabbleIsABadReplyThatNamesTheLine) {
  start({});
  const Answer answer = ask("babble");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, FailureReason::bad_reply);
  EXPECT_THAT(answer.error().message, HasSubstr("no JSON object"));
  EXPECT_THAT(answer.error().message, HasSubstr("Loading weights: 100%"));
  EXPECT_EQ(text(ask("say still here")), "still here");
}

TEST_F(ProcessTest, ProgramsThatDoNotStart) {
  struct Case {
    std::string_view how;
    FailureReason reason;
    std::string_view named;
  };
  const Case cases[] = {{"refuse", FailureReason::unreachable, "cannot start: there is no torch; install it"},
                        {"die", FailureReason::unreachable,
                         "before it was ready (exit status 7); it said last: a warning | no such weights"},
                        {"babble", FailureReason::bad_reply, "Loading weights: 100%"},
                        {"silent", FailureReason::unreachable, "did not say within 0.05 s that it is ready"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.how);
    start({"--start", std::string(c.how)}, {.start_timeout = c.how == "silent" ? 50ms : 60'000ms, .restarts_max = 2});
    for (int i = 0; i < 2; ++i) {
      const Answer answer = ask("say hello");
      ASSERT_FALSE(answer);
      EXPECT_EQ(answer.error().reason, c.reason);
      EXPECT_THAT(answer.error().message, HasSubstr(std::string(c.named)));
    }
  }
}

TEST_F(ProcessTest, AProgramThatDoesNotLetGoIsStartedAnew) {
  FakeEvents events(folder_.path() / "events");
  start({"--deaf", "--events", folder_.path() / "events"}, {.cancel_timeout = 20ms});
  const std::string before = text(ask("pids"));
  CallOptions options;
  const std::jthread canceller([&events, stop = options.cancellation]() mutable {
    events.await("begun", 1);
    stop.request();
  });
  const Answer answer = ask("hang", options);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, FailureReason::cancelled);
  const std::string after = text(ask("pids"));
  EXPECT_NE(before, after);
}

TEST_F(ProcessTest, ACutAnswerTellsHowLongItTook) {
  start({});
  CallOptions options;
  options.on_text = [](std::string_view piece) { return piece != " two"; };
  const Answer answer = ask("say one two three", options);
  ASSERT_TRUE(answer) << text(answer);
  EXPECT_EQ(answer->finish, FinishReason::cut);
  EXPECT_EQ(answer->text, "one two");
  EXPECT_EQ(answer->engine, "fake_process");
  EXPECT_EQ(answer->attempts, 1);
  EXPECT_GT(answer->first_byte, 0ns);
  EXPECT_GE(answer->total, answer->first_byte);
}

TEST_F(ProcessTest, OneThatLeavesABatchLeavesTheOthersAlone) {
  FakeEvents events(folder_.path() / "events");
  start({"--batch", "4", "--events", folder_.path() / "events"});
  ASSERT_TRUE(ask("say ready"));
  Cancellation cancellation;
  std::vector<Answer> answers(2, std::unexpected(Failure{}));
  for (std::size_t i = 0; i < 2; ++i) {
    CallOptions options;
    if (i == 0) options.cancellation = cancellation;
    asio::co_spawn(loop_, provider_->invoke(Prompt{.user = i == 0 ? "hang" : "say b"}, options),
                   [&answers, i](std::exception_ptr, Answer answer) { answers[i] = std::move(answer); });
  }
  std::jthread canceller([&] {
    events.await("begun", 1);
    cancellation.request();
  });
  loop_.restart();
  loop_.run();
  ASSERT_FALSE(answers[0]);
  EXPECT_EQ(answers[0].error().reason, FailureReason::cancelled);
  EXPECT_EQ(text(answers[1]), "b");
}

TEST_F(ProcessTest, TheSmallestProgramOfTheDocsWorks) {
  std::ifstream file(LECTERN_SOURCE_DIR "/docs/process-providers.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = page.find("```python\n") + 10;
  const auto script = folder_.write("echo.py", page.substr(begin, page.find("```", begin) - begin));
  auto made = make_process_provider(timers_, {.command = {"python3", script}});
  ASSERT_TRUE(made) << made.error().for_caller;
  provider_ = std::move(*made);
  EXPECT_EQ(provider_->name(), "python3 echo.py");
  const Answer answer = ask("hello");
  ASSERT_TRUE(answer) << text(answer);
  EXPECT_EQ(answer->text, "hello");
  EXPECT_EQ(answer->model, "echo");
}

TEST_F(ProcessTest, ThePluginSpeaksTheseLines) {
  auto made = make_process_provider(
      timers_, {.command = {"python3", "-B", LECTERN_SOURCE_DIR "/plugins/transformers_provider.py", "--echo"}});
  ASSERT_TRUE(made) << made.error().for_caller;
  provider_ = std::move(*made);
  Prompt prompt{.user = "what is this?"};
  prompt.images.push_back({.bytes = std::make_shared<const std::vector<std::uint8_t>>(300'000, std::uint8_t{7})});
  std::string heard;
  CallOptions options;
  options.on_text = [&](std::string_view piece) {
    heard += piece;
    return true;
  };
  const Answer answer = run_coroutine(loop_, provider_->invoke(prompt, options));
  ASSERT_TRUE(answer) << text(answer);
  EXPECT_EQ(answer->text, "what is this? [picture of 300000 bytes]");
  EXPECT_EQ(heard, answer->text);
  EXPECT_EQ(answer->engine, "python3 transformers_provider.py");
  EXPECT_TRUE(provider_->supports_batch());
}

TEST_F(ProcessTest, EndsWithTheProviderAndAllThatItStarted) {
  start({"--child"});
  std::istringstream pids(text(ask("pids")));
  std::string own;
  std::string child;
  ASSERT_TRUE(pids >> own >> child);
  EXPECT_TRUE(runs(own));
  EXPECT_TRUE(runs(child));
  const UniqueFd child_ended(static_cast<int>(syscall(SYS_pidfd_open, std::stoi(child), 0)));
  provider_.reset();
  EXPECT_FALSE(runs(own));
  pollfd ended{.fd = child_ended.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&ended, 1, 30'000), 1) << "its child still runs";
}

TEST_F(ProcessTest, DestroyedUnderACallItFailsAsCancelled) {
  FakeEvents events(folder_.path() / "events");
  start({"--events", folder_.path() / "events"});
  Answer answer = std::unexpected(Failure{});
  asio::co_spawn(loop_, provider_->invoke(Prompt{.user = "hang"}, {}),
                 [&answer](std::exception_ptr, Answer got) { answer = std::move(got); });
  std::jthread destroyer([&] {
    events.await("begun", 1);
    provider_.reset();
  });
  loop_.run();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, FailureReason::cancelled);
}

}  // namespace
}  // namespace lectern::provider
