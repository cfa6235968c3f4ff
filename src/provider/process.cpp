#include "provider/process.h"

#include <fmt/format.h>

#include <filesystem>
#include <thread>
#include <utility>

#include "provider/process_child.h"
#include "provider/process_core.h"

namespace lectern::provider {
namespace asio = boost::asio;
namespace {

Failure cancelled(const std::string& name) {
  return {.reason = FailureReason::cancelled, .message = fmt::format("{}: cancelled", name)};
}

// "python3 transformers_provider.py": the program, and the script when it is an interpreter's.
std::string name_of(const std::vector<std::string>& command) {
  const auto file_name = [](const std::string& path) { return std::filesystem::path(path).filename().string(); };
  std::size_t script = 1;
  while (script < command.size() && command[script].size() == 2 && command[script].starts_with('-')) ++script;  // "-u"
  const bool has_script = script < command.size() && !command[script].starts_with('-');
  return has_script ? file_name(command[0]) + " " + file_name(command[script]) : file_name(command[0]);
}

class ProcessProvider final : public Provider {
 public:
  ProcessProvider(Timers& timers, ProcessOptions options, std::string program, std::string name)
      : timers_(timers),
        core_(std::make_shared<ProcessCore>(timers, std::move(options), std::move(program), std::move(name))),
        thread_([core = core_] { core->run(); }) {}
  ~ProcessProvider() override { core_->stop(); }
  ProcessProvider(const ProcessProvider&) = delete;
  ProcessProvider& operator=(const ProcessProvider&) = delete;

  asio::awaitable<Answer> invoke(Prompt prompt, CallOptions options) override {
    std::vector<Prompt> prompts;
    prompts.push_back(std::move(prompt));
    auto answers = co_await batch_invoke(std::move(prompts), std::move(options));
    co_return std::move(answers.front());
  }

  asio::awaitable<std::vector<Answer>> batch_invoke(std::vector<Prompt> prompts, CallOptions options) override {
    const std::shared_ptr<ProcessCore> core = core_;
    std::vector<std::expected<QuestionPtr, Failure>> questions;
    std::vector<QuestionPtr> good;
    for (const Prompt& prompt : prompts) {
      auto& question = questions.emplace_back(question_of(prompt, options));
      if (question) good.push_back(*question);
    }
    prompts.clear();
    if (!good.empty()) core->ask(good, options.deadline);
    auto leave = [core, good] {
      for (const QuestionPtr& question : good) core->leave(question, cancelled(core->name()));
    };
    const auto registration = options.cancellation.on_request(std::move(leave));
    std::vector<Answer> answers;
    answers.reserve(questions.size());
    for (auto& question : questions) {
      if (question) {
        answers.push_back(co_await answer_to(core, *question, options));
      } else {
        answers.emplace_back(std::unexpected(std::move(question.error())));
      }
    }
    co_return answers;
  }

  bool supports_batch() const override { return core_->supports_batch(); }
  std::string name() const override { return core_->name(); }

 private:
  std::expected<QuestionPtr, Failure> question_of(const Prompt& prompt, const CallOptions& options) const {
    if (options.cancellation.requested()) return std::unexpected(cancelled(name()));
    if (options.deadline.passed(timers_.clock().now())) {
      return std::unexpected(
          Failure{.reason = FailureReason::timed_out,
                  .message = fmt::format("{}: the deadline had passed before it was asked", name())});
    }
    auto pieces = prompt_pieces(prompt, core_->model(), static_cast<bool>(options.on_text));
    if (!pieces) {
      pieces.error().message = fmt::format("{}: {}", name(), pieces.error().message);
      return std::unexpected(std::move(pieces.error()));
    }
    auto question = std::make_shared<Question>();
    question->pieces = std::move(*pieces);
    question->streamed = static_cast<bool>(options.on_text);
    return question;
  }

  static asio::awaitable<Answer> answer_to(std::shared_ptr<ProcessCore> core, QuestionPtr question,
                                           CallOptions options) {
    Reply cut{.finish = FinishReason::cut, .engine = core->name()};  // as far as it has come
    for (;;) {
      auto event = co_await question->events.receive();
      if (auto* answer = std::get_if<Answer>(&*event)) co_return std::move(*answer);
      if (std::holds_alternative<AskedAgain>(*event)) {
        cut.text.clear();
        ++cut.attempts;
        if (options.on_restart) options.on_restart();
        continue;
      }
      const auto& piece = std::get<TextPiece>(*event);
      if (cut.text.empty()) cut.first_byte = piece.after;
      cut.text += piece.text;
      cut.total = piece.after;
      if (options.on_text(piece.text)) continue;
      core->leave(question, std::nullopt);
      co_return cut;
    }
  }

  Timers& timers_;
  // Shared with calls under way: their cancellation may be requested after the provider has gone.
  const std::shared_ptr<ProcessCore> core_;
  const std::jthread thread_;  // last: waits for its end
};

}  // namespace

Result<std::unique_ptr<Provider>> make_process_provider(Timers& timers, ProcessOptions options) {
  if (options.command.empty() || options.command.front().empty()) {
    return fail(ErrorKind::invalid_input,
                "the command of a process provider is empty; name a program and its arguments");
  }
  if (options.batch_max < 1) {
    return fail(ErrorKind::invalid_input, "batch_max of a process provider is {}; it must be at least 1",
                options.batch_max);
  }
  auto program = find_program(options.command.front());
  if (!program) return std::unexpected(std::move(program.error()));
  std::string name = name_of(options.command);
  return std::make_unique<ProcessProvider>(timers, std::move(options), std::move(*program), std::move(name));
}

}  // namespace lectern::provider
