#include "real-engines/llama_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace lectern::provider {
namespace {

int free_port() {
  namespace asio = boost::asio;
  asio::io_context loop;
  const asio::ip::tcp::acceptor acceptor(loop, {asio::ip::address_v4::loopback(), 0});
  return acceptor.local_endpoint().port();
}

}  // namespace

LlamaServer::LlamaServer(std::vector<std::string> flags)
    : port_(free_port()), address_(fmt::format("http://127.0.0.1:{}", port_)), flags_(std::move(flags)) {
  start();
}

void LlamaServer::start() {
  const std::string engines = LECTERN_REAL_ENGINES;
  // Through a shell for its log: a file, since nobody reads a pipe.
  std::vector<std::string> command = {"sh",
                                      "-c",
                                      "log=$1; shift; exec \"$@\" >>\"$log\" 2>&1",
                                      "sh",
                                      folder_.path() / "log",
                                      engines + "/llama-server"};
  command.insert(command.end(), {"--model", engines + "/tiny.gguf", "--alias", "tiny", "--host", "127.0.0.1", "--port",
                                 std::to_string(port_), "--threads", "1"});
  command.insert(command.end(), flags_.begin(), flags_.end());
  auto started = ProcessChild::start("/bin/sh", command, {});
  if (!started) throw std::runtime_error(started.error().for_log);
  child_.emplace(std::move(*started));
}

void LlamaServer::kill() {
  child_.reset();
}

std::string LlamaServer::log() const {
  std::ifstream file(folder_.path() / "log");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace lectern::provider
