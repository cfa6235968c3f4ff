// The system calls a renderer may make. Three answers:
//   allowed   work on descriptors that are open, memory that cannot be executed or shared, time, and ending
//   EPERM     everything else: what a library may try in good faith (open a font, start a thread) fails, and it goes on
//   killed    what only an attacker has a use for: the page fails with "forbidden system call", and the try is seen
#include <fmt/format.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "document/render/sandbox.h"
#include "document/render/sanitizer.h"

namespace lectern::document {
namespace {

constexpr int allowed[] = {
    // Descriptors that are open already: the socket, the window, the document, the log.
    SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev), SCMP_SYS(pread64), SCMP_SYS(pwrite64),
    SCMP_SYS(lseek), SCMP_SYS(recvmsg), SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(newfstatat),
    // Memory; mmap and mprotect are below, with conditions.
    SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(brk), SCMP_SYS(madvise), SCMP_SYS(sysinfo),
    // Time, randomness, and what the C library does by itself.
    SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(nanosleep),
    SCMP_SYS(clock_nanosleep), SCMP_SYS(getrandom), SCMP_SYS(futex), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity),
    SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getrusage), SCMP_SYS(restart_syscall),
    // Its own signals, and ending.
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack), SCMP_SYS(exit),
    SCMP_SYS(exit_group)};

constexpr int killed[] = {
    // Other programs and processes.
    SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev), SCMP_SYS(process_madvise), SCMP_SYS(kcmp), SCMP_SYS(kill), SCMP_SYS(tkill),
    SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(rt_tgsigqueueinfo), SCMP_SYS(pidfd_open), SCMP_SYS(pidfd_getfd),
    SCMP_SYS(pidfd_send_signal),
    // The network.
    SCMP_SYS(socket), SCMP_SYS(socketpair), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept),
    SCMP_SYS(accept4),
    // Ways around the walls, and favourite doors into the kernel.
    SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot),
    SCMP_SYS(open_by_handle_at), SCMP_SYS(name_to_handle_at), SCMP_SYS(bpf), SCMP_SYS(perf_event_open),
    SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register),
    SCMP_SYS(memfd_create), SCMP_SYS(memfd_secret), SCMP_SYS(add_key), SCMP_SYS(keyctl), SCMP_SYS(request_key),
    SCMP_SYS(shmget), SCMP_SYS(shmat), SCMP_SYS(msgget), SCMP_SYS(semget), SCMP_SYS(setuid), SCMP_SYS(setgid),
    SCMP_SYS(setresuid), SCMP_SYS(setresgid), SCMP_SYS(setgroups), SCMP_SYS(capset), SCMP_SYS(personality),
    SCMP_SYS(modify_ldt), SCMP_SYS(ioperm), SCMP_SYS(iopl), SCMP_SYS(init_module), SCMP_SYS(finit_module),
    SCMP_SYS(delete_module), SCMP_SYS(kexec_load), SCMP_SYS(reboot), SCMP_SYS(swapon), SCMP_SYS(pkey_mprotect)};

struct Releaser {
  void operator()(void* filter) const { seccomp_release(filter); }
};

// Adds rules until one is refused; the first refusal is remembered as a negative errno.
class Rules {
 public:
  explicit Rules(scmp_filter_ctx filter) : filter_(filter) {}
  template <class... Conditions>
  void add(std::uint32_t action, int call, Conditions... conditions) {
    if (error_ == 0) error_ = seccomp_rule_add(filter_, action, call, sizeof...(conditions), conditions...);
  }
  int error() const { return error_; }

 private:
  scmp_filter_ctx filter_;
  int error_ = 0;
};

// An argument of the call, by its number from 0: equal to a value, or its bits under a mask.
scmp_arg_cmp argument_is(unsigned number, scmp_datum_t value) {
  return {number, SCMP_CMP_EQ, value, 0};
}
scmp_arg_cmp argument_bits_are(unsigned number, scmp_datum_t mask, scmp_datum_t bits) {
  return {number, SCMP_CMP_MASKED_EQ, mask, bits};
}

int install() {
  const std::unique_ptr<void, Releaser> filter(seccomp_init(SCMP_ACT_ERRNO(EPERM)));
  if (!filter) return -ENOMEM;
  // Calls in another convention (32-bit, x32) would bypass a list that is written for this one.
  seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1);
  seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a search tree instead of a long list

  Rules rules(filter.get());
  for (const int call : allowed) rules.add(SCMP_ACT_ALLOW, call);
  if (under_sanitizer) {  // they try memory out by writing it into a pipe before they look at it
    rules.add(SCMP_ACT_ALLOW, SCMP_SYS(pipe));
    rules.add(SCMP_ACT_ALLOW, SCMP_SYS(pipe2));
  }
  for (const int call : killed) rules.add(SCMP_ACT_KILL_PROCESS, call);

  // Private memory only: shared memory would escape RLIMIT_DATA. (MAP_SHARED and MAP_SHARED_VALIDATE have this bit.)
  const auto not_executable = argument_bits_are(2, PROT_EXEC, 0);
  const auto executable = argument_bits_are(2, PROT_EXEC, PROT_EXEC);
  rules.add(SCMP_ACT_ALLOW, SCMP_SYS(mmap), not_executable, argument_bits_are(3, MAP_SHARED, 0));
  rules.add(SCMP_ACT_KILL_PROCESS, SCMP_SYS(mmap), executable);
  rules.add(SCMP_ACT_ALLOW, SCMP_SYS(mprotect), not_executable);
  rules.add(SCMP_ACT_KILL_PROCESS, SCMP_SYS(mprotect), executable);

  // abort() signals the process itself.
  rules.add(SCMP_ACT_ALLOW, SCMP_SYS(tgkill), argument_is(0, static_cast<scmp_datum_t>(getpid())));
  // The C library falls back to clone, which fails with EPERM as a whole.
  rules.add(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3));

  return rules.error() != 0 ? rules.error() : seccomp_load(filter.get());
}

}  // namespace

void filter_system_calls(SandboxReport& report) {
  const int error = install();
  if (error == 0) {
    report.seccomp = true;
  } else {
    report.missing.push_back(fmt::format(
        "The kernel refused the system call filter ({}); documents from strangers should not be read on this "
        "machine. Use a kernel with CONFIG_SECCOMP_FILTER.",
        std::strerror(-error)));
  }
}

}  // namespace lectern::document
