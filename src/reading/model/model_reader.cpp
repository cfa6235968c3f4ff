#include "reading/model/model_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/async.h"
#include "base/hash.h"
#include "reading/model/ladder.h"
#include "reading/model/page_asker.h"
#include "reading/model/page_gate.h"
#include "reading/model/prepare.h"
#include "reading/model/prompts.h"
#include "reading/model/reply_cache.h"

namespace lectern::reading {
namespace {

namespace asio = boost::asio;
using document::OpenDocument;

// Raised whenever the same answer would become another page result, so that journals of earlier versions are not taken
// for current.
constexpr int reader_revision = 1;
constexpr float figure_dpi = 150;
constexpr double partial_confidence = 0.2;

std::int64_t ms_between(TimePoint from, TimePoint to) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(to - from).count();
}

// The best answer so far, whatever is wrong with it.
struct Candidate {
  AskedPage page;
  const PageModel* model = nullptr;
};

Worth worth_of(const AskedPage& page) {
  const Worth worth = worth_of(page.judgement.verdict);
  // All its tokens may have gone into thinking, or into a loop from the first word on.
  const bool no_text = page.text.markdown.find_first_not_of(" \t\r\n") == std::string::npos;
  return worth == Worth::part && no_text ? Worth::nothing : worth;
}

bool better(const AskedPage& a, const AskedPage& b) {
  if (worth_of(a) != worth_of(b)) return worth_of(a) > worth_of(b);
  if (worth_of(a) == Worth::part) return a.text.markdown.size() > b.text.markdown.size();
  return a.judgement.confidence > b.judgement.confidence;
}

// As the page result says it.
std::string_view how_asked(Rung rung) {
  switch (rung) {
    case Rung::penalise:
      return "penalty";
    case Rung::smaller:
      return "smaller picture";
    case Rung::halves:
      return "halves";
    case Rung::ask:
    case Rung::builtin:
    case Rung::placeholder:
      return {};
  }
  std::unreachable();
}

std::string describe(const PageModel& model) {
  const provider::Parameters& p = model.parameters;
  const SizePolicy& size = model.size;
  const std::string_view prompt = model.prompt.empty() ? reading_prompt(size.family) : model.prompt;
  std::string text = fmt::format("{} {}/{}/{}/{}/{}/{} {} {} {} {} {}", model.name, to_string(size.family), size.factor,
                                 size.side_max, size.pixels_min, size.pixels_max, size.by_class, p.tokens_max,
                                 p.temperature, p.repetition_penalty.value_or(0), p.extra_body,
                                 sha256_hex(fmt::format("{}\n{}", model.system, prompt)).substr(0, 16));
  // What is not set is not named, so that the results of those who never set it stay current.
  if (p.top_p) text += fmt::format(" top_p={}", *p.top_p);
  if (p.frequency_penalty) text += fmt::format(" frequency={}", *p.frequency_penalty);
  if (p.seed) text += fmt::format(" seed={}", *p.seed);
  for (const std::string& stop : p.stop) text += fmt::format(" stop={}:{}", stop.size(), stop);
  if (p.logprobs) text += " logprobs";
  if (!p.json_schema.empty()) text += fmt::format(" schema={}", sha256_hex(p.json_schema).substr(0, 16));
  if (!model.engine_extras.empty()) text += fmt::format(" engines={}", model.engine_extras);
  return text;
}

class LadderReader final : public ModelReader {
 public:
  LadderReader(ModelReaderOptions options, CpuPool& cpu, const Clock& clock)
      : options_(std::move(options)),
        cpu_(cpu),
        clock_(clock),
        preparer_({.auto_rotate = options_.auto_rotate,
                   .format = options_.picture_format,
                   .jpeg_quality = options_.jpeg_quality,
                   .languages = options_.languages,
                   .tessdata_folder = options_.tessdata_folder},
                  cpu),
        asker_({.cache = options_.cache,
                .confidence_min = options_.models.size() > 1 ? options_.confidence_min : 0,
                .page_timeout = options_.page_timeout},
               preparer_, cpu, clock),
        gate_(std::make_shared<PageGate>(options_.pages_max)) {}

