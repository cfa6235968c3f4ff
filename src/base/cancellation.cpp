#include "base/cancellation.h"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace lectern {

struct Cancellation::State {
  std::atomic<bool> requested{false};
  std::mutex mutex;
  std::map<int, std::function<void()>> callbacks;  // guarded by mutex
  int next_id = 0;                                 // guarded by mutex
};

Cancellation::Cancellation() : state_(std::make_shared<State>()) {}

bool Cancellation::requested() const {
  return state_->requested.load();
}

void Cancellation::request() {
  std::map<int, std::function<void()>> callbacks;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->requested.exchange(true)) return;
    callbacks.swap(state_->callbacks);
  }
  for (auto& [id, callback] : callbacks) callback();
}

std::shared_ptr<void> Cancellation::on_request(std::function<void()> callback) const {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->requested.load()) {
      const int id = state_->next_id++;
      state_->callbacks.emplace(id, std::move(callback));
      std::weak_ptr<State> weak = state_;
      return {state_.get(), [weak, id](void*) {
                if (auto state = weak.lock()) {
                  const std::lock_guard inner(state->mutex);
                  state->callbacks.erase(id);
                }
              }};
    }
  }
  callback();
  return {};
}

}  // namespace lectern
