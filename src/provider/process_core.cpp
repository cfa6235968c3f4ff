#include "provider/process_core.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <utility>

#include "provider/json_lines.h"
#include "provider/process_child.h"
#include "provider/process_lines.h"
#include "telemetry/log.h"

namespace lectern::provider {
namespace asio = boost::asio;
namespace {

constexpr std::size_t line_bytes_max = std::size_t{64} << 20;
constexpr std::size_t error_line_bytes_max = 8'192;
constexpr std::size_t tail_lines_max = 8;  // of its standard error, for messages
constexpr std::size_t read_bytes = 65'536;
constexpr std::size_t write_bytes = 196'608;
constexpr std::chrono::milliseconds end_poll{10};  // only where the kernel does not tell when a process ends

std::string in_seconds(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", std::chrono::duration<double>(time).count());
}

}  // namespace

struct ProcessCore::Program {
  Program(asio::io_context& loop, ProcessChild started)
      : child(std::move(started)),
        input(loop, asio::local::stream_protocol(), child.input.release()),
        output(loop, child.output.release()),
        errors(loop, child.errors.release()),
        exited(loop) {
    if (child.exited) exited.assign(child.exited.release());
  }

  std::string tail_text() const {
    return tail.empty() ? std::string() : fmt::format("; it said last: {}", fmt::join(tail, " | "));
  }

  ProcessChild child;
  asio::local::stream_protocol::socket input;
  asio::posix::stream_descriptor output;
  asio::posix::stream_descriptor errors;
  asio::posix::stream_descriptor exited;
  LineSplitter output_lines{line_bytes_max};
  LineSplitter error_lines{error_line_bytes_max};
  std::deque<std::string> tail;  // the last lines of its standard error
  std::deque<HttpBody> outgoing;
  bool writing = false;
  Cancellation ready;            // requested when it has said so
  Cancellation silent;           // requested when its standard output has ended, or nobody reads it any more
  std::optional<Failure> cause;  // why we end it; none: it ended by itself
  bool cannot_start = false;     // starting it again at once is of no use
};

ProcessCore::ProcessCore(Timers& timers, ProcessOptions options, std::string program, std::string name)
    : timers_(timers),
      options_(std::move(options)),
      program_path_(std::move(program)),
      name_(std::move(name)),
      desk_(name_, options_.batch_max),
      restarts_(RestartLimits{.restarts_max = options_.restarts_max, .first_delay = options_.restart_delay}) {}

ProcessCore::~ProcessCore() = default;

void ProcessCore::run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals are for the main thread
  const auto stay = asio::make_work_guard(loop_);
  loop_.run();
  if (program_) program_->child.reap();
  program_.reset();
}

void ProcessCore::stop() {
  asio::post(loop_, [this] {
    const Failure cancelled{.reason = FailureReason::cancelled, .message = fmt::format("{}: shutting down", name_)};
    desk_.program_ended(cancelled, now());
    desk_.fail_waiting(cancelled);
    loop_.stop();
  });
}

void ProcessCore::ask(std::vector<QuestionPtr> questions, Deadline deadline) {
  asio::post(loop_, [this, questions = std::move(questions), deadline] { add(questions, deadline); });
}

void ProcessCore::leave(QuestionPtr question, std::optional<Failure> failure) {
  asio::post(loop_, [this, question = std::move(question), failure = std::move(failure)]() mutable {
    depart(question, std::move(failure));
  });
}

void ProcessCore::add(const std::vector<QuestionPtr>& questions, Deadline deadline) {
  for (const QuestionPtr& question : questions) {
    if (question->ended.requested()) continue;
    desk_.add(question, now());
    if (deadline != Deadline::never()) {
      asio::co_spawn(loop_, watch_deadline(question, deadline), asio::detached);
    }
  }
  if (!program_ && restarts_.given_up() && now() < restarts_.start_at()) {
    desk_.fail_waiting(last_failure_);
  } else if (!supervising_) {
    asio::co_spawn(loop_, supervise(), asio::detached);
  } else {
    dispatch();
  }
}

void ProcessCore::depart(const QuestionPtr& question, std::optional<Failure> failure) {
  if (question->ended.requested()) return;
  if (failure) {
    failure->reply_started = question->first_byte.has_value();
    failure->partial_text = question->text;
    question->events.try_send(Answer(std::unexpected(std::move(*failure))));
  }
  const auto left = desk_.leave(question);
  if (!left || !program_) return;
  send(program_, HttpBody({left->cancel_line}));
  if (left->nobody_waits) {
    asio::co_spawn(loop_, watch_abandoned(program_, left->request_closed), asio::detached);
  }
}

asio::awaitable<void> ProcessCore::watch_deadline(QuestionPtr question, Deadline deadline) {
  co_await timers_.wait_until(deadline.when(), question->ended);
  Failure late{.reason = FailureReason::timed_out, .message = fmt::format("{}: no answer before the deadline", name_)};
  depart(question, std::move(late));
}

