// engine/sim/: a model server without a model. It speaks as vLLM or llama-server would and fails on command.
// May use: base/. Knows nothing of Lectern's own client: what it says follows the servers' wire behaviour.
// One thread and one epoll loop. Decisions are elsewhere and have no sockets: scheduler.h (who runs when), fault.h
// (what goes wrong), script.h (which bytes go out when), stats.h. This file receives, dispatches and sends.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "engine/sim/chat_request.h"
#include "engine/sim/connection.h"
#include "engine/sim/http_reply.h"
#include "engine/sim/http_request.h"
#include "engine/sim/listener.h"
#include "engine/sim/scheduler.h"
#include "engine/sim/script.h"
#include "engine/sim/settings.h"
#include "engine/sim/stats.h"
#include "engine/sim/status_pages.h"

namespace lectern::sim {

struct ServerOptions {
  Settings settings;
  std::string listen = "127.0.0.1:8000";
  std::string control;  // a second address that answers /sim/… even while the engine is dead; empty = none
};

class Server {
 public:
  static Result<std::unique_ptr<Server>> open(ServerOptions options);

  std::string url() const { return listener_.url(); }
  std::string control_url() const { return control_ ? control_->url() : std::string(); }
  // Listens where the settings say so. Call it before run.
  Status listen();
  // Serves until the descriptor becomes readable.
  Status run(int stop_fd);

 private:
  // A request that waits or runs.
  struct Job {
    int fd = -1;  // of its connection; -1 = the client has gone, and the server has not noticed yet
    std::uint64_t number = 0;
    ChatRequest request;
    std::optional<FaultRule> fault;
    bool close = false;
    std::string load_header;
    Script script;
    std::size_t steps_done = 0;
  };

  Server(ServerOptions options, Listener listener, std::optional<Listener> control);

  // The loop's parts.
  Status watch(int fd, std::uint32_t events, int operation);
  int wait_ms(TimePoint now) const;
  void accept_from(Listener& listener);
  void on_event(int fd, std::uint32_t events);
  void tick();
  Status settle();
  void die();

  // Connections.
  Connection* connection(int fd) const;
  void flush(Connection& connection);
  void close(int fd);
  void close_idle(TimePoint now);

  // Requests. All take the connection by descriptor: it may be gone after any of them.
  void pump(int fd);
  bool take_request(Connection& connection);
  void dispatch(Connection& connection, const RequestHead& head, std::string_view body);
  void answer_awaits();
  void sim_page(Connection& connection, const RequestHead& head, std::string_view body);
  void chat(Connection& connection, const RequestHead& head, std::string_view body);
  std::optional<ServerError> objection(const Result<ChatRequest>& request) const;
  void refuse(Connection& connection, ServerError error, bool close);
  void reply(Connection& connection, std::string_view bytes, bool close);
  bool is_last(const Connection& connection, const RequestHead& head) const;
  bool is_authorised(const RequestHead& head) const;

  // Jobs.
  void start_jobs();
  void play(JobId id);
  void finish(JobId id);
  void abandon(JobId id);
  void drop_abandoned(TimePoint now);
  void note_occupancy(TimePoint now);
  ServerView view() const;

  Settings settings_;
  Listener listener_;
  std::optional<Listener> control_;
  UniqueFd epoll_;
  std::int64_t started_unix_ = 0;
  Scheduler scheduler_;
  Stats stats_;
  std::uint64_t requests_ = 0;  // chat requests since the last reset: a request's number
  std::uint64_t jobs_made_ = 0;
  std::uint64_t connections_made_ = 0;
  std::unordered_map<JobId, Job> jobs_;
  std::vector<std::unique_ptr<Connection>> connections_;  // by descriptor
  std::size_t connections_open_ = 0;
  bool is_starting_ = false;
  struct Await {
    int fd = -1;
    std::uint64_t connection = 0;
    std::vector<Stats::Condition> conditions;
  };
  std::vector<Await> awaits_;
  std::optional<TimePoint> back_at_;  // when being dead ends
  TimePoint swept_at_{};              // when idle connections were last looked for
  std::vector<JobId> abandoned_;
  TimePoint quiet_since_{};  // the last result, or the last client that went away
};

}  // namespace lectern::sim
