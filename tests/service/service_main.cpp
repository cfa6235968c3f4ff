// The service as a process, with a worker that makes results up: for tests and benches of the API that talk to it from
// outside. Prints one line of JSON when it listens: {"address": …, "key": …}. Stops at SIGTERM, or when standard input
// ends: whoever started it is gone then.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "job/blobs/folder.h"
#include "job/sqlite/sqlite_database.h"
#include "service/hand_worker.h"
#include "service/keys.h"
#include "service/server.h"

namespace {

namespace asio = boost::asio;
using namespace lectern;

struct Arguments {
  std::string folder;
  service::ServiceOptions options;
  bool keys = false;  // makes a key; else everybody on this machine is welcome
  bool work = true;
};

[[noreturn]] void die(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(2);
}

Arguments parse(int count, char** values) {
  Arguments arguments;
  arguments.options.listen = "127.0.0.1:0";
  arguments.options.access_log = false;
  arguments.options.urls_allowed = true;
  for (int i = 1; i < count; ++i) {
    const std::string_view name = values[i];
    const auto value = [&] { return ++i < count ? std::string(values[i]) : std::string(); };
    if (name == "--folder") {
      arguments.folder = value();
    } else if (name == "--listen") {
      arguments.options.listen = value();
    } else if (name == "--keys") {
      arguments.keys = true;
    } else if (name == "--no-work") {
      arguments.work = false;
    } else if (name == "--upload-bytes-max") {
      arguments.options.upload_bytes_max = std::stoll(value());
    } else if (name == "--uploads-max") {
      arguments.options.uploads_max = arguments.options.uploads_per_key_max = std::stoi(value());
    } else if (name == "--jobs-open-max") {
      arguments.options.jobs_open_max = std::stoll(value());
    } else {
      die(fmt::format("unknown argument {}", name));
    }
  }
  if (arguments.folder.empty()) die("--folder is missing");
  return arguments;
}

// A white square stands for every page but those that documents of two pages do not have.
class WhiteImages final : public service::PageImages {
 public:
  asio::awaitable<Result<service::PageImage>> image(job::Job, int page, Cancellation) override {
    if (page > 2) co_return fail(ErrorKind::not_found, "there is no page {}", page);
    co_return service::PageImage{.bytes = "white", .content_type = "image/png"};
  }
};

// Every URL holds the same document.
class SameDocument final : public service::UrlFetcher {
 public:
  explicit SameDocument(job::Blobs& blobs) : blobs_(blobs) {}
  asio::awaitable<Result<service::Fetched>> fetch(service::FetchRequest request) override {
    const std::string bytes = "a document from elsewhere";
    const auto put = co_await blobs_.put(request.key, bytes, job::PutMode::create_only);
    if (!put) co_return std::unexpected(put.error());
    co_return service::Fetched{
        .bytes = static_cast<std::int64_t>(bytes.size()), .sha256 = sha256_hex(bytes), .name = "elsewhere.pdf"};
  }

 private:
  job::Blobs& blobs_;
};

asio::awaitable<void> work(job::Store* store, job::Blobs* blobs, const Timers* timers, Cancellation stop) {
  while (!stop.requested()) {
    const std::uint64_t mark = store->work_mark();
    co_await service::work_by_hand(store, blobs, {});
    co_await store->wait_for_work(mark, timers->clock().now() + std::chrono::seconds(1), stop);
  }
}

asio::awaitable<void> watch_signals(Cancellation stop) {
  asio::signal_set signals(co_await asio::this_coro::executor, SIGTERM, SIGINT);
  co_await signals.async_wait(asio::use_awaitable);
  stop.request();
}

asio::awaitable<void> watch_parent(Cancellation stop) {
  asio::posix::stream_descriptor input(co_await asio::this_coro::executor, ::dup(STDIN_FILENO));
  std::array<char, 256> buffer{};
  boost::system::error_code error;
  while (!error) co_await input.async_read_some(asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, error));
  stop.request();
}

asio::awaitable<void> serve(Arguments arguments, job::Store* store, service::Server* server, Cancellation stop) {
  std::string key;
  if (arguments.keys) {
    const auto made = co_await service::create_key(store, {.name = "test", .scopes = "submit read admin"});
    if (!made) die(made.error().for_log);
    key = made->secret;
  }
  if (const Status opened = co_await server->open(); !opened) die(opened.error().for_log);
  fmt::print("{{\"address\":\"{}\",\"key\":\"{}\",\"pid\":{}}}\n", server->address(), key, ::getpid());
  std::fflush(stdout);
  co_await server->run(stop);
  stop.request();
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments = parse(count, values);
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  SystemTimers timers;
  SystemRandom random;
  CpuPool cpu(1);
  auto blobs = job::open_folder_blobs({.folder = arguments.folder + "/blobs"});
  auto database = job::open_sqlite({.file = arguments.folder + "/jobs.sqlite"});
  if (!blobs || !database) die("cannot open " + arguments.folder);
  WhiteImages images;
  SameDocument fetcher(**blobs);
  asio::io_context loop(1);
  job::Store store(std::move(*database), {}, timers);
  service::Server server(arguments.options, {.store = store,
                                             .blobs = **blobs,
                                             .cpu = cpu,
                                             .timers = timers,
                                             .random = random,
                                             .images = &images,
                                             .more_metrics = {}});
  const Cancellation stop;
  asio::co_spawn(loop, serve(arguments, &store, &server, stop), [&](const std::exception_ptr&) { loop.stop(); });
  if (arguments.work) asio::co_spawn(loop, work(&store, blobs->get(), &timers, stop), asio::detached);
  asio::co_spawn(loop, watch_signals(stop), asio::detached);
  asio::co_spawn(loop, watch_parent(stop), asio::detached);
  loop.run();
  return 0;
}