asio::awaitable<void> ProcessCore::watch_abandoned(ProgramPtr program, Cancellation closed) {
  co_await timers_.wait_for(options_.cancel_timeout, closed);
  if (closed.requested() || program != program_) co_return;
  end(program, {.reason = FailureReason::connection_lost,
                .message = fmt::format("{} went on for {} with a request that was cancelled, and was ended", name_,
                                       in_seconds(options_.cancel_timeout))});
}

asio::awaitable<void> ProcessCore::collect(TimePoint until) {
  co_await timers_.wait_until(until, Cancellation());
  if (collecting_until_ == until) collecting_until_.reset();
  dispatch();
}

void ProcessCore::dispatch() {
  if (!program_ || !program_->ready.requested() || program_->cause) return;
  while (const auto at = desk_.send_at()) {
    if (*at > now()) {
      if (collecting_until_ && *collecting_until_ <= *at) return;
      collecting_until_ = *at;
      asio::co_spawn(loop_, collect(*at), asio::detached);
      return;
    }
    const ProcessDesk::Request request = desk_.take(now());
    std::vector<const std::vector<BodyPiece>*> prompts;
    prompts.reserve(request.questions.size());
    for (const QuestionPtr& question : request.questions) prompts.push_back(&question->pieces);
    if (options_.on_batch) options_.on_batch(static_cast<int>(prompts.size()));
    send(program_, request_line(request.id, prompts));
  }
}

asio::awaitable<void> ProcessCore::supervise() {
  supervising_ = true;
  while (desk_.anybody_waits()) {
    co_await timers_.wait_until(restarts_.start_at(), Cancellation());
    if (!desk_.anybody_waits()) break;  // they have left
    program_ = start();
    if (program_) {
      const ProgramPtr program = program_;
      asio::co_spawn(loop_, read_output(program), asio::detached);
      asio::co_spawn(loop_, read_errors(program), asio::detached);
      asio::co_spawn(loop_, watch_start(program), asio::detached);
      co_await wait_for_end(program);
      conclude(program);
    }
    if (restarts_.given_up()) desk_.fail_waiting(last_failure_);
  }
  supervising_ = false;
}

asio::awaitable<void> ProcessCore::wait_for_end(ProgramPtr program) {
  if (program->exited.is_open()) {
    boost::system::error_code ignored;
    co_await program->exited.async_wait(asio::posix::stream_descriptor::wait_read,
                                        asio::redirect_error(asio::use_awaitable, ignored));
    co_return;
  }
  co_await timers_.wait_until(TimePoint::max(), program->silent);  // a program that has ended says nothing more
  while (!program->child.ended()) co_await timers_.wait_for(end_poll, Cancellation());
}

ProcessCore::ProgramPtr ProcessCore::start() {
  std::vector<std::string> environment;
  if (!options_.model.empty()) environment.push_back("LECTERN_MODEL=" + options_.model);
  auto child = ProcessChild::start(program_path_, options_.command, environment);
  if (child) return std::make_shared<Program>(loop_, std::move(*child));
  last_failure_ = {.reason = FailureReason::unreachable,
                   .message = fmt::format("{} cannot be started: {}", name_, child.error().for_log)};
  restarts_.cannot_start(now());
  return nullptr;
}

void ProcessCore::conclude(const ProgramPtr& program) {
  program->child.kill();  // what it has started
  // All that it wrote is in the pipes by now; the coroutines may not have come to it yet.
  std::array<char, read_bytes> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read
  const auto drain = [&](asio::posix::stream_descriptor& from,
                         void (ProcessCore::*hear)(const ProgramPtr&, std::string_view)) {
    for (ssize_t got = 0; (got = ::read(from.native_handle(), buffer.data(), buffer.size())) > 0;) {
      (this->*hear)(program, {buffer.data(), static_cast<std::size_t>(got)});
    }
  };
  drain(program->errors, &ProcessCore::hear_errors);
  if (!program->error_lines.rest().empty()) hear_errors(program, "\n");  // last words without an end of line
  drain(program->output, &ProcessCore::hear_output);
  const std::string how = program->child.reap();
  const bool was_ready = program->ready.requested();
  program->ready.request();  // whoever waits for it need not
  boost::system::error_code ignored;
  program->input.close(ignored);
  program->output.close(ignored);
  program->errors.close(ignored);
  program_.reset();

  Failure cause = program->cause.value_or(Failure{
      .reason = was_ready ? FailureReason::connection_lost : FailureReason::unreachable,
      .message = fmt::format("{} ended {} ({})", name_, was_ready ? "while it worked" : "before it was ready", how)});
  cause.message += program->tail_text();
  telemetry::log(telemetry::LogLevel::warning, "a provider's program ended", {{"why", cause.message}});
  desk_.program_ended(cause, now());
  last_failure_ = std::move(cause);
  if (program->cannot_start) {
    restarts_.cannot_start(now());
  } else {
    restarts_.ended(now());
  }
}

