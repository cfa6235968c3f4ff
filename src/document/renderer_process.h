// One lectern-render process: started with two descriptors (socket and window) and nothing else, ended with SIGKILL.
// Threads: kill() and exited() are safe from any thread at any time; the rest belongs to one owner at a time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "base/error.h"
#include "base/unique_fd.h"
#include "document/sandbox_report.h"

namespace lectern::document {

struct ProcessOptions {
  std::filesystem::path renderer;
  std::filesystem::path pdfium;
  RendererLimits limits;
};

// The size of the shared memory through which pixels come back.
std::uint64_t window_bytes(const RendererLimits& limits);

// How a process ended: as waitpid tells it, and what it had to say on its standard error.
struct ProcessEnd {
  int wait_status = 0;
  bool known = false;  // false when somebody else reaped it
  std::string log;     // clean text, at most a few kilobytes
};

class RendererProcess {
 public:
  // Must be called on a thread that lives as long as this program (see keeper() in renderer.cpp): the kernel kills the
  // child when the thread that started it ends.
  static Result<std::shared_ptr<RendererProcess>> start(const ProcessOptions& options);
  ~RendererProcess();  // kills and reaps
  RendererProcess(const RendererProcess&) = delete;
  RendererProcess& operator=(const RendererProcess&) = delete;

  pid_t pid() const { return pid_; }
  int window_fd() const { return window_.get(); }
  int pid_fd() const { return pid_fd_.get(); }  // readable once the process has ended; -1 where the kernel has none
  UniqueFd take_socket() { return std::move(socket_); }

  void kill();
  bool exited() const;             // has ended by itself or was killed
  ProcessEnd reap();               // kills if it still runs, waits, and tells how it ended; may be called again
  std::int64_t rss_bytes() const;  // resident memory; 0 when it cannot be told

 private:
  RendererProcess() = default;

  pid_t pid_ = -1;
  UniqueFd pid_fd_;
  UniqueFd socket_;
  UniqueFd window_;
  UniqueFd log_;

  mutable std::mutex mutex_;
  bool reaped_ = false;  // guarded by mutex_: once true, pid_ may belong to a stranger
  ProcessEnd end_;       // guarded by mutex_
};

}  // namespace lectern::document
