#include "chaos/victim.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

namespace lectern::test {

ProgramVictim::ProgramVictim(std::string name, std::vector<std::string> arguments,
                             std::map<std::string, std::string> environment, std::filesystem::path log)
    : name_(std::move(name)),
      arguments_(std::move(arguments)),
      environment_(std::move(environment)),
      log_(std::move(log)) {
  start();
}

ProgramVictim::~ProgramVictim() {
  if (pid_ > 0) kill();
}

void ProgramVictim::start() {
  // With its test it ends, also when the test is killed.
  std::vector<std::string> arguments{"/usr/bin/setpriv", "--pdeathsig", "KILL"};
  arguments.insert(arguments.end(), arguments_.begin(), arguments_.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::vector<std::string> variables{"PATH=/usr/bin:/bin", "HOME=/nonexistent"};
  for (const auto& [variable, value] : environment_) variables.push_back(variable + "=" + value);
  std::vector<char*> envp;
  for (std::string& variable : variables) envp.push_back(variable.data());
  envp.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  // A group of its own: killing it takes its renderers along, as a machine that fails would.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int error = ::posix_spawn(&pid_, argv[0], &actions, &attributes, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::runtime_error("cannot start " + arguments_[0]);
}

void ProgramVictim::kill() {
  ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void ProgramVictim::stop() {
  ::kill(-pid_, SIGSTOP);
}

void ProgramVictim::go_on() {
  ::kill(-pid_, SIGCONT);
}

void ProgramVictim::terminate() {
  ::kill(pid_, SIGTERM);
}

int ProgramVictim::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace lectern::test
