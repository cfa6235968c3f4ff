// From the bytes of a connection to a reply or a job.
#include <fmt/format.h>

#include <chrono>

#include "engine/sim/server.h"

namespace lectern::sim {
namespace {

constexpr std::size_t llama_body_bytes_max = 100U << 20U;
constexpr int llama_requests_max = 100;

TimePoint now() {
  return std::chrono::steady_clock::now();
}

bool is_chat(std::string_view path) {
  return path == "/v1/chat/completions" || path == "/chat/completions";
}

}  // namespace

// Handles the requests that have arrived on a connection, one at a time: the next begins when the last is answered.
void Server::pump(int fd) {
  Connection* client = connection(fd);
  if (client == nullptr || client->is_pumped) return;
  const std::uint64_t id = client->id();
  client->is_pumped = true;
  while (client->job == 0 && !client->is_awaiting && !client->close_after_flush && take_request(*client)) {
    client = connection(fd);
    if (client == nullptr || client->id() != id) return;
  }
  client->is_pumped = false;
  flush(*client);
}

// True when a request was taken from the input; the connection may be gone then.
bool Server::take_request(Connection& client) {
  const std::string_view input = client.input();
  if (input.empty() || input.size() < client.needed) return false;
  const auto head = parse_head(input);
  if (!head) {
    reply(client,
          http_reply(settings_.as, {.status = 400, .content_type = "text/plain", .close = true},
                     "Invalid HTTP request received."),
          true);
    return false;
  }
  if (!*head) return false;
  const RequestHead& request = **head;
  const bool is_large = settings_.as == Dialect::llama_server && request.content_length > llama_body_bytes_max;
  if (is_large) {
    reply(client, http_reply(settings_.as, {.status = 413, .close = true}, ""), true);
    stats_.refused(413);
    return false;
  }
  if (request.expects_continue && !client.told_continue) {
    client.told_continue = true;
    client.send("HTTP/1.1 100 Continue\r\n\r\n");
  }
  std::size_t size = request.size + request.content_length;
  std::optional<ChunkedBody> chunked;
  if (request.chunked) {
    auto parsed = parse_chunked(input.substr(request.size));
    if (!parsed) {
      reply(client, http_reply(settings_.as, {.status = 400, .close = true}, ""), true);
      return false;
    }
    if (!*parsed) return false;
    chunked = std::move(**parsed);
    size = request.size + chunked->size;
  }
  if (input.size() < size) {
    client.needed = size;
    return false;
  }
  client.needed = 0;
  client.told_continue = false;
  ++client.requests;
  // The bytes stay where they are until `take`: a reply never moves the input.
  const int fd = client.fd();
  const std::uint64_t id = client.id();
  dispatch(client, request,
           chunked ? std::string_view(chunked->bytes) : input.substr(request.size, request.content_length));
  if (Connection* still = connection(fd); still != nullptr && still->id() == id) still->take(size);
  return true;
}

bool Server::is_last(const Connection& client, const RequestHead& head) const {
  int requests_max = settings_.keep_alive_requests;
  if (requests_max < 0) requests_max = settings_.as == Dialect::llama_server ? llama_requests_max : 0;
  return !head.keep_alive || (requests_max > 0 && !client.is_control() && client.requests >= requests_max);
}

bool Server::is_authorised(const RequestHead& head) const {
  if (settings_.api_key.empty() || head.bearer == settings_.api_key) return true;
  if (settings_.as == Dialect::vllm) return !head.path.starts_with("/v1");
  return head.api_key == settings_.api_key || head.path == "/health" || head.path == "/v1/health";
}

void Server::reply(Connection& client, std::string_view bytes, bool close) {
  client.send(bytes);
  client.close_after_flush = close;
  client.idle_since = now();
}

void Server::refuse(Connection& client, ServerError error, bool close) {
  stats_.refused(error.status);
  reply(client, http_reply(settings_.as, {.status = error.status, .close = close}, error_body(settings_.as, error)),
        close);
}

void Server::dispatch(Connection& client, const RequestHead& head, std::string_view body) {
  const bool close = is_last(client, head);
  if (head.path.starts_with("/sim/")) return sim_page(client, head, body);
  if (!is_authorised(head)) return refuse(client, {.status = 401, .message = "Invalid API Key"}, close);
  const bool is_loading = settings_.loading && settings_.as == Dialect::llama_server;
  if (head.method == "POST" && is_chat(head.path) && !is_loading) return chat(client, head, body);
  if (head.method == "GET" || is_loading) {
    if (const auto page = status_page(settings_, view(), head.path, head.query))
      return reply(client,
                   http_reply(settings_.as,
                              {.status = page->status, .content_type = page->content_type, .close = close}, page->body),
                   close);
  }
  refuse(client, {.status = 404, .message = settings_.as == Dialect::vllm ? "Not Found" : "File Not Found"}, close);
}

// Those who wait for something to happen, and it has.
void Server::answer_awaits() {
  for (std::size_t i = 0; i < awaits_.size();) {
    const Await& each = awaits_[i];
    Connection* client = connection(each.fd);
    const bool is_there = client != nullptr && client->id() == each.connection;
    if (is_there && !stats_.hold(each.conditions, connections_open_)) {
      ++i;
      continue;
    }
    const int fd = each.fd;
    awaits_.erase(awaits_.begin() + static_cast<std::ptrdiff_t>(i));
    if (!is_there) continue;
    client->is_awaiting = false;
    reply(*client, http_reply(settings_.as, {}, stats_.json(now(), connections_open_)), false);
    pump(fd);
  }
}

void Server::sim_page(Connection& client, const RequestHead& head, std::string_view body) {
  const auto answer = [&](int status, std::string_view json) {
    reply(client, http_reply(settings_.as, {.status = status, .close = !head.keep_alive}, json), !head.keep_alive);
  };
  if (head.method == "GET" && head.path == "/sim/stats") return answer(200, stats_.json(now(), connections_open_));
  if (head.method == "GET" && head.path == "/sim/await") {
    auto conditions = Stats::parse_conditions(head.query);
    if (!conditions)
      return answer(400, error_body(Dialect::vllm, {.status = 400, .message = conditions.error().for_caller}));
    client.is_awaiting = true;
    awaits_.push_back({.fd = client.fd(), .connection = client.id(), .conditions = std::move(*conditions)});
    return;
  }
  if (head.method == "POST" && head.path == "/sim/reset") {
    stats_.reset(now());
    requests_ = 0;
    return answer(200, "{}\n");
  }
  if (head.method == "POST" && head.path == "/sim/control") {
    if (auto applied = apply_json(settings_, body); !applied)
      return answer(400, error_body(Dialect::vllm, {.status = 400, .message = applied.error().for_caller}));
    // In force before the answer, except for who would not hear it: being dead closes his connection.
    if (auto settled = client.is_control() ? settle() : Status(); !settled)
      return answer(500, error_body(Dialect::vllm, {.status = 500, .message = settled.error().for_caller}));
    return answer(200, "{}\n");
  }
  answer(404,
         error_body(Dialect::vllm,
                    {.status = 404,
                     .message = "there are GET /sim/stats, GET /sim/await, POST /sim/control and POST /sim/reset"}));
}

// What a server says to a request that it does not take; nullopt when it takes it.
std::optional<ServerError> Server::objection(const Result<ChatRequest>& request) const {
  const bool is_vllm = settings_.as == Dialect::vllm;
  if (!request) {
    if (request.error().kind != ErrorKind::corrupt)
      return ServerError{.status = 400, .message = "Failed to load image: " + request.error().for_caller};
    // vLLM's schema check speaks with HTTP's own words; llama-server's parser throws.
    return ServerError{
        .status = is_vllm ? 400 : 500, .message = request.error().for_caller, .type = is_vllm ? "Bad Request" : ""};
  }
  if (is_vllm && settings_.model != "*" && !request->model.empty() && request->model != settings_.model)
    return ServerError{
        .status = 404, .message = fmt::format("The model `{}` does not exist.", request->model), .param = "model"};
  if (is_vllm && request->has_stream_options && !request->stream)
    return ServerError{
        .status = 400, .message = "Stream options can only be defined when `stream=True`.", .param = "stream_options"};
  if (settings_.check_images && request->images > 0 && !request->image_recognised)
    return ServerError{.status = 400, .message = "Failed to load image: cannot identify image file"};
  const int tokens = prompt_tokens_of(*request);
  if (settings_.context_tokens == 0 || tokens < settings_.context_tokens) return std::nullopt;
  if (is_vllm)
    return ServerError{
        .status = 400,
        .message = fmt::format("This model's maximum context length is {} tokens. However, your request has {} input "
                               "tokens. Please reduce the length of the input messages.",
                               settings_.context_tokens, tokens),
        .param = "input_tokens"};
  return ServerError{
      .status = 400,
      .message = fmt::format("request ({} tokens) exceeds the available context size ({} tokens), try increasing it",
                             tokens, settings_.context_tokens),
      .type = "exceed_context_size_error",
      .more = fmt::format(R"(,"n_prompt_tokens":{},"n_ctx":{})", tokens, settings_.context_tokens)};
}

void Server::chat(Connection& client, const RequestHead& head, std::string_view body) {
  const TimePoint at = now();
  const bool close = is_last(client, head);
  stats_.arrived(at, body.size());
  const std::uint64_t number = ++requests_;
  auto request = scan_chat_request(body);
  if (auto error = objection(request)) return refuse(client, std::move(*error), close);
  const FaultRule* fault = choose_fault(
      settings_.faults,
      {.seed = settings_.seed, .request = number, .digest = &request->digest, .elapsed_s = stats_.elapsed_s(at)});
  if (fault != nullptr) stats_.faulted(fault->kind);
  if (settings_.die_after != 0 && number == settings_.die_after) {
    settings_.dead = true;  // carried out when this round of events is over
    return;
  }
  if (fault != nullptr && (fault->kind == FaultKind::too_many || fault->kind == FaultKind::unavailable))
    return reply(client, refusal_bytes(settings_, *fault, close), close);

  const JobId id = ++jobs_made_;
  Job& job = jobs_[id];
  job.fd = client.fd();
  job.number = number;
  job.request = std::move(*request);
  if (fault != nullptr) job.fault = *fault;
  job.close = close;
  if (!job.request.stream) job.load_header = load_header(settings_, view(), head.load_format);
  client.job = id;
  client.send(early_bytes({.settings = &settings_, .request = &job.request, .fault = fault, .close = close}));
  scheduler_.arrive(id, now());  // reading the body was no waiting
  start_jobs();
}

}  // namespace lectern::sim
