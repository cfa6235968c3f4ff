#include "service/hand_worker.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

#include "job/handlers/page_blob.h"
#include "job/request.h"

namespace lectern::service {
namespace {

namespace asio = boost::asio;
using job::StepKind;

asio::awaitable<void> put(job::Blobs* blobs, std::string key, std::string bytes) {
  const auto done = co_await blobs->put(key, bytes, job::PutMode::replace);
  if (!done) throw std::runtime_error(done.error().for_log);
}

job::PageBlob page_of(int number) {
  job::PageBlob page{.prompt = "Read this page.", .record = {}, .result = {.page = number}};
  page.result.size = {612, 792};
  page.result.markdown = fmt::format("page {}", number);
  page.result.reader = "model";
  page.result.model = "m";
  page.result.blocks.push_back({.kind = reading::BlockKind::paragraph,
                                .bbox = {10.123456F, 20, 30, 40},
                                .text = fmt::format("page {}", number)});
  page.record = reading::record_of(page.result, {}, 0);
  return page;
}

asio::awaitable<job::Outcome> outcome_of(job::Blobs* blobs, job::Task task, HandPlan plan) {
  job::Outcome outcome{.task = task.id, .token = task.token};
  switch (task.kind) {
    case StepKind::split:
      if (plan.split_fails) {
        outcome.ending = job::Ending::failed;
        outcome.error = "the document cannot be opened";
        break;
      }
      outcome.pages_total = plan.pages;
      for (int page = 1; page <= plan.pages; ++page) outcome.pages.push_back(page);
      break;
    case StepKind::read:
      if (task.number == plan.failed_page) {
        outcome.ending = job::Ending::failed;
        outcome.error = "the page cannot be read";
        break;
      }
      outcome.page = job::PageOutcome::ok;
      outcome.result = job::page_key(task.job, task.number, task.token);
      co_await put(blobs, outcome.result, job::to_json(page_of(task.number)));
      break;
    case StepKind::assemble: {
      nlohmann::json keys;
      for (const std::string format : {"md", "json", "text", "html"}) {
        const std::string key = job::result_key(task, format);
        keys[format] = key;
        const std::string json = R"({"document":{"name":"x","pages":2},"pages":[]})";
        co_await put(blobs, key, format == "json" ? json : "# " + format + " of " + task.job + "\n");
      }
      outcome.job_result = keys.dump();
      break;
    }
    case StepKind::deliver:
      outcome.ending = plan.deliver ? job::Ending::done : job::Ending::again;
      if (!plan.deliver) outcome.error = "the webhook answered 500";
      break;
  }
  co_return outcome;
}

}  // namespace

asio::awaitable<int> work_by_hand(job::Store* store, job::Blobs* blobs, HandPlan plan) {
  int done = 0;
  for (;;) {
    job::ClaimRequest request{.worker = "hand",
                              .kinds = {StepKind::split, StepKind::read, StepKind::assemble, StepKind::deliver},
                              .room = 50};
    if (plan.stop_before_assemble) request.kinds = {StepKind::split, StepKind::read};
    const auto tasks = co_await store->claim(std::move(request));
    if (!tasks) throw std::runtime_error(tasks.error().for_log);
    if (tasks->empty()) co_return done;
    std::vector<job::Outcome> outcomes;
    for (const job::Task& task : *tasks) outcomes.push_back(co_await outcome_of(blobs, task, plan));
    done += static_cast<int>(outcomes.size());
    const auto verdicts = co_await store->commit(std::move(outcomes));
    if (!verdicts) throw std::runtime_error(verdicts.error().for_log);
  }
}

}  // namespace lectern::service
