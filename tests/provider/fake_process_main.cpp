// A program for the tests of the process provider: speaks its lines and misbehaves as it is told.
//   --batch N        can take N prompts at once;   --parallel N   works on N requests at a time
//   --memory N       is out of memory for more than N prompts at once
//   --reverse        answers a batch from its end
//   --deaf           does not listen to cancellations
//   --events FIFO    writes "begun" and "ended" there for each "hang" and "endless"
//   --start HOW      refuse | silent | die | babble, or "after FIFO": ready once that was opened for writing
//   --child          starts a program of its own
// Questions: those of provider_conformance.h, and
//   "size"           how many prompts came together;   "model" the environment's and the request's model
//   "pids"           its own process id and its child's
//   "crash"          dies;   "crash until FILE" dies unless FILE exists, and makes it
//   "babble"         writes something that is no line;   "heavy" out of memory even alone
//   "half"           one piece, then dies
#include <boost/beast/core/detail/base64.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

using Json = nlohmann::json;

struct Settings {
  int batch = 0;
  int parallel = 1;
  std::size_t memory = SIZE_MAX;
  bool reverse = false;
  bool deaf = false;
  bool child = false;
  std::string events;
  std::string start;
  std::string start_fifo;
};

struct Running {
  std::uint64_t id;
  std::size_t index;
  bool endless;
};

class Fake {
 public:
  explicit Fake(Settings settings) : settings_(std::move(settings)) {
    if (!settings_.events.empty()) events_ = open(settings_.events.c_str(), O_WRONLY | O_CLOEXEC);
    if (settings_.child) start_child();
  }