  asio::awaitable<PageResult> read(std::shared_ptr<OpenDocument> document, int page_number, FigureSink figures,
                                   Cancellation cancellation) override {
    PageResult result;
    result.page = page_number;
    PageGate::Place place = co_await gate_->enter();
    const TimePoint start = clock_.now();
    PageWork work{.document = std::move(document), .cancellation = std::move(cancellation)};
    if (work.cancellation.requested()) {  // while it waited for its place
      fail_page(result, Error{ErrorKind::cancelled, "stopped", "stopped"});
      co_return result;
    }
    auto look = co_await preparer_.look(work.document, page_number);
    work.ms.render = ms_between(start, clock_.now());
    if (!look) {
      fail_page(result, look.error());
    } else {
      work.look = std::move(*look);
      co_await climb(&work, &place, std::move(figures), &result);
    }
    result.ms.render += work.ms.render;
    result.ms.prepare += work.ms.prepare;
    result.ms.queue += work.ms.queue;
    result.ms.infer += work.ms.infer;
    if (work.tokens != Tokens{}) result.tokens = work.tokens;
    result.ms.total = ms_between(start, clock_.now());
    co_return result;
  }

  std::string fingerprint() const override {
    std::string text = fmt::format("models/{} rotate={} picture={}/{} confidence={}", reader_revision,
                                   options_.auto_rotate, static_cast<int>(options_.picture_format),
                                   options_.jpeg_quality, options_.models.size() > 1 ? options_.confidence_min : 0);
    for (const PageModel& model : options_.models) text += fmt::format(" [{}]", describe(model));
    if (options_.builtin != nullptr) text += fmt::format(" else {}", options_.builtin->fingerprint());
    return text;
  }

  void window_changed() override { gate_->changed(); }

 private:
  void fail_page(PageResult& result, const Error& error) const {
    result.reader = "model";
    result.error = error.for_caller;
    result.markdown = page_placeholder(result.page, error.for_caller);
    result.attempts.push_back({"render", std::string(to_string(error.kind)), error.for_caller, 0});
  }

  asio::awaitable<void> climb(PageWork* work, PageGate::Place* place, FigureSink figures, PageResult* result) {
    result->size = work->look.shape.size;
    if (work->look.blank) {
      result->reader = "model";
      result->content_class = "blank";
      result->confidence = 1;
      result->confidence_why = "the page is empty; no model was asked";
      result->attempts.push_back({"blank", "ok", "", 0});
      co_return;
    }
    Ladder ladder({.models = options_.models.size(), .builtin = options_.builtin != nullptr});
    std::optional<Candidate> best;
    std::optional<Step> step = ladder.first();
    StepOutcome outcome;
    while (step) {
      if (step->rung == Rung::smaller && !PageAsker::can_be_smaller(*work, options_.models[step->model])) {
        step = ladder.next(outcome);  // the same question would meet the same trouble
        continue;
      }
      if (step->rung == Rung::builtin) {
        place->leave();  // no engine is needed any more
        outcome = co_await read_builtin(work, figures, best && worth_of(best->page) > Worth::nothing, result);
        if (outcome.verdict == Verdict::good) co_return;
      } else if (step->rung == Rung::placeholder) {
        break;
      } else {
        outcome = co_await try_model(work, *step, &best, result);
        if (outcome.failure == provider::FailureReason::cancelled && !outcome.out_of_time) break;
        // A question that the stop ended may come back with a failure of the engine: no reason to fall back.
        if (work->cancellation.requested()) break;
      }
      step = ladder.next(outcome);
    }
    const bool stopped = work->cancellation.requested();
    const Worth worth = best ? worth_of(best->page) : Worth::nothing;
    if (worth == Worth::whole || (worth > Worth::nothing && !stopped)) {
      co_await take(work, std::move(*best), std::move(figures), result);
      co_return;
    }
    give_up(*result);
  }

  // The last word on a page that nobody could read: the reason of the last attempt.
  void give_up(PageResult& result) const {
    const std::string reason = result.attempts.empty() ? "nothing was tried" : result.attempts.back().reason;
    result.reader = "model";
    result.error = reason;
    result.markdown = page_placeholder(result.page, reason);
  }

  asio::awaitable<StepOutcome> try_model(PageWork* work, Step step, std::optional<Candidate>* best,
                                         PageResult* result) {
    const PageModel& model = options_.models[step.model];
    const TimePoint start = clock_.now();
    auto asked = co_await asker_.ask(work, &model, step.rung);
    StepOutcome outcome;
    outcome.out_of_time = work->deadline.passed(clock_.now());
    Attempt attempt{.reader = model.name,
                    .outcome = {},
                    .reason = {},
                    .ms = ms_between(start, clock_.now()),
                    .how = std::string(how_asked(step.rung))};
    if (!asked) {
      // The page cannot be drawn: no model can help; the builtin reader may still find text in it.
      outcome.failure = provider::FailureReason::bad_image;
      attempt.outcome = to_string(asked.error().kind);
      attempt.reason = asked.error().for_caller;
    } else if (asked->failure) {
      outcome.failure = asked->failure->reason;
      attempt.outcome = to_string(asked->failure->reason);
      attempt.reason = asked->failure->message;
    } else {
      const Verdict verdict = asked->judgement.verdict;
      outcome.verdict = verdict;
      attempt.outcome = verdict == Verdict::good ? "ok" : to_string(verdict);
      attempt.reason = verdict == Verdict::good ? (asked->remembered ? "remembered" : "") : asked->judgement.why;
      if (!*best || better(*asked, (*best)->page)) *best = Candidate{std::move(*asked), &model};
    }
    result->attempts.push_back(std::move(attempt));
    co_return outcome;
  }

