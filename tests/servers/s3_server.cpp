#include "servers/s3_server.h"

#include <boost/asio/io_context.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "job/blobs/s3_client.h"
#include "run_coroutine.h"

namespace lectern::test {
namespace {

constexpr std::chrono::seconds patience{90};  // for a server on a busy machine
constexpr std::chrono::milliseconds glance{50};
constexpr const char* access_key = "lectern-test";
constexpr const char* secret_key = "hush-7261-hush";

}  // namespace

S3Server::S3Server() {
  start();
}

S3Server::~S3Server() {
  if (pid_ > 0) kill();  // nobody needs what is in it
  // Sockets whose place it does not let one choose.
  for (const std::string_view part : {"s3", "filer", "master", "volume"}) {
    for (const OwnPort& port : ports_) {
      ::unlink(fmt::format("/tmp/seaweedfs-{}-grpc-{}.sock", part, port.number()).c_str());
    }
  }
}

std::string S3Server::url(const std::string& prefix, std::uint16_t port) const {
  return fmt::format("s3://{}/{}?endpoint=http://127.0.0.1:{}", bucket_, prefix, port == 0 ? this->port() : port);
}

std::string S3Server::new_prefix() {
  return fmt::format("test-{}", ++prefixes_);
}

std::optional<std::string> S3Server::environment(const std::string& name) const {
  if (name == "AWS_ACCESS_KEY_ID") return access_key;
  if (name == "AWS_SECRET_ACCESS_KEY") return secret_key;
  return std::nullopt;
}

void S3Server::spawn() {
  const std::string program = LECTERN_S3_SERVER;
  if (::access(program.c_str(), X_OK) != 0) {
    throw std::runtime_error(program + " is not there: ./dev test fetches it (packages/s3-server.txt)");
  }
  const auto rights = folder_.write(
      "s3.json", fmt::format(R"({{"identities": [{{"name": "lectern", "actions": ["Admin", "Read", "Write", "List"],
                                 "credentials": [{{"accessKey": "{}", "secretKey": "{}"}}]}}]}})",
                             access_key, secret_key));
  const std::string folder = folder_.path().string();
  std::filesystem::create_directories(folder_.path() / "data");
  std::vector<std::string> words = {
      program, "-logtostderr", "server", "-dir=" + folder + "/data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer",
      "-s3", "-s3.config=" + rights.string(),
      // Only what S3 needs, and no word to anybody outside.
      "-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false",
      // Alone: nobody to wait for in an election. Small volumes: made quickly.
      "-master.electionTimeout=200ms", "-master.heartbeatInterval=50ms", "-master.volumeSizeLimitMB=64",
      "-volume.max=50", "-s3.localSocket=" + folder + "/s3.sock", "-filer.localSocket=" + folder + "/filer.sock"};
  static constexpr std::array<const char*, 8> flags = {"s3.port",         "s3.port.grpc",    "filer.port",
                                                       "filer.port.grpc", "master.port",     "master.port.grpc",
                                                       "volume.port",     "volume.port.grpc"};
  for (std::size_t i = 0; i < flags.size(); ++i) words.push_back(fmt::format("-{}={}", flags[i], ports_[i].number()));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::string home = "HOME=" + folder;
  char* environment[] = {home.data(), nullptr};
  const UniqueFd out(::open((folder_.path() / "log").c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644));
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(out.get(), 1);
    ::dup2(out.get(), 2);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends with us
    if (::chdir(folder.c_str()) == 0) ::execve(argv[0], argv.data(), environment);
    ::_exit(127);
  }
  if (pid_ < 0) throw std::runtime_error("fork failed");
}

bool S3Server::takes_writes() {
  auto place = job::s3_place_from(url("ready"), [this](const std::string& name) { return environment(name); });
  if (!place) throw std::runtime_error(place.error().for_log);
  boost::asio::io_context loop;
  SystemTimers timers;
  job::S3Client client(std::move(*place), {.attempts_max = 1, .stall_timeout = std::chrono::seconds(2)},
                       {.http = std::make_shared<provider::HttpClient>(loop.get_executor()),
                        .executor = loop.get_executor(),
                        .timers = &timers});
  job::S3Request bucket{.method = "PUT"};
  const auto made = run_coroutine(loop, client.send(std::move(bucket)));
  if (!made && made.error().status != 409) return false;  // 409: it is there already
  job::S3Request blob{.method = "PUT", .key = "ready", .body = std::make_shared<const std::string>("yes")};
  return run_coroutine(loop, client.send(std::move(blob))).has_value();
}

void S3Server::start() {
  spawn();
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!takes_writes()) {
    int status = 0;
    const bool ended = ::waitpid(pid_, &status, WNOHANG) == pid_;
    if (ended) pid_ = -1;
    if (ended || std::chrono::steady_clock::now() > until)
      throw std::runtime_error("the S3 server does not start:\n" + log());
    std::this_thread::sleep_for(glance);
  }
}

void S3Server::kill() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void S3Server::pause() {
  ::kill(pid_, SIGSTOP);
  ::waitpid(pid_, nullptr, WUNTRACED);  // all its threads, not only those that happened to look
}

void S3Server::resume() {
  ::kill(pid_, SIGCONT);
}

std::string S3Server::log() const {
  std::ifstream in(folder_.path() / "log");
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  return all.size() > 8000 ? all.substr(all.size() - 8000) : all;
}

S3Server& shared_s3() {
  static S3Server server;
  return server;
}

}  // namespace lectern::test
