#include "reading/model/page_asker.h"

#include <algorithm>
#include <utility>

#include "base/async.h"
#include "reading/model/prompts.h"
#include "reading/model/repetition.h"
#include "reading/model/reply_cache.h"
#include "telemetry/log.h"

namespace lectern::reading {

// Looks for loops while an answer streams in.
struct ReplyEar {
  RepetitionDetector detector;
  std::size_t heard_bytes = 0;

  bool hear(std::string_view piece) {
    heard_bytes += piece.size();
    return !detector.add(piece);
  }
  void forget() {
    detector.reset();
    heard_bytes = 0;
  }
  // Null = none. What was not heard as it came (a remembered answer, a provider that does not stream) is searched now.
  const Repetition* loop_in(std::string_view text) {
    if (heard_bytes != text.size()) {
      forget();
      hear(text);
    }
    return detector.found();
  }
};

namespace {

namespace asio = boost::asio;
using provider::FinishReason;

constexpr double repetition_penalty = 1.1;
constexpr double warmer = 0.3;  // temperature of a second try: the same question at 0 would get the same answer

std::int64_t ms_of(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

SizePx size_for(const PageWork& work, const PageModel& model) {
  SizePx size = target_size(work.look.shape, model.size);
  for (int i = 0; i < work.smaller; ++i) size = smaller(size, model.size).value_or(size);
  return size;
}

provider::Prompt prompt_for(const PageModel& model, Rung rung, provider::PromptImage picture) {
  provider::Prompt prompt;
  prompt.model = model.name;
  prompt.system = model.system;
  prompt.user = model.prompt.empty() ? reading_prompt(model.size.family) : model.prompt;
  prompt.images.push_back(std::move(picture));
  prompt.parameters = model.parameters;
  if (prompt.parameters.extra_body.empty()) prompt.parameters.extra_body = request_extras(model.size.family);
  if (rung == Rung::penalise) {
    prompt.parameters.repetition_penalty = model.parameters.repetition_penalty.value_or(1.0) * repetition_penalty;
    prompt.parameters.temperature = std::max(model.parameters.temperature, warmer);
  }
  return prompt;
}

// Replies that are no good are asked for again when their page is read again: the model may have been mended by then.
bool is_worth_keeping(Verdict verdict) {
  return verdict == Verdict::good || verdict == Verdict::doubtful;
}

// The halves' answers as one: what one of them lacks, the page lacks.
void append_half(AskedPage& page, AskedPage half, float down_pt) {
  ReplyText& text = page.text;
  while (text.markdown.ends_with('\n')) text.markdown.pop_back();
  if (!text.markdown.empty() && !half.text.markdown.empty()) text.markdown += "\n\n";
  // Links to figures are numbered through.
  std::string markdown = std::move(half.text.markdown);
  for (std::size_t i = half.text.figures.size(); i-- > 0;) {
    const std::string from = fmt::format("(figure:{})", i);
    const std::string to = fmt::format("(figure:{})", i + text.figures.size());
    for (std::size_t at = 0; (at = markdown.find(from, at)) != std::string::npos; at += to.size()) {
      markdown.replace(at, from.size(), to);
    }
  }
  text.markdown += markdown;
  const std::size_t blocks_before = text.blocks.size();
  const auto moved = [down_pt](RectPt box) {
    if (box.empty()) return box;
    return RectPt{box.x0, box.y0 + down_pt, box.x1, box.y1 + down_pt};
  };
  for (Block& block : half.text.blocks) {
    block.bbox = moved(block.bbox);
    text.blocks.push_back(std::move(block));
  }
  for (const ReplyFigure& figure : half.text.figures) {
    text.figures.push_back({moved(figure.box), figure.block + blocks_before});
  }
  if (worth_of(half.judgement.verdict) < worth_of(page.judgement.verdict)) {
    page.judgement.verdict = half.judgement.verdict;
  }
  if (half.judgement.confidence < page.judgement.confidence) {
    page.judgement.confidence = half.judgement.confidence;
    page.judgement.why = half.judgement.why;
  }
}

}  // namespace

PageAsker::PageAsker(PageAskerOptions options, PagePreparer& preparer, CpuPool& cpu, const Clock& clock)
    : options_(std::move(options)), preparer_(preparer), cpu_(cpu), clock_(clock) {}

bool PageAsker::can_be_smaller(const PageWork& work, const PageModel& model) {
  const SizePx now = size_for(work, model);
  return smaller(now, model.size).value_or(now) != now;
}

asio::awaitable<Result<AskedPage>> PageAsker::ask(PageWork* work, const PageModel* model, Rung rung) {
  if (rung == Rung::ask) work->smaller = 0;  // another model may have room for more
  if (rung == Rung::smaller) ++work->smaller;
  if (rung == Rung::halves) co_return co_await ask_halves(work, model);
  co_return co_await ask_whole(work, model, rung);
}

asio::awaitable<Result<AskedPage>> PageAsker::ask_whole(PageWork* work, const PageModel* model, Rung rung) {
  const SizePx size = size_for(*work, *model);
  if (work->drawn_size != size) {
    const TimePoint start = clock_.now();
    auto drawn = co_await preparer_.draw(work->document, &work->look, DrawOptions{.size = size, .part = {}});
    work->ms.prepare += ms_of(clock_.now() - start);
    if (!drawn) co_return std::unexpected(drawn.error());
    work->drawn = std::move(*drawn);
    // A scan that was found to lie on its side has got its other size by being turned.
    work->drawn_size = size_for(*work, *model);
  }
  provider::PromptImage picture = work->drawn;
  AskedPage asked = co_await ask_about(work, model, rung, std::move(picture), work->look.shape.size);
  if (asked.failure || !asked.text.rotation || *asked.text.rotation == 0 || work->look.turned_by_model) {
    co_return asked;
  }
  // The model would rather see the page turned: once.
  work->look.turn_further(*asked.text.rotation);
  work->drawn_size.reset();
  co_return co_await ask_whole(work, model, rung);
}

asio::awaitable<Result<AskedPage>> PageAsker::ask_halves(PageWork* work, const PageModel* model) {
  const auto cut = co_await preparer_.find_cut(work->document, &work->look);
  if (!cut) co_return std::unexpected(cut.error());
  const SizePt page = work->look.shape.size;
  const RectPt parts[] = {{0, 0, page.width, *cut}, {0, *cut, page.width, page.height}};
  AskedPage both;
  both.judgement = {.verdict = Verdict::good, .confidence = 1};
  both.remembered = true;
  for (const RectPt& part : parts) {
    PageShape shape = work->look.shape;
    shape.size = {part.width(), part.height()};
    const TimePoint start = clock_.now();
    const DrawOptions options{.size = target_size(shape, model->size), .part = part};
    auto drawn = co_await preparer_.draw(work->document, &work->look, options);
    work->ms.prepare += ms_of(clock_.now() - start);
    if (!drawn) co_return std::unexpected(drawn.error());
    AskedPage half = co_await ask_about(work, model, Rung::halves, std::move(*drawn), shape.size);
    if (half.failure) co_return half;
    both.remembered = both.remembered && half.remembered;
    append_half(both, std::move(half), part.y0);
  }
  co_return both;
}

// What a reply is judged by.
struct PageAsker::Judging {
  std::string_view words;  // that the page is known to have
  bool blank = false;
  SizePt size;
};

asio::awaitable<AskedPage> PageAsker::judge(const provider::Reply* reply, std::shared_ptr<ReplyEar> ear, Judging how) {
  auto judge = [this, reply, &ear, how] {
    AskedPage judged;
    std::string_view text = reply->text;
    const Repetition* const loop = ear->loop_in(text);
    if (loop != nullptr) text = text.substr(0, loop->begins_at);
    judged.text = reply_text(text, {.page_size = how.size});
    judged.judgement = judge_reply({.reply = *reply,
                                    .text = judged.text.markdown,
                                    .loop = loop,
                                    .evidence = {.words = how.words, .blank = how.blank},
                                    .confidence_min = options_.confidence_min});
    return judged;
  };
  co_return co_await cpu_.run(std::move(judge));
}

asio::awaitable<AskedPage> PageAsker::ask_about(PageWork* work, const PageModel* model, Rung rung,
                                                provider::PromptImage picture, SizePt size) {
  const auto ear = std::make_shared<ReplyEar>();  // shared with the callbacks of the provider
  provider::Prompt prompt = prompt_for(*model, rung, std::move(picture));
  // Another prompt than a transcription's is none of the text layer's business; nor is it that of half a page.
  const bool transcription = model->prompt.empty() && rung != Rung::halves;
  const Judging how{
      .words = transcription ? std::string_view(work->look.words) : "", .blank = work->look.blank, .size = size};
  std::string question;
  if (options_.cache != nullptr) {
    auto recall = [this, model, &prompt, &question] {
      question = question_hash(prompt, model->engine_extras);
      return options_.cache->find(question);
    };
    if (const auto known = co_await cpu_.run(std::move(recall))) {
      AskedPage judged = co_await judge(&*known, ear, how);
      judged.remembered = true;
      if (is_worth_keeping(judged.judgement.verdict)) co_return judged;
      ear->forget();
    }
  }
  const auto reply = co_await answer(work, model, std::move(prompt), ear);
  if (!reply) {
    AskedPage failed;
    failed.failure = reply.error();
    co_return failed;
  }
  AskedPage judged = co_await judge(&*reply, ear, how);
  if (options_.cache != nullptr && is_worth_keeping(judged.judgement.verdict)) {
    auto keep = [this, &question, &reply] { return options_.cache->keep(question, *reply); };
    if (const Status kept = co_await cpu_.run(std::move(keep)); !kept) {
      telemetry::log(telemetry::LogLevel::warning, "an answer could not be kept", {{"error", kept.error().for_log}});
    }
  }
  co_return judged;
}

asio::awaitable<provider::Answer> PageAsker::answer(PageWork* work, const PageModel* model, provider::Prompt prompt,
                                                    std::shared_ptr<ReplyEar> ear) {
  if (work->deadline == Deadline::never()) work->deadline = Deadline::after(options_.page_timeout, clock_);
  provider::CallOptions call{.deadline = work->deadline, .cancellation = work->cancellation};
  call.on_text = [ear](std::string_view piece) { return ear->hear(piece); };
  call.on_restart = [ear] { ear->forget(); };
  const TimePoint start = clock_.now();
  provider::Answer reply = co_await model->provider->invoke(std::move(prompt), std::move(call));
  const auto took = clock_.now() - start;
  if (!reply) {
    work->ms.queue += ms_of(took);
    co_return reply;
  }
  work->ms.infer += ms_of(reply->total);
  work->ms.queue += ms_of(std::max(std::chrono::nanoseconds(0), std::chrono::nanoseconds(took - reply->total)));
  if (reply->usage) {
    work->tokens.prompt += reply->usage->prompt_tokens;
    work->tokens.completion += reply->usage->completion_tokens;
  }
  co_return reply;
}

}  // namespace lectern::reading
