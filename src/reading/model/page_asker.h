// One question about one page: the picture, the prompt, the answer as it streams in, the verdict on it.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>
#include <optional>

#include "base/cancellation.h"
#include "reading/model/judge.h"
#include "reading/model/ladder.h"
#include "reading/model/model_reader.h"
#include "reading/model/prepare.h"
#include "reading/model/reply_text.h"

namespace lectern::reading {

// A page on its way through the ladder.
struct PageWork {
  std::shared_ptr<document::OpenDocument> document;  // shared with whoever else reads pages of it
  PageLook look;
  Deadline deadline;  // of all asking: begins with the first question to an engine, not while the page is prepared
  Cancellation cancellation;
  int smaller = 0;  // how often the picture was made smaller for the model that is being asked
  // The whole page as drawn last: a second question about the same picture need not draw it again.
  std::optional<SizePx> drawn_size;
  provider::PromptImage drawn;
  StageTimes ms;
  Tokens tokens;  // of answers that were asked for, not remembered
};

struct AskedPage {
  ReplyText text;
  Judgement judgement;  // when there is no failure
  std::optional<provider::Failure> failure;
  bool remembered = false;  // the answer came from the cache
};

struct PageAskerOptions {
  ReplyCache* cache = nullptr;
  double confidence_min = 0;
  std::chrono::milliseconds page_timeout{300'000};
};

struct ReplyEar;

// Calls may overlap. REQUIRES: `work` and `model` outlive the call.
class PageAsker {
 public:
  PageAsker(PageAskerOptions options, PagePreparer& preparer, CpuPool& cpu, const Clock& clock);

  // REQUIRES: the rung asks a model. Errors: the page cannot be drawn.
  boost::asio::awaitable<Result<AskedPage>> ask(PageWork* work, const PageModel* model, Rung rung);
  // Whether Rung::smaller would show the model another picture than it has seen.
  static bool can_be_smaller(const PageWork& work, const PageModel& model);

 private:
  boost::asio::awaitable<Result<AskedPage>> ask_whole(PageWork* work, const PageModel* model, Rung rung);
  boost::asio::awaitable<Result<AskedPage>> ask_halves(PageWork* work, const PageModel* model);
  boost::asio::awaitable<AskedPage> ask_about(PageWork* work, const PageModel* model, Rung rung,
                                              provider::PromptImage picture, SizePt size);
  boost::asio::awaitable<provider::Answer> answer(PageWork* work, const PageModel* model, provider::Prompt prompt,
                                                  std::shared_ptr<ReplyEar> ear);
  struct Judging;
  boost::asio::awaitable<AskedPage> judge(const provider::Reply* reply, std::shared_ptr<ReplyEar> ear, Judging how);

  const PageAskerOptions options_;
  PagePreparer& preparer_;
  CpuPool& cpu_;
  const Clock& clock_;
};

}  // namespace lectern::reading
