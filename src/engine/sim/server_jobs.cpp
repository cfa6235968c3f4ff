// Jobs: requests that have been taken, from the queue to the last byte.
#include <chrono>

#include "engine/sim/server.h"

namespace lectern::sim {
namespace {

TimePoint now() {
  return std::chrono::steady_clock::now();
}

}  // namespace

ServerView Server::view() const {
  return {.running = scheduler_.running(),
          .waiting = scheduler_.waiting(),
          .prompt_tokens = stats_.prompt_tokens(),
          .completion_tokens = stats_.completion_tokens(),
          .answers = stats_.answers(),
          .started = started_unix_};
}

void Server::note_occupancy(TimePoint at) {
  stats_.occupancy(at, scheduler_.running(), scheduler_.waiting());
}

// Fills free slots. A job that ends at once frees its slot while we are here; the loop then goes on with the next.
void Server::start_jobs() {
  if (is_starting_) return;
  is_starting_ = true;
  while (true) {
    const TimePoint at = now();
    const auto started = scheduler_.start_next(at);
    if (!started) break;
    stats_.started(at, started->waited_s);
    note_occupancy(at);
    Job& job = jobs_.at(started->job);
    const std::int64_t unix_time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    job.script = make_script({.settings = &settings_,
                              .request = &job.request,
                              .fault = job.fault ? &*job.fault : nullptr,
                              .number = job.number,
                              .created = unix_time,
                              .close = job.close,
                              .load_header = job.load_header});
    play(started->job);
  }
  is_starting_ = false;
  note_occupancy(now());
}

// Sends what is due; then waits for the next step, or ends.
void Server::play(JobId id) {
  Job& job = jobs_.at(id);
  const double worked_s = scheduler_.worked_s(id, now());
  Connection* client = connection(job.fd);
  const std::size_t first = job.steps_done;
  const auto& steps = job.script.steps;
  while (job.steps_done < steps.size() && steps[job.steps_done].at_work_s <= worked_s) ++job.steps_done;
  if (client != nullptr && job.steps_done > first) {
    const std::size_t from = first == 0 ? 0 : steps[first - 1].end;
    client->send(std::string_view(job.script.bytes).substr(from, steps[job.steps_done - 1].end - from));
  }
  if (job.steps_done < steps.size()) {
    scheduler_.set_due(id, steps[job.steps_done].at_work_s);
    if (client != nullptr && !client->is_pumped) flush(*client);
    return;
  }
  if (job.script.ending == Ending::silence) {
    if (client != nullptr && !client->is_pumped) flush(*client);
    return;
  }
  finish(id);
}

void Server::finish(JobId id) {
  const TimePoint at = now();
  const auto found = jobs_.find(id);
  const Job job = std::move(found->second);
  jobs_.erase(found);
  std::erase(abandoned_, id);
  scheduler_.leave(id, at);
  quiet_since_ = at;
  const bool is_whole = !job.fault || (job.fault->kind != FaultKind::cut && job.fault->kind != FaultKind::drop);
  if (is_whole) stats_.answered(at, job.script.prompt_tokens, job.script.completion_tokens);
  note_occupancy(at);
  if (Connection* client = connection(job.fd)) {
    client->job = 0;
    client->idle_since = at;
    client->close_after_flush = job.script.ending == Ending::close;
    if (!client->is_pumped) {
      flush(*client);
      pump(job.fd);
    }
  }
  start_jobs();
}

// The client has gone. vLLM notices at once; llama-server only when it streams, or has nothing else to do for a second.
void Server::abandon(JobId id) {
  stats_.cancelled();
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  const TimePoint at = now();
  if (settings_.as == Dialect::llama_server && !found->second.request.stream) {
    found->second.fd = -1;
    quiet_since_ = at;
    abandoned_.push_back(id);
    return;
  }
  jobs_.erase(found);
  scheduler_.leave(id, at);
  start_jobs();
}

}  // namespace lectern::sim
