#include "base/async.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace lectern {
namespace {

// Which worker of which pool this thread is; -1 until it first runs work.
struct WorkerIdentity {
  const void* pool = nullptr;
  int index = -1;
};
thread_local WorkerIdentity worker_identity;

}  // namespace

int hardware_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

CpuPool::CpuPool(int threads)
    : threads_(threads > 0 ? threads : hardware_threads()), pool_(static_cast<std::size_t>(threads_)) {}

CpuPool::~CpuPool() {
  pool_.join();
}

int CpuPool::worker_index() const {
  if (worker_identity.pool != this) worker_identity = {this, indices_given_.fetch_add(1) % threads_};
  return worker_identity.index;
}

void CpuPool::post(std::function<void()> work) {
  boost::asio::post(pool_, std::move(work));
}

}  // namespace lectern
