#include "job/postgres/postgres_notices.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace lectern::job {
namespace {

constexpr std::string_view work_channel = "lectern_work";
constexpr std::string_view job_channel = "lectern_job";
constexpr std::size_t jobs_most = 200;  // in one statement; beyond that everybody looks at everything
constexpr std::chrono::milliseconds retry_first{100};
constexpr std::chrono::milliseconds retry_most{2'000};

}  // namespace

PostgresNotices::PostgresNotices(PostgresAddress address, PostgresOptions options, const ListenerSlot& listeners)
    : address_(std::move(address)),
      options_(std::move(options)),
      listeners_(listeners),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { loop(); }) {}

PostgresNotices::~PostgresNotices() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
  ::eventfd_write(wake_.get(), 1);
}

void PostgresNotices::tell_others(const Hints& hints) {
  const std::lock_guard lock(mutex_);
  pending_.add(hints);
  if (pending_.jobs.size() > jobs_most) pending_.jobs = {""};
  ::eventfd_write(wake_.get(), 1);
}

Hints PostgresNotices::take_pending() {
  eventfd_t ignored = 0;
  ::eventfd_read(wake_.get(), &ignored);
  const std::lock_guard lock(mutex_);
  return std::exchange(pending_, {});
}

bool PostgresNotices::wait_closed(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return closed_; });
}

// What is pending when it is time to end is still sent.
bool PostgresNotices::over() {
  const std::lock_guard lock(mutex_);
  return closed_ && !pending_.any();
}

void PostgresNotices::loop() {
  auto retry = retry_first;
  while (!over()) {
    if (const Connection connection = connect()) {
      retry = retry_first;
      listeners_.tell_all();  // whatever happened in the meantime
      while (!over() && serve(*connection)) {
      }
    }
    if (wait_closed(retry)) return;
    retry = std::min(retry * 2, retry_most);
  }
}

PostgresNotices::Connection PostgresNotices::connect() {
  PostgresOptions options = options_;
  options.answer_timeout = std::max(options_.ping, std::chrono::milliseconds(1'000));
  auto opened = PostgresConnection::open(address_, options);
  if (!opened) return nullptr;
  // A hint that a crash of the server loses is not worth a sync of its disk.
  if (!(*opened)->execute("SET synchronous_commit = off; LISTEN lectern_work; LISTEN lectern_job")) return nullptr;
  return std::move(*opened);
}

// Until something was heard or sent, or it is time to try whether the other end is still there.
Status PostgresNotices::serve(PostgresConnection& connection) {
  pollfd descriptors[] = {{.fd = connection.socket(), .events = POLLIN}, {.fd = wake_.get(), .events = POLLIN}};
  const int ready = ::poll(descriptors, 2, static_cast<int>(options_.ping.count()));
  if (ready < 0) return {};  // a signal
  if (const Hints hints = take_pending(); hints.any()) {
    if (auto sent = send(connection, hints); !sent) {
      tell_others(hints);  // on the next connection
      return sent;
    }
  } else if (ready == 0) {
    if (auto answer = connection.execute("SELECT 1"); !answer) return std::unexpected(answer.error());
    listeners_.tell_all();  // in case somebody died before it could
  }
  hear(connection);
  if (connection.broken()) return fail(ErrorKind::unavailable, "the listening connection was lost");
  return {};
}

Status PostgresNotices::send(PostgresConnection& connection, const Hints& hints) {
  std::vector<std::string> channels;
  std::vector<std::string> texts;
  const auto add = [&](std::string_view channel, const std::string& text) {
    channels.emplace_back(channel);
    texts.push_back(text);
  };
  if (hints.work) add(work_channel, "");
  for (const std::string& job : hints.jobs) add(job_channel, job);
  auto sent = connection.ask(
      "SELECT count(pg_notify(n.channel, n.text)) FROM unnest($1::text[], $2::text[]) AS "
      "n(channel, text)",
      PostgresParameters(channels, texts));
  if (!sent) return std::unexpected(sent.error());
  return {};
}

void PostgresNotices::hear(PostgresConnection& connection) {
  Hints heard;
  for (const auto& notice : connection.take_notices()) {
    if (notice.sender == connection.server_process()) continue;  // our own: told already
    if (notice.channel == work_channel) heard.work = true;
    if (notice.channel == job_channel) heard.jobs.insert(notice.text);
  }
  listeners_.tell(heard);
}

}  // namespace lectern::job
