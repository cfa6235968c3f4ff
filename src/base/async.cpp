#include "base/async.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace lectern {

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

void CpuPool::post(std::function<void()> work) {
  boost::asio::post(pool_, std::move(work));
}

}  // namespace lectern
