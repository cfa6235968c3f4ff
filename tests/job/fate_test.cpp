#include "job/handlers/fate.h"

#include <gtest/gtest.h>

namespace lectern::job {
namespace {

Error an(ErrorKind kind) {
  return {kind, "for us", "report.pdf: is torn"};
}

TEST(Fate, ABlobStoreThatIsAwayCostsTheTaskNothing) {
  EXPECT_EQ(after_blob_error(an(ErrorKind::unavailable)).ending, Ending::give_back);
  EXPECT_GT(after_blob_error(an(ErrorKind::unavailable)).delay, 0) << "nobody spins";
  EXPECT_EQ(after_blob_error(an(ErrorKind::overloaded)).ending, Ending::give_back);
  EXPECT_EQ(after_blob_error(an(ErrorKind::not_found)).ending, Ending::failed);
  EXPECT_EQ(after_blob_error(an(ErrorKind::corrupt)).ending, Ending::failed);
  EXPECT_EQ(after_blob_error(an(ErrorKind::internal)).ending, Ending::again);
}

TEST(Fate, ADocumentThatCannotBeOpenedFailsForGood) {
  const Outcome outcome = after_open_error(an(ErrorKind::invalid_input), "report.pdf");
  EXPECT_EQ(outcome.ending, Ending::failed);
  EXPECT_EQ(outcome.error, "is torn");
  EXPECT_EQ(after_open_error(an(ErrorKind::corrupt), "x").ending, Ending::failed);
  EXPECT_EQ(after_open_error(an(ErrorKind::timeout), "x").ending, Ending::failed) << "it hangs whoever opens it";
  EXPECT_EQ(after_open_error(an(ErrorKind::internal), "x").ending, Ending::again);
}

TEST(Fate, ARendererThatDoesNotStartIsTheWorkersTrouble) {
  const Outcome outcome = after_open_error(an(ErrorKind::unavailable), "x");
  EXPECT_EQ(outcome.ending, Ending::give_back);
  EXPECT_GT(outcome.delay, 0) << "nobody spins";
  EXPECT_EQ(outcome.for_log, "for us");
  EXPECT_NE(outcome.error, "");
  EXPECT_EQ(outcome.error.find("torn"), std::string::npos) << "paths of the worker are for its log";
}

TEST(Fate, SoItIsWhenItIsMissedInTheMiddleOfADocument) {
  const reading::Attempt lacking{"builtin", "unavailable", "no /x/libpdfium.so"};
  const auto back = after_unread_page({.page = 1, .attempts = {lacking, {"m", "bad image", "x"}}, .error = "x"});
  ASSERT_TRUE(back);
  EXPECT_EQ(back->ending, Ending::give_back);
  EXPECT_EQ(back->for_log, "no /x/libpdfium.so");
  EXPECT_FALSE(after_unread_page({.page = 1, .attempts = {lacking, {"m", "ok", ""}}})) << "somebody could read it";
  EXPECT_FALSE(after_unread_page({.page = 1, .attempts = {{"builtin", "corrupt", "torn"}}, .error = "torn"}));
}

TEST(Fate, AWishThatCannotBeFulfilledFailsForGood) {
  EXPECT_EQ(after_reader_error(an(ErrorKind::invalid_input)).ending, Ending::failed);
  EXPECT_EQ(after_reader_error(an(ErrorKind::not_found)).ending, Ending::failed);
  EXPECT_EQ(after_reader_error(an(ErrorKind::internal)).ending, Ending::again);
}

TEST(Fate, AnEngineThatIsAwayDoesNotCount) {
  for (const ErrorKind kind : {ErrorKind::unavailable, ErrorKind::timeout, ErrorKind::overloaded}) {
    const Outcome outcome = after_reader_error(an(kind));
    EXPECT_EQ(outcome.ending, Ending::give_back);
    EXPECT_GT(outcome.delay, 0) << "nobody is asked all the time";
  }
}

TEST(Fate, ErrorsNameFieldsAndNotFlags) {
  const Error locked{ErrorKind::invalid_input, "x", "a.pdf: needs a password: give --password or LECTERN_PASSWORD"};
  EXPECT_EQ(after_open_error(locked, "a.pdf").error, "needs a password: send it with the job as the field 'password'");
  EXPECT_EQ(in_words_of_the_api("has 3 pages, none of them in --pages 9"), "has 3 pages, none of them in 'pages' 9");
  EXPECT_EQ(in_words_of_the_api("is torn"), "is torn");
}

TEST(Fate, NamesAreTakenOffOnce) {
  EXPECT_EQ(without_name("a.pdf: a.pdf: x", "a.pdf"), "a.pdf: x");
  EXPECT_EQ(without_name("a.pdf: x", "folder/a.pdf"), "x");
  EXPECT_EQ(without_name("b.pdf: x", "a.pdf"), "b.pdf: x");
  EXPECT_EQ(without_name(": x", ""), ": x");
}

}  // namespace
}  // namespace lectern::job
