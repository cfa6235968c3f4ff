#include "document/renderer_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "document/render/process_contract.h"
#include "document/wire.h"

namespace lectern::document {
namespace {

constexpr std::size_t log_bytes_max = 8'192;
// Above the numbers that the child's descriptors get, so that no dup2 in the child closes the source of another.
constexpr int source_fd_min = 10;

Result<UniqueFd> above_child_numbers(UniqueFd fd) {
  UniqueFd moved(fcntl(fd.get(), F_DUPFD_CLOEXEC, source_fd_min));
  if (!moved) return fail_errno("duplicating a descriptor", errno);
  return moved;
}

// Memory shared with the child, of a size that the child can never change: reading a window that the other side has
// truncated would kill the reader with SIGBUS.
Result<UniqueFd> sealed_memory(const char* name, std::uint64_t bytes) {
  UniqueFd fd(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return fail_errno("memfd_create", errno);
  if (ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) return fail_errno("sizing the renderer's window", errno);
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return fail_errno("sealing the renderer's window", errno);
  }
  return above_child_numbers(std::move(fd));
}

// posix_spawn's two argument objects, freed together.
struct SpawnArguments {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnArguments() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnArguments() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnArguments(const SpawnArguments&) = delete;
  SpawnArguments& operator=(const SpawnArguments&) = delete;
};

void describe_child(SpawnArguments& spawn, int socket_fd, int window_fd, int log_fd) {
  posix_spawn_file_actions_addopen(&spawn.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&spawn.actions, log_fd, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&spawn.actions, log_fd, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&spawn.actions, socket_fd, renderer_socket_fd);
  posix_spawn_file_actions_adddup2(&spawn.actions, window_fd, renderer_window_fd);
  posix_spawn_file_actions_addclosefrom_np(&spawn.actions, renderer_window_fd + 1);

  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&spawn.attributes, &none);
  posix_spawnattr_setsigdefault(&spawn.attributes, &all);
  // A process group of its own: Ctrl-C on the terminal is for the host, which ends its renderers in its own time.
  posix_spawnattr_setpgroup(&spawn.attributes, 0);
  posix_spawnattr_setflags(&spawn.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

std::string read_log(int fd) {
  std::string raw(log_bytes_max, '\0');
  const ssize_t got = pread(fd, raw.data(), raw.size(), 0);
  raw.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  raw.resize(std::min(raw.size(), raw.find('\0')));  // the memory is zero where nothing was written
  while (!raw.empty() && raw.back() == '\n') raw.pop_back();
  return wire::clean_text(raw, log_bytes_max);
}

}  // namespace

std::uint64_t window_bytes(const RendererLimits& limits) {
  // RGB takes three bytes a pixel; the fourth leaves room for a stored JPEG that is larger than its pixels.
  return static_cast<std::uint64_t>(limits.pixels_max) * 4;
}

Result<std::shared_ptr<RendererProcess>> RendererProcess::start(const ProcessOptions& options) {
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) return fail_errno("socketpair", errno);
  UniqueFd ours(pair[0]);
  auto theirs = above_child_numbers(UniqueFd(pair[1]));
  if (!theirs) return std::unexpected(std::move(theirs.error()));
  auto window = sealed_memory("lectern-window", window_bytes(options.limits));
  if (!window) return std::unexpected(std::move(window.error()));
  auto log = sealed_memory("lectern-render-log", log_bytes_max);
  if (!log) return std::unexpected(std::move(log.error()));

  SpawnArguments spawn;
  describe_child(spawn, theirs->get(), window->get(), log->get());
  std::vector<std::string> arguments = {
      options.renderer.string(),
      "--memory-bytes",
      std::to_string(options.limits.memory_bytes),
      "--window-bytes",
      std::to_string(window_bytes(options.limits)),
      "--pdfium",
      options.pdfium.string(),
  };
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  char* no_environment[] = {nullptr};

  pid_t pid = -1;
  const int error_number =
      posix_spawn(&pid, options.renderer.c_str(), &spawn.actions, &spawn.attributes, argv.data(), no_environment);
  if (error_number != 0) return fail_errno(fmt::format("starting {}", options.renderer.string()), error_number);

  std::shared_ptr<RendererProcess> process(new RendererProcess);
  process->pid_ = pid;
  process->pid_fd_ = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  process->socket_ = std::move(ours);
  process->window_ = std::move(*window);
  process->log_ = std::move(*log);
  return process;
}

RendererProcess::~RendererProcess() {
  reap();
}

void RendererProcess::kill() {
  const std::lock_guard lock(mutex_);
  if (!reaped_) ::kill(pid_, SIGKILL);
}

bool RendererProcess::exited() const {
  const std::lock_guard lock(mutex_);
  if (reaped_) return true;
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid_;
}

ProcessEnd RendererProcess::reap() {
  const std::lock_guard lock(mutex_);
  if (reaped_) return end_;
  ::kill(pid_, SIGKILL);  // no effect on one that has ended already
  pid_t waited = -1;
  do {
    waited = waitpid(pid_, &end_.wait_status, 0);
  } while (waited < 0 && errno == EINTR);
  end_.known = waited == pid_;
  end_.log = read_log(log_.get());
  reaped_ = true;
  return end_;
}

std::int64_t RendererProcess::rss_bytes() const {
  const std::lock_guard lock(mutex_);
  if (reaped_) return 0;
  const std::string name = fmt::format("/proc/{}/statm", pid_);
  const UniqueFd fd(open(name.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 128> text{};
  if (!fd || read(fd.get(), text.data(), text.size() - 1) <= 0) return 0;
  long long size = 0;
  long long resident = 0;
  if (std::sscanf(text.data(), "%lld %lld", &size, &resident) != 2) return 0;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace lectern::document
