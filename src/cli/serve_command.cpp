// lectern serve: the HTTP service, and by default a worker in the same process.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "base/async.h"
#include "base/run_all.h"
#include "cli/commands.h"
#include "cli/event_loop.h"
#include "cli/housekeeping.h"
#include "cli/job_process.h"
#include "cli/page_worker.h"
#include "cli/renderer_check.h"
#include "cli/web_setup.h"
#include "service/server.h"
#include "telemetry/log.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

constexpr int hash_threads = 2;  // uploads are hashed while they come in

// The pictures of a worker, as the service wants them.
class ServedImages final : public service::PageImages {
 public:
  explicit ServedImages(job::PageImages& images) : images_(images) {}
  asio::awaitable<Result<service::PageImage>> image(job::Job job, int page, Cancellation cancellation) override {
    auto bytes = co_await images_.image(std::move(job), page, std::move(cancellation));
    if (!bytes) co_return std::unexpected(bytes.error());
    co_return service::PageImage{.bytes = std::move(*bytes)};
  }

 private:
  job::PageImages& images_;
};

milliseconds seconds_of(const Config& config, std::string_view key) {
  return milliseconds(std::llround(config.number(key) * 1000));
}

service::ServiceOptions service_options(const Config& config) {
  service::ServiceOptions options;
  options.listen = config.text("serve.listen");
  options.unix_socket = config.text("serve.unix_socket");
  options.tls_certificate = config.text("serve.tls_certificate");
  options.tls_key = config.text("serve.tls_key");
  options.upload_bytes_max = config.integer("serve.upload_mib_max") << 20U;
  options.uploads_max = static_cast<int>(config.integer("serve.uploads_max"));
  options.submits_per_second = config.number("serve.rate");
  options.jobs_open_max = config.integer("serve.jobs_open_max");
  options.wait_max = seconds_of(config, "serve.wait_s");
  options.urls_allowed = config.boolean("serve.urls");
  return options;
}

// Everything that runs until the stop.
struct Serving {
  service::Server& server;
  PageWorker& worker;
  JobProcess& process;
  const Config& config;
  bool embedded = true;
  Status served;
  Cancellation over;
};

asio::awaitable<void> serve(Serving* one) {
  one->served = co_await one->server.run(one->process.stop());
  if (!one->served) one->process.stop().request();  // the worker has nothing to stay for
  one->over.request();
}

// Pictures of pages need the renderers also where no worker runs.
asio::awaitable<void> tidy(Serving* one) {
  constexpr std::chrono::seconds interval{5};
  while (!one->over.requested()) {
    co_await one->process.timers().wait_for(interval, one->over);
    one->worker.close_idle();
  }
}

asio::awaitable<Status> serve_all(Serving* one) {
  std::vector<asio::awaitable<void>> all;
  all.push_back(serve(one));
  all.push_back(one->embedded ? one->worker.run(one->process.stop(), one->process.stop_now()) : tidy(one));
  all.push_back(
      keep_house({one->config, one->process.store(), one->process.blobs(), one->process.timers()}, one->over));
  co_await run_all(std::move(all), [one] {
    one->process.stop().request();
    one->over.request();
  });
  co_return one->served;
}

}  // namespace

int serve_command(const CommandLine&, const Config& config) {
  const bool embedded = config.text("serve.workers") == "embedded";
  // A worker that can open nothing is not let near the jobs of others.
  if (embedded) {
    if (auto sound = check_renderer(config); !sound) return fail_early(sound.error());
  }
  JobProcess process(config);
  const service::ServiceOptions options = service_options(config);
  if (auto opened = process.open(std::max(work_grace(config), options.stop_grace)); !opened)
    return fail_early(opened.error());
  const auto deliverer = make_deliverer(config, process.http(), process.timers().clock());
  if (!deliverer) return fail_early(deliverer.error());
  const auto worker = PageWorker::create(worker_parts(process, config, deliverer->get()));
  if (!worker) return fail_early(worker.error());
  CpuPool cpu(hash_threads);
  const auto fetcher = make_fetcher(config, process.http(), process.blobs(), cpu);
  if (!fetcher) return fail_early(fetcher.error());
  ServedImages images((*worker)->images());
  service::Server server(options, {.store = process.store(),
                                   .blobs = process.blobs(),
                                   .cpu = cpu,
                                   .timers = process.timers(),
                                   .random = process.random(),
                                   .images = &images,
                                   .fetcher = fetcher->get(),
                                   .more_metrics = [&worker] { return (*worker)->metrics(); }});
  if (auto opened = run_on(process.loop(), server.open()); !opened) return fail_early(opened.error());
  fmt::print("lectern serve: listening on {}, {} and {}{}\n", server.address(), process.store().description(),
             process.blobs().description(), embedded ? "" : ", without a worker");
  std::fflush(stdout);
  Serving serving{.server = server, .worker = **worker, .process = process, .config = config, .embedded = embedded};
  const Status served = run_on(process.loop(), serve_all(&serving));
  process.ignore_signals();
  if (!served) return fail_early(served.error());
  return exit_all_read;
}

}  // namespace lectern::cli