  void run() {
    start();
    std::string buffer;
    while (true) {
      const bool busy = std::ranges::any_of(running_, &Running::endless);
      pollfd in{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
      if (poll(&in, 1, busy ? 0 : -1) > 0) {
        char bytes[65'536];
        const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
        if (got <= 0) return;
        buffer.append(bytes, static_cast<std::size_t>(got));
        std::size_t start = 0;
        for (std::size_t end = 0; (end = buffer.find('\n', start)) != std::string::npos; start = end + 1) {
          hear(Json::parse(buffer.substr(start, end - start)));
        }
        buffer.erase(0, start);
      }
      for (const Running& running : running_) {
        if (running.endless) say({{"id", running.id}, {"index", running.index}, {"piece", "la "}});
      }
    }
  }

 private:
  static void say(const Json& line) {
    const std::string text = line.dump() + "\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
  void tell(const std::string& what) const {
    if (events_ >= 0) (void)!write(events_, (what + "\n").data(), what.size() + 1);
  }
  [[noreturn]] static void die(const char* words) {
    std::fprintf(stderr, "a warning\n%s", words);
    _exit(7);
  }
  void start_child() {
    child_ = fork();
    if (child_ == 0) {
      execlp("sleep", "sleep", "1000", nullptr);
      _exit(127);
    }
  }

  void start() const {
    if (settings_.start == "silent") return;
    if (settings_.start == "die") die("no such weights");
    if (settings_.start == "babble") std::puts("Loading weights: 100%");
    if (settings_.start == "refuse") return say({{"ready", false}, {"message", "there is no torch; install it"}});
    if (settings_.start == "after") (void)!open(settings_.start_fifo.c_str(), O_RDONLY | O_CLOEXEC);
    Json ready = {{"ready", true}, {"model", "fake"}, {"batch", settings_.batch > 0}, {"parallel", settings_.parallel}};
    if (settings_.batch > 0) ready["batch_max"] = settings_.batch;
    say(ready);
  }

  void hear(const Json& line) {
    if (line.contains("cancel")) return cancel(line);
    const auto& prompts = line["prompts"];
    if (prompts.size() > settings_.memory) {
      return say({{"id", line["id"]}, {"error", {{"reason", "out_of_memory"}, {"message", "no memory left"}}}});
    }
    std::vector<std::size_t> order(prompts.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = settings_.reverse ? order.size() - 1 - i : i;
    for (const std::size_t index : order) answer(line["id"], index, prompts[index], prompts.size());
  }

  void cancel(const Json& line) {
    if (settings_.deaf) return;
    std::erase_if(running_, [&](const Running& running) {
      if (running.id != line["cancel"] || (line.contains("index") && line["index"] != running.index)) return false;
      tell("ended");
      say({{"id", running.id},
           {"index", running.index},
           {"error", {{"reason", "cancelled"}, {"message", "as asked"}}}});
      return true;
    });
  }

  void answer(std::uint64_t id, std::size_t index, const Json& prompt, std::size_t size) {
    const auto user = prompt["user"].get<std::string>();
    const auto text = [&](const std::string& words) {
      say({{"id", id},
           {"index", index},
           {"text", words},
           {"finish", "stop"},
           {"usage", {{"prompt_tokens", 7}, {"completion_tokens", words.size()}}},
           {"mean_logprob", -0.25}});
    };
    const auto error = [&](const char* reason, const char* message) {
      say({{"id", id}, {"index", index}, {"error", {{"reason", reason}, {"message", message}}}});
    };
    if (user.starts_with("say ")) return say_in_pieces(id, index, prompt, user.substr(4));
    if (user == "measure") return text(measure(prompt["images"]));
    if (user == "fail") return error("bad_request", "I will not");
    if (user == "hang" || user == "endless") {
      running_.push_back({id, index, user == "endless"});
      return tell("begun");
    }
    if (user == "size") return text(std::to_string(size));
    if (user == "model") return text(model(prompt));
    if (user == "pids") return text(std::to_string(getpid()) + " " + std::to_string(child_));
    if (user == "babble") return (void)(std::puts("Loading weights: 100%"), std::fflush(stdout));
    if (user == "heavy") return error("out_of_memory", "no memory left");
    if (user == "half") {
      say({{"id", id}, {"index", index}, {"piece", "half"}});
      die("fatal: half a page");
    }
    if (user == "crash") die("fatal: bad page");
    if (user.starts_with("crash until ")) {
      const std::string file = user.substr(12);
      if (access(file.c_str(), F_OK) == 0) return text("survived");
      close(open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
      die("fatal: not yet");
    }
    error("failed", "I do not understand");
  }

  static void say_in_pieces(std::uint64_t id, std::size_t index, const Json& prompt, const std::string& words) {
    if (!prompt["stream"].get<bool>()) {
      return say({{"id", id},
                  {"index", index},
                  {"text", words},
                  {"finish", "stop"},
                  {"mean_logprob", -0.25},
                  {"usage", {{"prompt_tokens", 7}, {"completion_tokens", 3}, {"cached_tokens", 1}}}});
    }
    for (std::size_t at = 0; at < words.size();) {
      const std::size_t space = words.find(' ', at + 1);
      say({{"id", id}, {"index", index}, {"piece", words.substr(at, space - at)}});
      at = space == std::string::npos ? words.size() : space;
    }
    say({{"id", id}, {"index", index}, {"finish", "stop"}});
  }

  static std::string model(const Json& prompt) {
    const char* from_environment = std::getenv("LECTERN_MODEL");
    return std::string(from_environment != nullptr ? from_environment : "none") + " " + prompt.value("model", "none");
  }

  // As measure_images() of provider_conformance.h.
  static std::string measure(const Json& images) {
    namespace base64 = boost::beast::detail::base64;
    std::string text;
    for (const Json& image : images) {
      const auto encoded = image["base64"].get<std::string>();
      std::vector<std::uint8_t> bytes(base64::decoded_size(encoded.size()));
      bytes.resize(base64::decode(bytes.data(), encoded.data(), encoded.size()).first);
      std::uint64_t hash = 1469598103934665603U;
      for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 1099511628211U;
      text += fmt::format("{}{} {:016x}", text.empty() ? "" : ", ", bytes.size(), hash);
    }
    return text;
  }

  Settings settings_;
  int events_ = -1;
  pid_t child_ = 0;
  std::vector<Running> running_;
};

Settings settings_from(const std::vector<std::string>& arguments) {
  Settings settings;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& flag = arguments[i];
    if (flag == "--reverse") settings.reverse = true;
    if (flag == "--deaf") settings.deaf = true;
    if (flag == "--child") settings.child = true;
    if (flag == "--batch") settings.batch = std::stoi(arguments.at(++i));
    if (flag == "--parallel") settings.parallel = std::stoi(arguments.at(++i));
    if (flag == "--memory") settings.memory = std::stoul(arguments.at(++i));
    if (flag == "--events") settings.events = arguments.at(++i);
    if (flag == "--start") settings.start = arguments.at(++i);
    if (settings.start == "after" && flag == "--start") settings.start_fifo = arguments.at(++i);
  }
  return settings;
}

}  // namespace

int main(int count, char** values) {
  Fake(settings_from({values, values + count})).run();
}