  // Takes the builtin reader's result over, unless it found nothing where a model had found something.
  asio::awaitable<StepOutcome> read_builtin(PageWork* work, FigureSink figures, bool have_answer, PageResult* result) {
    PageResult read =
        co_await options_.builtin->read(work->document, result->page, std::move(figures), work->cancellation);
    StepOutcome outcome;
    outcome.verdict = Verdict::good;
    if (!read.error.empty() || (read.blocks.empty() && have_answer)) outcome.verdict = Verdict::empty;
    if (outcome.verdict != Verdict::good) {
      const std::string reason = read.error.empty() ? "found no text" : read.error;
      result->attempts.push_back({"builtin", read.error.empty() ? "empty" : "failed", reason, read.ms.total});
      co_return outcome;
    }
    std::vector<Attempt> attempts = std::move(result->attempts);
    std::ranges::move(read.attempts, std::back_inserter(attempts));
    *result = std::move(read);
    result->attempts = std::move(attempts);
    co_return outcome;
  }

  asio::awaitable<void> take(PageWork* work, Candidate best, FigureSink figures, PageResult* result) {
    AskedPage& page = best.page;
    std::vector<std::string> files(page.text.figures.size());
    for (std::size_t i = 0; figures && i < page.text.figures.size(); ++i) {
      auto saved = co_await save_figure(work, page.text.figures[i].box, static_cast<int>(i) + 1, figures, result->page);
      if (saved) {
        files[i] = std::move(*saved);
      } else {
        result->attempts.push_back({"figure", std::string(to_string(saved.error().kind)), saved.error().for_caller, 0});
      }
    }
    name_figures(page.text, files);
    result->reader = "model";
    result->model = best.model->name;
    result->rotation = work->look.rotation;
    result->size = work->look.shape.size;
    result->markdown = std::move(page.text.markdown);
    if (!result->markdown.empty() && !result->markdown.ends_with('\n')) result->markdown += '\n';
    result->blocks = std::move(page.text.blocks);
    result->content_class = page.text.diagram ? "diagram" : work->look.content_class;
    result->agreement = page.judgement.agreement;
    result->confidence = page.judgement.confidence;
    result->confidence_why = page.judgement.why;
    if (worth_of(page.judgement.verdict) == Worth::part) {
      result->confidence = std::min(page.judgement.confidence, partial_confidence);
      result->confidence_why = fmt::format("the answer is not whole: {}", page.judgement.why);
    }
  }

  asio::awaitable<Result<std::string>> save_figure(PageWork* work, RectPt box, int number, FigureSink figures,
                                                   int page_number) {
    auto pixels = co_await preparer_.draw_part(work->document, &work->look, box, figure_dpi);
    if (!pixels) co_return std::unexpected(pixels.error());
    auto save = [&pixels, &figures, page_number, number] { return figures(page_number, number, *pixels); };
    co_return co_await cpu_.run(std::move(save));
  }

  const ModelReaderOptions options_;
  CpuPool& cpu_;
  const Clock& clock_;
  PagePreparer preparer_;
  PageAsker asker_;
  const std::shared_ptr<PageGate> gate_;  // shared with places and with what changed() has posted
};

}  // namespace

Result<std::unique_ptr<ModelReader>> make_model_reader(ModelReaderOptions options, CpuPool& cpu, const Clock& clock) {
  if (options.models.empty()) return fail(ErrorKind::invalid_input, "no model was given to read pages with");
  for (const PageModel& model : options.models) {
    if (model.provider == nullptr) return fail(ErrorKind::internal, "model '{}' has no provider", model.name);
  }
  if (!options.pages_max) return fail(ErrorKind::internal, "a model reader needs a bound on its pages");
  return std::make_unique<LadderReader>(std::move(options), cpu, clock);
}

std::string page_placeholder(int page_number, std::string_view message) {
  std::string line(message);
  std::ranges::replace(line, '\n', ' ');
  return fmt::format("[VLM_ERROR page {}]: {}\n", page_number, line);
}

}  // namespace lectern::reading
