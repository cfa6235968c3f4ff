// Landlock: a rule set that handles every right the kernel knows, and grants none.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "document/render/sandbox.h"

namespace lectern::document {
namespace {

// The kernel's own header may be older than the kernel (Debian 12's knows version 2): the layout and the bits as of
// version 6. Fields that a kernel does not know must be zero.
struct RulesetAttributes {
  std::uint64_t handled_access_fs = 0;
  std::uint64_t handled_access_net = 0;
  std::uint64_t scoped = 0;
};
constexpr std::uint32_t ask_version = 1;

constexpr std::uint64_t bits_up_to(int last) {
  return (std::uint64_t{1} << (last + 1)) - 1;
}

std::uint64_t file_rights(int abi) {
  if (abi >= 5) return bits_up_to(15);  // ioctl on devices
  if (abi >= 3) return bits_up_to(14);  // truncate
  if (abi >= 2) return bits_up_to(13);  // link and rename across folders
  return bits_up_to(12);
}

}  // namespace

void restrict_with_landlock(SandboxReport& report) {
  const long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0, ask_version);
  if (abi <= 0) {
    report.missing.push_back(
        "The kernel offers no Landlock; seccomp alone keeps the renderer from opening files. Boot with lsm=landlock,… "
        "or "
        "use Linux 5.13 or newer to add it.");
    return;
  }
  RulesetAttributes attributes;
  attributes.handled_access_fs = file_rights(static_cast<int>(abi));
  if (abi >= 4) attributes.handled_access_net = bits_up_to(1);  // bind and connect TCP
  if (abi >= 6) attributes.scoped = bits_up_to(1);              // abstract sockets and signals
  const long ruleset = syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const bool restricted = ruleset >= 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  const int error_number = errno;
  if (ruleset >= 0) close(static_cast<int>(ruleset));
  if (restricted) {
    report.landlock_abi = static_cast<int>(abi);
  } else {
    report.missing.push_back(fmt::format("Landlock refused its rules ({}).", std::strerror(error_number)));
  }
}

}  // namespace lectern::document
