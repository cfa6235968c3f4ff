// Runs a program as a person would: arguments, standard streams, signals, exit code.
#pragma once

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace lectern::e2e {

struct ProgramOptions {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  // besides PATH and HOME
  std::string input;                               // standard input
  std::string folder;                              // to run in; empty = here
  bool output_closed = false;                      // as if the reader of standard output had gone away
  bool held_back = false;  // it gets no further ahead of who reads its standard error than a page of memory
};

// A started program. Its standard error is read line by line, so that a test can wait for an event and then act.
class Program {
 public:
  Program(const std::string& program, const ProgramOptions& options);
  ~Program();  // kills and reaps it, if that has not happened
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // The next line of standard error; nullopt when the program has closed it.
  std::optional<std::string> error_line();
  // The next line of standard output; likewise. output() has it all the same.
  std::optional<std::string> output_line();
  // Reads standard error until an event of --json of this name comes; nullopt if it never does.
  std::optional<nlohmann::json> wait_for(const std::string& event);
  void signal(int number) const;
  pid_t pid() const { return pid_; }

  // Waits for the end. The exit code, or minus the signal that killed it.
  int finish();
  const std::string& output() const { return output_text_; }
  const std::string& errors() const { return error_text_; }
  // The events of --json among the lines of standard error, so far.
  std::vector<nlohmann::json> events() const;

 private:
  std::optional<std::string> line_of(UniqueFd& from, std::string& text, std::size_t& lines_end);

  pid_t pid_ = -1;
  UniqueFd output_;
  UniqueFd errors_;
  std::string output_text_;
  std::string error_text_;
  std::size_t error_lines_end_ = 0;  // of those handed out
  std::size_t output_lines_end_ = 0;
};

// The lectern program that was built with these tests.
Program lectern(std::vector<std::string> arguments);

}  // namespace lectern::e2e
