// The loop: sockets, time, life and death. Requests are in server_requests.cpp, jobs in server_jobs.cpp.
#include "engine/sim/server.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

namespace lectern::sim {
namespace {

using namespace std::chrono_literals;

constexpr auto sweep_every = 100ms;  // how late an idle connection may be closed
constexpr auto notice_after = 1s;    // llama-server's clients that left without streaming

TimePoint now() {
  return std::chrono::steady_clock::now();
}

TimePoint::duration seconds(double s) {
  return std::chrono::duration_cast<TimePoint::duration>(std::chrono::duration<double>(s));
}

SchedulerRules rules_of(const Settings& settings) {
  return {.slots = settings.slots,
          .batching = settings.batching,
          .time_scale = settings.time_scale,
          .paused = settings.paused};
}

}  // namespace

Result<std::unique_ptr<Server>> Server::open(ServerOptions options) {
  auto listener = Listener::open(options.listen);
  if (!listener) return std::unexpected(listener.error());
  std::optional<Listener> control;
  if (!options.control.empty()) {
    auto opened = Listener::open(options.control);
    if (!opened) return std::unexpected(opened.error());
    control.emplace(std::move(*opened));
  }
  std::unique_ptr<Server> server(new Server(std::move(options), std::move(*listener), std::move(control)));
  if (!server->epoll_) return fail_errno("epoll_create1", errno);
  return server;
}

Server::Server(ServerOptions options, Listener listener, std::optional<Listener> control)
    : settings_(std::move(options.settings)),
      listener_(std::move(listener)),
      control_(std::move(control)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      started_unix_(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())) {
  stats_.reset(now());
  scheduler_.set_rules(rules_of(settings_), now());
}

Status Server::watch(int fd, std::uint32_t events, int operation) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  if (::epoll_ctl(epoll_.get(), operation, fd, &event) != 0) return fail_errno("epoll_ctl", errno);
  return {};
}

Status Server::listen() {
  if (control_) {
    if (auto started = control_->start(); !started) return started;
    if (auto watched = watch(control_->fd(), EPOLLIN, EPOLL_CTL_ADD); !watched) return watched;
  }
  return settle();
}

Status Server::run(int stop_fd) {
  if (auto watched = watch(stop_fd, EPOLLIN, EPOLL_CTL_ADD); !watched) return watched;
  std::array<epoll_event, 512> events;
  while (true) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_ms(now()));
    if (count < 0 && errno != EINTR) return fail_errno("epoll_wait", errno);
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == stop_fd) return {};
      if (fd == listener_.fd())
        accept_from(listener_);
      else if (control_ && fd == control_->fd())
        accept_from(*control_);
      else
        on_event(fd, events[static_cast<std::size_t>(i)].events);
    }
    tick();
    if (auto settled = settle(); !settled) return settled;
    answer_awaits();
  }
}

int Server::wait_ms(TimePoint at) const {
  std::optional<TimePoint> next = scheduler_.next_due();
  const auto consider = [&](TimePoint when) { next = next ? std::min(*next, when) : when; };
  if (connections_open_ != 0) consider(swept_at_ + sweep_every);
  if (back_at_) consider(*back_at_);
  if (!abandoned_.empty()) consider(quiet_since_ + notice_after);
  if (!next) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - at).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

void Server::tick() {
  while (const auto due = scheduler_.take_due(now())) play(*due);
  const TimePoint at = now();
  drop_abandoned(at);
  if (at - swept_at_ >= sweep_every) close_idle(at);
  if (back_at_ && at >= *back_at_) settings_.dead = false;
}

