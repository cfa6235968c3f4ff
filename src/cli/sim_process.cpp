#include "cli/sim_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

extern char** environ;

namespace lectern::cli {
namespace {

constexpr std::string_view listening = "listening on ";

// Up to the end of a line, or of the output.
std::string first_line(int fd) {
  std::string line;
  char c = 0;
  for (;;) {
    const ssize_t got = ::read(fd, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || c == '\n') return line;
    line += c;
  }
}

}  // namespace

SimProcess::SimProcess(SimProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), output_(std::move(other.output_)), address_(std::move(other.address_)) {}

SimProcess::~SimProcess() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

Result<SimProcess> SimProcess::start(const std::vector<std::string>& arguments) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "lectern-sim-engine";
  if (!std::filesystem::exists(program, error)) {
    return fail(ErrorKind::unavailable, "{} is not there; build it, or measure a server of yours with --engine URL",
                program.string());
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("cannot make a pipe", errno);
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  std::vector<std::string> words = {program.string(), "--listen", "127.0.0.1:0", "--exit-with-parent"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDERR_FILENO);
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return fail_errno(fmt::format("cannot start {}", program.string()), failed);

  SimProcess process(pid, std::move(read_end));
  write_end.reset();  // only the child's end counts from here on: when it dies, so does the pipe
  const std::string line = first_line(process.output_.get());
  const auto at = line.find(listening);
  if (at == std::string::npos) return fail(ErrorKind::unavailable, "lectern-sim-engine: {}", line);
  process.address_ = line.substr(at + listening.size());
  return process;
}

}  // namespace lectern::cli
