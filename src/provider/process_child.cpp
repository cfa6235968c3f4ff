#include "provider/process_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace lectern::provider {
namespace {

// Above the numbers that the child's descriptors get, so that no dup2 in the child closes the source of another.
constexpr int source_fd_min = 10;
constexpr int status_fd = 3;
constexpr int pipe_bytes = 1 << 20;  // what the program can say before anybody listens; the kernel may refuse

struct Ends {
  UniqueFd ours;
  UniqueFd theirs;
};

Result<Ends> ends(std::array<int, 2> pair, bool ours_blocks) {
  Ends made{.ours = UniqueFd(pair[0]), .theirs = {}};
  const UniqueFd theirs(pair[1]);
  made.theirs = UniqueFd(fcntl(theirs.get(), F_DUPFD_CLOEXEC, source_fd_min));
  if (!made.theirs) return fail_errno("duplicating a descriptor", errno);
  if (!ours_blocks && fcntl(made.ours.get(), F_SETFL, O_NONBLOCK) != 0) return fail_errno("fcntl", errno);
  return made;
}

// What the program writes and we read.
Result<Ends> reading_pipe(bool ours_blocks) {
  std::array<int, 2> pair{};
  if (pipe2(pair.data(), O_CLOEXEC) != 0) return fail_errno("pipe", errno);
  (void)fcntl(pair[0], F_SETPIPE_SZ, pipe_bytes);  // a smaller one is slower, nothing else
  return ends(pair, ours_blocks);
}

Result<Ends> writing_socket() {
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) return fail_errno("socketpair", errno);
  return ends(pair, false);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> made;
  made.reserve(texts.size() + 1);
  for (std::string& text : texts) made.push_back(text.data());
  made.push_back(nullptr);
  return made;
}

struct ChildPlan {
  const char* program;
  char* const* arguments;
  char* const* environment;
  std::array<int, 4> descriptors;  // become 0, 1, 2 and status_fd
  pid_t parent;
};

// Between fork and exec: only what is safe when other threads held locks at the fork.
[[noreturn]] void become(const ChildPlan& plan) {
  const auto give_up = [] {
    const int error_number = errno;
    (void)!write(status_fd, &error_number, sizeof error_number);
    _exit(127);
  };
  for (int number = 0; number < static_cast<int>(plan.descriptors.size()); ++number) {
    if (dup2(plan.descriptors[static_cast<std::size_t>(number)], number) < 0) _exit(127);
  }
  (void)fcntl(status_fd, F_SETFD, FD_CLOEXEC);
  (void)close_range(status_fd + 1, ~0U, 0);
  (void)setpgid(0, 0);  // Ctrl-C on the terminal is for us, who end it in our own time
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != plan.parent) _exit(127);  // we died before the line above
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);  // the rest is reset by exec, unless it is ignored
  execve(plan.program, plan.arguments, plan.environment);
  give_up();
  std::unreachable();
}

}  // namespace

Result<std::string> find_program(const std::string& name) {
  const auto runs = [](const std::string& path) { return access(path.c_str(), X_OK) == 0; };
  if (name.contains('/')) {
    if (runs(name)) return name;
    return fail(ErrorKind::not_found, "there is no program {} that can be run ({}); check the command", name,
                std::strerror(errno));
  }
  const char* path = std::getenv("PATH");
  std::string_view folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const std::size_t colon = folders.find(':');
    const std::string candidate = fmt::format("{}/{}", folders.substr(0, colon), name);
    if (runs(candidate)) return candidate;
    if (colon == std::string_view::npos) break;
    folders.remove_prefix(colon + 1);
  }
  return fail(ErrorKind::not_found, "there is no program '{}' in the PATH; install it, or name it with its folder",
              name);
}

Result<ProcessChild> ProcessChild::start(const std::string& program, const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& environment) {
  auto input = writing_socket();
  if (!input) return std::unexpected(std::move(input.error()));
  auto output = reading_pipe(false);
  if (!output) return std::unexpected(std::move(output.error()));
  auto errors = reading_pipe(false);
  if (!errors) return std::unexpected(std::move(errors.error()));
  auto status = reading_pipe(true);
  if (!status) return std::unexpected(std::move(status.error()));

  std::vector<std::string> argument_texts = arguments;
  std::vector<std::string> environment_texts = environment;  // first: getenv() takes the first of a name
  for (char** entry = environ; *entry != nullptr; ++entry) environment_texts.emplace_back(*entry);
  const std::vector<char*> argv = pointers(argument_texts);
  const std::vector<char*> envp = pointers(environment_texts);
  const ChildPlan plan{
      .program = program.c_str(),
      .arguments = argv.data(),
      .environment = envp.data(),
      .descriptors = {input->theirs.get(), output->theirs.get(), errors->theirs.get(), status->theirs.get()},
      .parent = getpid()};
  const pid_t pid = fork();
  if (pid < 0) return fail_errno("fork", errno);
  if (pid == 0) become(plan);

  ProcessChild child;
  child.pid_ = pid;
  (void)setpgid(pid, pid);  // whoever of the two is first
  status->theirs.reset();
  int error_number = 0;
  if (read(status->ours.get(), &error_number, sizeof error_number) == sizeof error_number) {
    return fail_errno(fmt::format("starting {}", program), error_number);
  }
  child.exited = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  child.input = std::move(input->ours);
  child.output = std::move(output->ours);
  child.errors = std::move(errors->ours);
  return child;
}

ProcessChild::ProcessChild(ProcessChild&& other) noexcept
    : input(std::move(other.input)),
      output(std::move(other.output)),
      errors(std::move(other.errors)),
      exited(std::move(other.exited)),
      pid_(std::exchange(other.pid_, -1)) {}

ProcessChild::~ProcessChild() {
  reap();
}

void ProcessChild::kill() const {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

bool ProcessChild::ended() const {
  if (pid_ <= 0) return true;
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid_;
}

std::string ProcessChild::reap() {
  if (pid_ <= 0) return "it had ended";
  kill();
  int status = 0;
  pid_t waited = -1;
  do {
    waited = waitpid(pid_, &status, 0);
  } while (waited < 0 && errno == EINTR);
  pid_ = -1;
  if (waited < 0) return "it had ended";
  if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", WTERMSIG(status));
  }
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

}  // namespace lectern::provider
