// lectern-sim-engine: see docs/sim-engine.md.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include <csignal>
#include <cstdio>
#include <string_view>
#include <vector>

#include "engine/sim/server.h"

namespace {

using namespace lectern;
using namespace lectern::sim;

constexpr int usage_error = 2;

void print_help() {
  fmt::print(
      "Usage: lectern-sim-engine [--listen ADDRESS] [--control ADDRESS] [--NAME VALUE]…\n\n"
      "A model server without a model: answers chat completions as vLLM or llama-server would, and fails on "
      "command.\n\n");
  const auto line = [](std::string_view name, std::string_view value, std::string_view help) {
    fmt::print("  {:<36} {}\n", fmt::format("--{}{}{}", name, value.empty() ? "" : " ", value), help);
  };
  line("listen", "HOST:PORT|unix:PATH", "where to serve; port 0 = a free one, which is printed");
  line("control", "HOST:PORT|unix:PATH", "a second address for /sim/…, which answers even while the engine is dead");
  line("exit-with-parent", "", "end when the program that started this one ends");
  for (const SettingHelp& each : setting_help()) line(each.name, each.value, each.help);
  fmt::print(
      "\nWhile it runs: GET /sim/stats, GET /sim/await?answered=3, POST /sim/reset, POST /sim/control with a JSON "
      "object of the settings "
      "above.\n");
}

bool is_switch(std::string_view name) {
  for (const SettingHelp& each : setting_help())
    if (each.name == name) return each.value.empty();
  return false;
}

// An error, or what to serve.
Result<ServerOptions> parse_arguments(const std::vector<std::string_view>& arguments) {
  ServerOptions options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view name = arguments[i];
    if (!name.starts_with("--")) return fail(ErrorKind::invalid_input, "'{}' is not a flag; see --help", name);
    name.remove_prefix(2);
    if (name == "exit-with-parent") {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      continue;
    }
    std::string_view value;
    if (const std::size_t equals = name.find('='); equals != std::string_view::npos) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    } else if (!is_switch(name)) {
      if (++i == arguments.size()) return fail(ErrorKind::invalid_input, "--{} needs a value; see --help", name);
      value = arguments[i];
    }
    if (name == "listen" || name == "control") {
      (name == "listen" ? options.listen : options.control) = value;
    } else if (auto done = set(options.settings, name, value); !done) {
      return fail(ErrorKind::invalid_input, "{}; see --help", done.error().for_caller);
    }
  }
  return options;
}

int complain(const Error& error, int code) {
  fmt::print(stderr, "lectern-sim-engine: {}\n", error.for_caller);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  for (const std::string_view each : arguments)
    if (each == "--help" || each == "-h") return print_help(), 0;
  auto options = parse_arguments(arguments);
  if (!options) return complain(options.error(), usage_error);
  auto server = Server::open(std::move(*options));
  if (!server) return complain(server.error(), 1);

  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTERM);
  sigaddset(&stops, SIGINT);
  sigprocmask(SIG_BLOCK, &stops, nullptr);
  const UniqueFd stop(::signalfd(-1, &stops, SFD_CLOEXEC));
  if (auto ready = (*server)->listen(); !ready) return complain(ready.error(), 1);
  fmt::print("listening on {}\n", (*server)->url());
  if (const std::string control = (*server)->control_url(); !control.empty()) fmt::print("control on {}\n", control);
  std::fflush(stdout);
  if (auto ran = (*server)->run(stop.get()); !ran) return complain(ran.error(), 1);
  return 0;
}
