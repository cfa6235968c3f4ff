#include "servers/postgres_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "base/unique_fd.h"

namespace lectern::test {
namespace {

constexpr std::chrono::seconds patience{60};  // for a server on a busy machine
constexpr std::chrono::milliseconds glance{5};

// The newest version that is installed.
std::filesystem::path programs() {
  std::filesystem::path found;
  std::error_code none;
  for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", none)) {
    if (std::filesystem::exists(version.path() / "bin/postgres")) found = std::max(found, version.path() / "bin");
  }
  if (found.empty()) throw std::runtime_error("PostgreSQL is not installed (package postgresql-15)");
  return found;
}

struct User {
  uid_t uid = ::getuid();
  gid_t gid = ::getgid();
};
User server_user() {
  if (::getuid() != 0) return {};
  const passwd* found = ::getpwnam("postgres");  // NOLINT: before any thread that would ask, too
  if (found == nullptr) throw std::runtime_error("there is no user postgres to run the server as");
  return {found->pw_uid, found->pw_gid};
}

// As the server's user, with what it says going to `log`. Ends with us.
pid_t spawn(const std::vector<std::string>& words, const std::filesystem::path& log) {
  std::vector<std::string> copies = words;
  std::vector<char*> argv;
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  char path[] = "PATH=/usr/bin:/bin";
  char language[] = "LC_ALL=C.UTF-8";
  char* environment[] = {path, language, nullptr};
  const UniqueFd out(::open(log.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644));
  const User user = server_user();
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(out.get(), 1);
    ::dup2(out.get(), 2);
    if (::getuid() != user.uid && (::setgid(user.gid) != 0 || ::setuid(user.uid) != 0)) ::_exit(126);
    ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
    ::execve(argv[0], argv.data(), environment);
    ::_exit(127);
  }
  if (child < 0) throw std::runtime_error("fork failed");
  return child;
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream out;
  out << in.rdbuf();  // does not throw when the process goes away meanwhile, as iterators would
  return out.str();
}

pid_t parent_of(pid_t process) {
  const std::string about = read_file(fmt::format("/proc/{}/stat", process));
  const auto name_end = about.rfind(')');
  if (name_end == std::string::npos) return -1;
  std::istringstream rest(about.substr(name_end + 1));
  std::string state;
  pid_t parent = -1;
  rest >> state >> parent;
  return parent;
}

}  // namespace

PostgresServer::PostgresServer(std::vector<std::string> settings) : settings_(std::move(settings)) {
  make_cluster();
  start();
}

PostgresServer::~PostgresServer() {
  if (pid_ > 0) kill();  // nobody needs what is in it
}

void PostgresServer::make_cluster() {
  const User user = server_user();
  const auto password_file = folder_.write("password", password_);
  for (const auto& path : {folder_.path(), password_file}) {
    if (::chown(path.c_str(), user.uid, user.gid) != 0) throw std::runtime_error("chown failed");
  }
  const auto log = folder_.path() / "log";
  pid_ = spawn({(programs() / "initdb").string(), "--pgdata", (folder_.path() / "data").string(), "--username=lectern",
                "--pwfile=" + password_file.string(), "--auth-host=scram-sha-256", "--auth-local=trust",
                "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"},
               log);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  if (status != 0) throw std::runtime_error("initdb failed:\n" + read_file(log));
}

void PostgresServer::start() {
  if (pid_ > 0) return;
  const auto state_file = folder_.path() / "data/postmaster.pid";
  std::filesystem::remove(state_file);
  std::vector<std::string> words = {(programs() / "postgres").string(), "-D", (folder_.path() / "data").string(), "-k",
                                    folder_.path().string()};
  const std::vector<std::string> ours = {fmt::format("port={}", port()), "listen_addresses=127.0.0.1", "fsync=on",
                                         "shared_buffers=64MB"};
  for (const auto* list : {&ours, &settings_}) {
    for (const std::string& one : *list) {
      words.emplace_back("-c");
      words.push_back(one);
    }
  }
  pid_ = spawn(words, folder_.path() / "log");
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!read_file(state_file).contains("ready")) {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_ || std::chrono::steady_clock::now() > until) {
      throw std::runtime_error("PostgreSQL did not start:\n" + log());
    }
    std::this_thread::sleep_for(glance);
  }
}

void PostgresServer::reap() {
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void PostgresServer::stop() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGINT);  // its "fast shutdown"
  reap();
}

void PostgresServer::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGSTOP);  // no more children from here on
  const auto all = processes();
  for (const pid_t one : all) ::kill(one, SIGKILL);
  reap();
  // A new server refuses to start while a process of the old one is left.
  for (std::size_t i = 1; i < all.size(); ++i) {
    while (::kill(all[i], 0) == 0 && !read_file(fmt::format("/proc/{}/stat", all[i])).contains(") Z ")) {
      std::this_thread::sleep_for(glance);
    }
  }
}

void PostgresServer::pause() {
  signal_all(SIGSTOP);
}

void PostgresServer::resume() {
  signal_all(SIGCONT);
}

void PostgresServer::signal_all(int number) const {
  if (pid_ <= 0) return;
  ::kill(pid_, number);
  for (const pid_t one : processes()) ::kill(one, number);
}

std::vector<pid_t> PostgresServer::processes() const {
  std::vector<pid_t> all = {pid_};
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (const auto process = static_cast<pid_t>(std::stol(name)); parent_of(process) == pid_) all.push_back(process);
  }
  return all;
}

std::string PostgresServer::log() const {
  return read_file(folder_.path() / "log");
}

std::string PostgresServer::url(const std::string& database, std::uint16_t port) const {
  return fmt::format("postgresql://lectern:{}@127.0.0.1:{}/{}", password_, port == 0 ? port_.number() : port, database);
}

std::string PostgresServer::socket_url(const std::string& database) const {
  return fmt::format("postgresql:///{}?host={}&port={}&user=lectern", database, folder_.path().string(), port());
}

std::string PostgresServer::new_database() {
  std::string name = fmt::format("test_{}", ++databases_);
  run("CREATE DATABASE " + name);
  return name;
}

std::string PostgresServer::run(const std::string& sql, const std::string& database) {
  const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(socket_url(database).c_str()), PQfinish);
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection.get(), sql.c_str()), PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    throw std::runtime_error("PostgreSQL: " + std::string(PQerrorMessage(connection.get())));
  }
  return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

PostgresServer& shared_postgres() {
  static PostgresServer server;
  return server;
}

}  // namespace lectern::test
