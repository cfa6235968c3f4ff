#include "document/render/sandbox.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "document/render/sanitizer.h"

namespace lectern::document {
namespace {

// Room in the address space for what is mapped but not allocated: libraries and the document's own file.
constexpr std::uint64_t mapped_bytes_max = std::uint64_t{16} << 30;
// The part of the memory limit that is left for what RLIMIT_DATA does not count: libraries, the stack, and as much of
// the mapped document as is in use.
constexpr rlim_t uncounted_share = 8;
constexpr rlim_t stack_bytes_max = rlim_t{8} << 20;
constexpr rlim_t descriptors_max = 16;  // standard three, socket, window, document, and a few to spare

// Lowers a limit for good; never raises one that is lower already.
bool lower(decltype(RLIMIT_AS) which, rlim_t to) {
  rlimit now{};
  if (getrlimit(which, &now) != 0) return false;
  const rlim_t value = std::min(to, now.rlim_max);
  const rlimit wanted{value, value};
  return setrlimit(which, &wanted) == 0;
}

void drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  syscall(SYS_capset, &header, none.data());
}

}  // namespace

SandboxReport enter_sandbox(const SandboxOptions& options) {
  SandboxReport report;
  enter_namespaces(report);
  limit_resources(options, report);
  restrict_with_landlock(report);
  filter_system_calls(report);
  return report;
}

void enter_namespaces(SandboxReport& report) {
  constexpr int isolated = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  // With a user namespace this needs no privilege; where those are forbidden, root can still do without.
  if (unshare(CLONE_NEWUSER | isolated) == 0 || unshare(isolated) == 0) {
    report.network_namespace = true;
  } else {
    report.missing.push_back(fmt::format(
        "The renderer has no network namespace of its own ({}); the other layers keep it off the network. "
        "Allow unprivileged user namespaces to add it (sysctl user.max_user_namespaces; in a container, its "
        "seccomp profile).",
        std::strerror(errno)));
  }
  // A root folder that holds nothing but the names of our own descriptors. Only where we have the capability, and only
  // so that files cannot even be asked about (fstat shares its system call with stat): opening is forbidden elsewhere.
  if (chroot("/proc/self/fdinfo") == 0) {
    [[maybe_unused]] const int moved = chdir("/");
  }
  drop_capabilities();
}

void limit_resources(const SandboxOptions& options, SandboxReport& report) {
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // nobody but root attaches to it, and it leaves no core
  // After the namespaces: the kernel forgets this wish whenever credentials change.
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);

  bool all = lower(RLIMIT_CORE, 0) && lower(RLIMIT_NOFILE, descriptors_max) && lower(RLIMIT_NPROC, 0) &&
             lower(RLIMIT_FSIZE, options.window_bytes) && lower(RLIMIT_MEMLOCK, 0) && lower(RLIMIT_MSGQUEUE, 0) &&
             lower(RLIMIT_STACK, stack_bytes_max);
  if (under_sanitizer) {
    report.missing.push_back("The renderer's memory limit is not in force: this is a sanitizer build.");
    all = false;
  } else {
    const auto memory = static_cast<rlim_t>(options.memory_bytes);
    // RLIMIT_DATA counts every private writable page that could come into being; shared ones are refused by seccomp. So
    // a document larger than the limit can still be mapped, which RLIMIT_AS alone would forbid.
    all = lower(RLIMIT_DATA, memory - memory / uncounted_share) && lower(RLIMIT_AS, memory + mapped_bytes_max) && all;
    if (!all) {
      report.missing.push_back(fmt::format("Not all resource limits could be set ({}).", std::strerror(errno)));
    }
  }
  report.rlimits = all;
}

}  // namespace lectern::document
