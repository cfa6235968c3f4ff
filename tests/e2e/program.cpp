#include "program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <stdexcept>

namespace lectern::e2e {
namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
    read = UniqueFd(ends[0]);
    write = UniqueFd(ends[1]);
  }
  UniqueFd read;
  UniqueFd write;
};

// Standard input as a file, so that nobody has to feed a pipe while reading two others.
UniqueFd input_file(const std::string& text) {
  std::string name = "/tmp/lectern-e2e-XXXXXX";
  UniqueFd file(::mkostemp(name.data(), O_CLOEXEC));
  ::unlink(name.c_str());
  if (!file || ::pwrite(file.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error("cannot prepare standard input");
  }
  return file;
}

// Appends what there is; false at the end.
bool take(UniqueFd& from, std::string& to) {
  char buffer[1 << 16];
  const ssize_t got = ::read(from.get(), buffer, sizeof buffer);
  if (got > 0) to.append(buffer, static_cast<std::size_t>(got));
  if (got == 0) from.reset();
  return got > 0;
}

}  // namespace

Program::Program(const std::string& program, const ProgramOptions& options) {
  Pipe out;
  Pipe err;
  if (options.output_closed) out.read.reset();
  if (options.held_back) ::fcntl(err.write.get(), F_SETPIPE_SZ, 4096);
  const UniqueFd in = input_file(options.input);
  std::vector<std::string> words = {program};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  std::vector<std::string> variables = {"PATH=/usr/bin:/bin", "HOME=/nonexistent"};
  for (const auto& [name, value] : options.environment) variables.push_back(name + "=" + value);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<char*> envp;
  for (std::string& variable : variables) envp.push_back(variable.data());
  envp.push_back(nullptr);

  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(in.get(), 0);
    ::dup2(out.write.get(), 1);
    ::dup2(err.write.get(), 2);
    if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) ::_exit(126);
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  if (pid_ < 0) throw std::runtime_error("fork failed");
  output_ = std::move(out.read);
  errors_ = std::move(err.read);
}

Program::~Program() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::optional<std::string> Program::line_of(UniqueFd& from, std::string& text, std::size_t& lines_end) {
  for (;;) {
    if (const auto end = text.find('\n', lines_end); end != std::string::npos) {
      std::string line = text.substr(lines_end, end - lines_end);
      lines_end = end + 1;
      return line;
    }
    if (!from) return std::nullopt;
    // The other one must not fill up meanwhile.
    pollfd ready[2] = {{errors_ ? errors_.get() : -1, POLLIN, 0}, {output_ ? output_.get() : -1, POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0) throw std::runtime_error("poll failed");
    if (ready[1].revents != 0) take(output_, output_text_);
    if (ready[0].revents != 0) take(errors_, error_text_);
  }
}

std::optional<std::string> Program::error_line() {
  return line_of(errors_, error_text_, error_lines_end_);
}

std::optional<std::string> Program::output_line() {
  return line_of(output_, output_text_, output_lines_end_);
}

std::optional<nlohmann::json> Program::wait_for(const std::string& event) {
  while (const auto line = error_line()) {
    auto json = nlohmann::json::parse(*line, nullptr, false);
    if (json.is_object() && json.value("event", "") == event) return json;
  }
  return std::nullopt;
}

void Program::signal(int number) const {
  ::kill(pid_, number);
}

int Program::finish() {
  while (error_line()) continue;
  while (output_ && take(output_, output_text_)) continue;
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::vector<nlohmann::json> Program::events() const {
  std::vector<nlohmann::json> events;
  std::istringstream lines(error_text_);
  for (std::string line; std::getline(lines, line);) {
    auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_object() && json.contains("event")) events.push_back(std::move(json));
  }
  return events;
}

Program lectern(std::vector<std::string> arguments) {
  return Program(LECTERN_BIN_DIR "/lectern", {.arguments = std::move(arguments)});
}

}  // namespace lectern::e2e
