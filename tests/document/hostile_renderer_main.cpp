// A renderer that has been taken over: it stands behind the same walls as lectern-render, and when asked for a page it
// tries what its document names. What came of it is its answer: "errno NAME", or "succeeded"; or it is killed trying.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "document/render/arguments.h"
#include "document/render/runtime/memory_guard.h"
#include "document/render/sandbox.h"
#include "document/render/serve.h"

namespace lectern::document {
namespace {

constexpr std::size_t page_bytes = 4096;
pid_t host_pid = 0;

// Each returns what the system call did: -1 with errno set, or something else.
long connect_tcp() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0) return -1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
}

long connect_with_own_socket() {
  sockaddr address{.sa_family = AF_UNSPEC, .sa_data = {}};
  return connect(renderer_socket_fd, &address, sizeof address);
}

long start_thread() {
  pthread_t thread{};
  const int error_number = pthread_create(&thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr);
  if (error_number == 0) return 0;
  errno = error_number;
  return -1;
}

long execute() {
  char name[] = "/bin/true";
  char* argv[] = {name, nullptr};
  char* environment[] = {nullptr};
  return execve(name, argv, environment);
}

long read_host_memory() {
  char byte = 0;
  iovec here{&byte, 1};
  iovec there{reinterpret_cast<void*>(&host_pid), 1};
  return process_vm_readv(host_pid, &here, 1, &there, 1, 0);
}

long map(int protection, int flags, std::size_t size) {
  void* mapped = mmap(nullptr, size, protection, flags | MAP_ANONYMOUS, -1, 0);
  return mapped == MAP_FAILED ? -1 : 0;
}

long make_executable() {
  void* mapped = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mprotect(mapped, page_bytes, PROT_READ | PROT_EXEC);
}

// Every page is written, so that it must really exist.
long allocate(std::size_t size) {
  auto* memory = static_cast<volatile char*>(malloc(size));
  if (memory == nullptr) {
    errno = ENOMEM;
    return -1;
  }
  for (std::size_t at = 0; at < size; at += page_bytes) memory[at] = 1;
  return 0;
}

// In pieces that a limit on single allocations would let pass.
long allocate_in_pieces() {
  for (int i = 0; i < 160; ++i) {
    if (allocate(std::size_t{64} << 20) < 0) return -1;
  }
  return 0;
}

