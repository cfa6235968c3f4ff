#include "chaos/world.h"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "chaos/http_call.h"

namespace lectern::test {

World::World(const WorldOptions& options) : engine_({"--latency", "fixed:0.03s", "--slots", "16"}) {
  const std::string store = postgres_.url(postgres_.new_database(), options.proxied ? postgres_proxy_.port() : 0);
  const std::string blobs = s3_.url(s3_.new_prefix(), options.proxied ? s3_proxy_.port() : 0);
  std::map<std::string, std::string> environment;
  for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"})
    environment[name] = s3_.environment(name).value();
  const auto arguments = [&](std::vector<std::string> first, const std::string& name) {
    first.insert(first.begin(), LECTERN_BIN_DIR "/lectern");
    for (const std::string& more : {std::string("--store"), store, std::string("--blobs"), blobs, std::string("--data"),
                                    (folder_.path() / name).string()}) {
      first.push_back(more);
    }
    first.push_back("--engine");
    first.push_back(engine_.url());
    for (const std::string& setting : options.settings) {
      first.push_back("--set");
      first.push_back(setting);
    }
    return first;
  };
  const std::string listen = "127.0.0.1:" + std::to_string(port());
  api_ = std::make_unique<ProgramVictim>("api", arguments({"serve", "--listen", listen, "--workers", "none"}, "api"),
                                         environment, folder_.path() / "api.log");
  for (int i = 0; i < options.workers; ++i) {
    const std::string name = "worker-" + std::to_string(i + 1);
    workers_.push_back(std::make_unique<ProgramVictim>(name, arguments({"work"}, name), environment,
                                                       folder_.path() / (name + ".log")));
  }
}

void World::await_ready() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::string last = "nothing";
  while (std::chrono::steady_clock::now() < until) {
    const auto answer = call(port(), {.target = "/health/ready", .timeout = std::chrono::seconds(5)});
    if (answer && answer->status == 200) return;
    if (answer) last = answer->body;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  throw std::runtime_error("the API is not ready; it said " + last + "\n" + logs());
}

std::string World::logs() const {
  std::ostringstream all;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    if (entry.path().extension() != ".log") continue;
    std::ifstream file(entry.path());
    all << "--- " << entry.path().filename().string() << "\n" << file.rdbuf() << "\n";
  }
  return all.str();
}

}  // namespace lectern::test