void ProcessCore::end(const ProgramPtr& program, Failure cause) {
  if (program->cause) return;
  program->cause = std::move(cause);
  program->child.kill();  // supervise() notices and goes on
  program->silent.request();
}

asio::awaitable<void> ProcessCore::watch_start(ProgramPtr program) {
  co_await timers_.wait_for(options_.start_timeout, program->ready);
  if (program->ready.requested()) co_return;
  end(program,
      {.reason = FailureReason::unreachable,
       .message = fmt::format("{} did not say within {} that it is ready", name_, in_seconds(options_.start_timeout))});
}

asio::awaitable<void> ProcessCore::read_output(ProgramPtr program) {
  std::vector<char> buffer(read_bytes);
  while (!program->cause) {
    boost::system::error_code error;
    const std::size_t got = co_await program->output.async_read_some(asio::buffer(buffer),
                                                                     asio::redirect_error(asio::use_awaitable, error));
    if (error) break;
    hear_output(program, {buffer.data(), got});
  }
  program->child.kill();  // one that has closed its output will never answer
  program->silent.request();
}

asio::awaitable<void> ProcessCore::read_errors(ProgramPtr program) {
  std::vector<char> buffer(read_bytes);
  for (;;) {
    boost::system::error_code error;
    const std::size_t got = co_await program->errors.async_read_some(asio::buffer(buffer),
                                                                     asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return;
    hear_errors(program, {buffer.data(), got});
  }
}

void ProcessCore::send(const ProgramPtr& program, HttpBody line) {
  program->outgoing.push_back(std::move(line));
  if (program->writing) return;
  program->writing = true;
  asio::co_spawn(loop_, write_lines(program), asio::detached);
}

asio::awaitable<void> ProcessCore::write_lines(ProgramPtr program) {
  std::vector<char> buffer(write_bytes);
  while (!program->outgoing.empty()) {
    const HttpBody line = std::move(program->outgoing.front());
    program->outgoing.pop_front();
    HttpBodyReader reader(line);
    while (const std::size_t size = reader.read(buffer)) {
      boost::system::error_code error;
      co_await asio::async_write(program->input, asio::buffer(buffer.data(), size),
                                 asio::redirect_error(asio::use_awaitable, error));
      if (error) co_return;  // it does not read any more: its end is noticed elsewhere
    }
  }
  program->writing = false;
}

void ProcessCore::hear_errors(const ProgramPtr& program, std::string_view bytes) {
  program->error_lines.add(bytes);
  const auto note = [&](std::string_view line) {
    if (line.empty()) return;
    std::string text = clean_text(line, 500);
    telemetry::log(telemetry::LogLevel::info, text, {{"program", name_}});
    program->tail.push_back(std::move(text));
    if (program->tail.size() > tail_lines_max) program->tail.pop_front();
  };
  while (const auto line = program->error_lines.next()) note(*line);
  if (program->error_lines.overlong()) {
    note(program->error_lines.rest());
    program->error_lines = LineSplitter(error_line_bytes_max);
  }
}

void ProcessCore::hear_output(const ProgramPtr& program, std::string_view bytes) {
  program->output_lines.add(bytes);
  while (!program->cause) {
    const auto line = program->output_lines.next();
    if (!line) break;
    if (!line->empty()) hear_line(program, *line);
  }
  if (!program->cause && program->output_lines.overlong()) {
    bad_line(program, program->output_lines.rest(), fmt::format("it is longer than {} bytes", line_bytes_max));
  }
  dispatch();
}

void ProcessCore::bad_line(const ProgramPtr& program, std::string_view line, std::string_view why) {
  program->cannot_start = !program->ready.requested();  // it is no provider at all
  end(program, {.reason = FailureReason::bad_reply,
                .message = fmt::format("{} wrote a line to its standard output that is no answer ({}): {}", name_, why,
                                       clean_text(line))});
}

void ProcessCore::hear_line(const ProgramPtr& program, std::string_view line) {
  const auto parsed = parse_program_line(line);
  if (!parsed) return bad_line(program, line, parsed.error());
  if (const auto* ready = std::get_if<ReadyLine>(&*parsed)) {
    desk_.program_ready(*ready, now());
    supports_batch_ = ready->batch;
    program->ready.request();
    return;
  }
  if (const auto* refusal = std::get_if<CannotStartLine>(&*parsed)) {
    program->cannot_start = true;
    return end(program, {.reason = FailureReason::unreachable,
                         .message = fmt::format("{} cannot start: {}", name_, clean_text(refusal->message, 1'000))});
  }
  bool answered = false;
  if (const auto* piece = std::get_if<PieceLine>(&*parsed)) answered = desk_.heard(*piece, now());
  if (const auto* answer = std::get_if<AnswerLine>(&*parsed)) answered = desk_.heard(*answer, now());
  if (const auto* error = std::get_if<ErrorLine>(&*parsed)) answered = desk_.heard(*error, now());
  if (answered) restarts_.answered();
}

}  // namespace lectern::provider
