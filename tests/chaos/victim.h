// Something that can be killed, stopped and started again while others depend on it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace lectern::test {

class Victim {
 public:
  virtual ~Victim() = default;
  virtual const std::string& name() const = 0;
  virtual void kill() = 0;     // SIGKILL; returns when it is gone
  virtual void stop() = 0;     // SIGSTOP
  virtual void go_on() = 0;    // SIGCONT
  virtual void restart() = 0;  // after kill(); returns when it was started, not when it answers
};

// A program of ours: its standard error goes to a file, which is there to be read when a test fails.
class ProgramVictim final : public Victim {
 public:
  ProgramVictim(std::string name, std::vector<std::string> arguments, std::map<std::string, std::string> environment,
                std::filesystem::path log);
  ~ProgramVictim() override;

  const std::string& name() const override { return name_; }
  void kill() override;
  void stop() override;
  void go_on() override;
  void restart() override { start(); }
  void terminate();  // SIGTERM
  int wait();        // its exit code, or minus the signal
  pid_t pid() const { return pid_; }

 private:
  void start();

  const std::string name_;
  const std::vector<std::string> arguments_;
  const std::map<std::string, std::string> environment_;
  const std::filesystem::path log_;
  pid_t pid_ = -1;
};

// A server that is started by a class of tests/servers.
class ServerVictim final : public Victim {
 public:
  struct Actions {
    std::function<void()> kill;
    std::function<void()> stop;
    std::function<void()> go_on;
    std::function<void()> restart;
  };
  ServerVictim(std::string name, Actions actions) : name_(std::move(name)), actions_(std::move(actions)) {}
  const std::string& name() const override { return name_; }
  void kill() override { actions_.kill(); }
  void stop() override { actions_.stop(); }
  void go_on() override { actions_.go_on(); }
  void restart() override { actions_.restart(); }

 private:
  const std::string name_;
  const Actions actions_;
};

}  // namespace lectern::test
