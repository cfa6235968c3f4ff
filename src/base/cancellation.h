// A request to stop, as a value: copies share one flag. Safe from any thread and from a signal handler's reader thread.
#pragma once

#include <functional>
#include <memory>

namespace lectern {

class Cancellation {
 public:
  Cancellation();

  bool requested() const;
  // Sets the flag and runs the callbacks registered so far, once, on the calling thread.
  void request();
  // Runs `callback` when request() is called; at once if it was already. Returns a token: dropping it unregisters.
  [[nodiscard]] std::shared_ptr<void> on_request(std::function<void()> callback) const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared by all copies of one request
};

}  // namespace lectern