const std::map<std::string, std::function<long()>>& attempts() {
  static const std::map<std::string, std::function<long()>> table = {
      {"nothing", [] { return 0L; }},
      {"open-passwd", [] { return static_cast<long>(open("/etc/passwd", O_RDONLY)); }},
      {"open-new", [] { return static_cast<long>(open("/tmp/lectern-escape", O_WRONLY | O_CREAT, 0600)); }},
      {"open-proc", [] { return static_cast<long>(open("/proc/self/mem", O_RDWR)); }},
      {"stat-passwd",
       [] {
         struct stat status{};
         return static_cast<long>(stat("/etc/passwd", &status));
       }},
      {"unlink", [] { return static_cast<long>(unlink("/tmp/lectern-nothing")); }},
      {"socket", [] { return static_cast<long>(socket(AF_INET, SOCK_STREAM, 0)); }},
      {"socket-unix", [] { return static_cast<long>(socket(AF_UNIX, SOCK_STREAM, 0)); }},
      {"connect", connect_with_own_socket},
      {"connect-tcp", connect_tcp},
      {"execve", execute},
      {"ptrace", [] { return ptrace(PTRACE_ATTACH, host_pid, nullptr, nullptr); }},
      {"fork", [] { return syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr); }},
      {"fork-call", [] { return syscall(SYS_fork); }},
      {"vfork", [] { return syscall(SYS_vfork); }},
      {"clone3", [] { return syscall(SYS_clone3, nullptr, 0); }},
      {"thread", start_thread},
      {"kill-host", [] { return static_cast<long>(kill(host_pid, SIGKILL)); }},
      {"signal-host", [] { return syscall(SYS_tgkill, host_pid, host_pid, SIGKILL); }},
      {"process-vm-readv", read_host_memory},
      {"mmap-exec", [] { return map(PROT_READ | PROT_EXEC, MAP_PRIVATE, page_bytes); }},
      {"mprotect-exec", make_executable},
      {"mmap-shared", [] { return map(PROT_READ | PROT_WRITE, MAP_SHARED, page_bytes); }},
      {"memfd", [] { return syscall(SYS_memfd_create, "x", 0); }},
      {"io-uring", [] { return syscall(SYS_io_uring_setup, 8, nullptr); }},
      {"unshare", [] { return static_cast<long>(unshare(CLONE_NEWUSER)); }},
      {"setns", [] { return static_cast<long>(setns(renderer_socket_fd, 0)); }},
      {"bpf", [] { return syscall(SYS_bpf, BPF_PROG_LOAD, nullptr, 0); }},
      {"userfaultfd", [] { return syscall(SYS_userfaultfd, 0); }},
      {"keyctl", [] { return syscall(SYS_keyctl, 0, 0, 0, 0, 0); }},
      {"mount", [] { return syscall(SYS_mount, nullptr, "/", "tmpfs", 0, nullptr); }},
      {"prctl", [] { return static_cast<long>(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)); }},
      {"raise-limit",
       [] {
         const rlimit wanted{RLIM_INFINITY, RLIM_INFINITY};
         return static_cast<long>(setrlimit(RLIMIT_DATA, &wanted));
       }},
      {"shrink-window", [] { return static_cast<long>(ftruncate(renderer_window_fd, 0)); }},
      {"write-past-window",
       [] {
         signal(SIGXFSZ, SIG_IGN);
         return static_cast<long>(pwrite(renderer_window_fd, "x", 1, off_t{1} << 40));
       }},
      {"allocate-10g", [] { return allocate(std::size_t{10} << 30); }},
      {"allocate-10g-in-pieces", allocate_in_pieces},
      {"crash-after-refusal",
       []() -> long {
         if (allocate(std::size_t{10} << 30) < 0) __builtin_trap();
         return 0;
       }},
  };
  return table;
}

class HostileBackend : public Backend {
 public:
  explicit HostileBackend(std::string attempt) : attempt_(std::move(attempt)) { info_.pages = 1; }
  const DocumentInfo& info() const override { return info_; }
  Result<PageContent> inspect(int) override {
    const auto found = attempts().find(attempt_);
    if (found == attempts().end()) return fail(ErrorKind::internal, "no such attempt");
    errno = 0;
    if (found->second() != -1) return fail(ErrorKind::conflict, "succeeded");
    return fail(ErrorKind::conflict, "errno {}", strerrorname_np(errno));
  }
  Result<Rendered> render(const RenderRequest&) override { return fail(ErrorKind::internal, "not asked for"); }

 private:
  std::string attempt_;
  DocumentInfo info_;
};

Result<std::unique_ptr<Backend>> open_hostile(const OpenOptions& options) {
  std::string attempt(100, '\0');
  const ssize_t got = pread(options.fd, attempt.data(), attempt.size(), 0);
  attempt.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return std::make_unique<HostileBackend>(attempt);
}

}  // namespace
}  // namespace lectern::document

int main(int argc, char** argv) {
  using namespace lectern::document;
  const auto arguments = parse_arguments({argv, static_cast<std::size_t>(argc)});
  if (!arguments) return 2;
  host_pid = getppid();
  ServeOptions options;
  options.window_bytes = arguments->window_bytes;
  options.open = open_hostile;
  options.before_call = reset_memory_guard;
  install_memory_guard();
  const SandboxOptions sandbox{arguments->memory_bytes, arguments->window_bytes};
  SandboxReport report;
  if (arguments->pdfium == "without-seccomp") {  // what the other layers hold back by themselves
    enter_namespaces(report);
    limit_resources(sandbox, report);
    restrict_with_landlock(report);
  } else {
    report = enter_sandbox(sandbox);
  }
  _exit(serve(options, report));
}