// The settings may have changed: listens or not, and schedules by them.
Status Server::settle() {
  const TimePoint at = now();
  if (rules_of(settings_) != scheduler_.rules()) {
    scheduler_.set_rules(rules_of(settings_), at);
    start_jobs();
  }
  const bool should_listen = !settings_.dead && !(settings_.loading && settings_.as == Dialect::vllm);
  if (settings_.dead && listener_.is_listening()) die();
  if (settings_.dead && settings_.back_after_s > 0 && !back_at_) back_at_ = at + seconds(settings_.back_after_s);
  if (!settings_.dead) back_at_.reset();
  if (should_listen == listener_.is_listening()) return {};
  if (!should_listen) {
    listener_.stop();
    return {};
  }
  if (auto started = listener_.start(); !started) return started;
  return watch(listener_.fd(), EPOLLIN, EPOLL_CTL_ADD);
}

void Server::die() {
  listener_.stop();
  stats_.died();
  for (std::size_t fd = 0; fd < connections_.size(); ++fd)
    if (connections_[fd] && !connections_[fd]->is_control()) close(static_cast<int>(fd));
  // Work that nobody waits for dies too.
  const TimePoint at = now();
  for (const auto& [id, job] : jobs_) scheduler_.leave(id, at);
  jobs_.clear();
  abandoned_.clear();
  note_occupancy(at);
}

void Server::accept_from(Listener& listener) {
  while (UniqueFd fd = listener.accept()) {
    const auto index = static_cast<std::size_t>(fd.get());
    if (connections_.size() <= index) connections_.resize(index + 1);
    if (!watch(fd.get(), EPOLLIN | EPOLLRDHUP, EPOLL_CTL_ADD)) return;
    const bool is_control = &listener != &listener_;
    if (!is_control) stats_.connected();
    ++connections_open_;
    connections_[index] = std::make_unique<Connection>(std::move(fd), ++connections_made_, is_control, now());
  }
}

Connection* Server::connection(int fd) const {
  const auto index = static_cast<std::size_t>(fd);
  return fd >= 0 && index < connections_.size() ? connections_[index].get() : nullptr;
}

void Server::on_event(int fd, std::uint32_t events) {
  Connection* client = connection(fd);
  if (client == nullptr) return;  // closed by an earlier event of the same round
  if ((events & EPOLLOUT) != 0) {
    flush(*client);
    if (connection(fd) == nullptr) return;
  }
  if ((events & ~static_cast<std::uint32_t>(EPOLLOUT)) == 0) return;
  if (!client->receive()) {
    close(fd);
    return;
  }
  pump(fd);
}

void Server::flush(Connection& client) {
  const int fd = client.fd();
  if (!client.flush() || (client.close_after_flush && !client.has_output())) {
    close(fd);
    return;
  }
  if (client.has_output() == client.waits_to_write) return;
  client.waits_to_write = client.has_output();
  const std::uint32_t events = EPOLLIN | EPOLLRDHUP | (client.waits_to_write ? EPOLLOUT : 0U);
  if (!watch(fd, events, EPOLL_CTL_MOD)) close(fd);
}

void Server::close(int fd) {
  const auto index = static_cast<std::size_t>(fd);
  const std::unique_ptr<Connection> gone = std::move(connections_[index]);
  if (!gone) return;
  --connections_open_;
  if (gone->job != 0) abandon(gone->job);
}

void Server::close_idle(TimePoint at) {
  swept_at_ = at;
  if (settings_.keep_alive_s <= 0) return;
  for (std::size_t fd = 0; fd < connections_.size(); ++fd) {
    const Connection* each = connections_[fd].get();
    if (each != nullptr && !each->is_control() && each->job == 0 && !each->is_awaiting && !each->has_output() &&
        each->input().empty() && at - each->idle_since >= seconds(settings_.keep_alive_s))
      close(static_cast<int>(fd));
  }
}

void Server::drop_abandoned(TimePoint at) {
  if (abandoned_.empty() || at - quiet_since_ < notice_after) return;
  for (const JobId id : abandoned_) {
    scheduler_.leave(id, at);
    jobs_.erase(id);
  }
  abandoned_.clear();
  note_occupancy(at);
  start_jobs();
}

}  // namespace lectern::sim
