// The one owner of a program: starts it, moves lines in and out, ends it, starts it again. All of it happens on the
// thread that calls run(); the decisions are process_desk.h's and restart_policy.h's.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/timers.h"
#include "provider/process.h"
#include "provider/process_desk.h"
#include "provider/restart_policy.h"

namespace lectern::provider {

class ProcessCore {
 public:
  // `program` is where the command's program was found; `name` is how messages call it.
  ProcessCore(Timers& timers, ProcessOptions options, std::string program, std::string name);
  ~ProcessCore();

  // Until stop(). The program is dead when it returns.
  void run();

  // From any thread. What is asked together may be answered as one batch.
  void ask(std::vector<QuestionPtr> questions, Deadline deadline);
  // With `failure` the asker still waits, and receives it; without, it has gone.
  void leave(QuestionPtr question, std::optional<Failure> failure);
  // All that were asked fail as cancelled.
  void stop();
  bool supports_batch() const { return supports_batch_.load(); }
  const std::string& name() const { return name_; }
  const std::string& model() const { return options_.model; }

 private:
  struct Program;
  using ProgramPtr = std::shared_ptr<Program>;  // shared by the coroutines that read from it and write to it

  boost::asio::awaitable<void> supervise();
  ProgramPtr start();
  boost::asio::awaitable<void> wait_for_end(ProgramPtr program);
  void conclude(const ProgramPtr& program);
  void end(const ProgramPtr& program, Failure cause);
  boost::asio::awaitable<void> read_output(ProgramPtr program);
  boost::asio::awaitable<void> read_errors(ProgramPtr program);
  boost::asio::awaitable<void> write_lines(ProgramPtr program);
  boost::asio::awaitable<void> watch_start(ProgramPtr program);
  boost::asio::awaitable<void> watch_abandoned(ProgramPtr program, Cancellation closed);
  boost::asio::awaitable<void> watch_deadline(QuestionPtr question, Deadline deadline);
  boost::asio::awaitable<void> collect(TimePoint until);

  void hear_output(const ProgramPtr& program, std::string_view bytes);
  void hear_line(const ProgramPtr& program, std::string_view line);
  void hear_errors(const ProgramPtr& program, std::string_view bytes);
  void bad_line(const ProgramPtr& program, std::string_view line, std::string_view why);
  void send(const ProgramPtr& program, HttpBody line);
  void add(const std::vector<QuestionPtr>& questions, Deadline deadline);
  void dispatch();
  void depart(const QuestionPtr& question, std::optional<Failure> failure);
  TimePoint now() const { return timers_.clock().now(); }

  Timers& timers_;
  const ProcessOptions options_;
  const std::string program_path_;
  const std::string name_;
  std::atomic<bool> supports_batch_{false};

  // The running thread's alone.
  ProcessDesk desk_;
  RestartPolicy restarts_;
  ProgramPtr program_;    // null: none runs
  Failure last_failure_;  // why it last ended
  bool supervising_ = false;
  std::optional<TimePoint> collecting_until_;

  boost::asio::io_context loop_{1};  // last: what waits in it refers to all the above
};

}  // namespace lectern::provider
