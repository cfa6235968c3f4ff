// An example of every shape in which servers say no.
#include "provider/openai_errors.h"

#include <gtest/gtest.h>

#include <chrono>

namespace lectern::provider {
namespace {

using enum FailureReason;
using namespace std::chrono_literals;

struct Case {
  std::string_view name;
  int status;
  std::string_view body;
  FailureReason reason;
  std::string_view said;  // must be in the message
};

const Case cases[] = {
    // vLLM
    {"vllm: too long", 400,
     R"({"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens","type":"BadRequestError","param":"input_tokens","code":400}})",
     too_long, "maximum context length is 8192"},
    {"vllm: longer than the model", 400,
     R"({"error":{"message":"The decoder prompt (length 9000) is longer than the maximum model length of 8192.","type":"BadRequestError","param":null,"code":400}})",
     too_long, "maximum model length"},
    {"vllm: max_tokens", 400,
     R"({"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 99999. This model's maximum context length is 8192 tokens","type":"BadRequestError","param":"max_tokens","code":400}})",
     too_long, "too large"},
    {"vllm: too many images", 400,
     R"({"error":{"message":"At most 1 image(s) may be provided in one prompt.","type":"BadRequestError","param":"image","code":400}})",
     bad_image, "At most 1 image"},
    {"vllm: broken image", 400,
     R"({"error":{"message":"Failed to load image: cannot identify image file","type":"BadRequestError","param":null,"code":400}})",
     bad_image, "cannot identify"},
    {"vllm: text model", 400,
     R"({"error":{"message":"Qwen2.5-7B is not a multimodal model","type":"BadRequestError","param":null,"code":400}})",
     bad_image, "not a multimodal"},
    {"vllm: schema validation", 400,
     R"({"error":{"message":"[{'type': 'missing', 'loc': ('body', 'messages')}]","type":"Bad Request","param":null,"code":400}})",
     bad_request, "messages"},
    {"vllm: no such model", 404,
     R"({"error":{"message":"The model `x` does not exist.","type":"NotFoundError","param":"model","code":404}})",
     unknown_model, "The model `x` does not exist."},
    {"vllm: key", 401, R"({"error":"Unauthorized"})", unauthorized, "Unauthorized"},
    {"vllm: media fetch", 422,
     R"({"error":{"message":"Failed to load image from URL","type":"UnprocessableEntityError","param":null,"code":422}})",
     bad_image, "from URL"},
    {"vllm: engine died", 500,
     R"({"error":{"message":"EngineCore encountered an issue.","type":"InternalServerError","param":null,"code":500}})",
     engine_failed, "EngineCore"},
    {"vllm: out of memory", 500,
     R"({"error":{"message":"CUDA out of memory. Tried to allocate 2.00 GiB.","type":"InternalServerError","param":null,"code":500}})",
     out_of_memory, "CUDA out of memory"},
    {"torch: out of memory", 500, R"({"error":{"message":"torch.OutOfMemoryError: HIP","code":500}})", out_of_memory,
     "OutOfMemoryError"},
    {"vllm: not there", 501,
     R"({"error":{"message":"data URLs must be base64","type":"NotImplementedError","param":null,"code":501}})",
     not_supported, "data URLs"},
    {"vllm: scaling", 503, R"({"error":"The model is currently scaling. Please try again later."})", overloaded,
     "scaling"},
    {"fastapi: detail", 422,
     R"({"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]})",
     bad_request, "Extra inputs are not permitted"},
    {"fastapi: not found", 404, R"({"detail":"Not Found"})", unknown_model, "Not Found"},
    // llama-server
    {"llama: too long", 400,
     R"({"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}})",
     too_long, "exceeds the available context size"},
    {"llama: loading", 503, R"({"error":{"code":503,"message":"Loading model","type":"unavailable_error"}})", loading,
     "Loading model"},
    {"llama: no projector", 400,
     R"({"error":{"code":400,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"invalid_request_error"}})",
     bad_image, "mmproj"},
    {"llama: not an image", 400,
     R"({"error":{"code":400,"message":"Failed to load image or audio file","type":"invalid_request_error"}})",
     bad_image, "Failed to load image"},
    {"llama: key", 401, R"({"error":{"code":401,"message":"Invalid API Key","type":"authentication_error"}})",
     unauthorized, "Invalid API Key"},
    {"llama: feature off", 501,
     R"({"error":{"code":501,"message":"This server does not support metrics","type":"not_supported_error"}})",
     not_supported, "metrics"},
    {"llama: not JSON", 500,
     R"({"error":{"code":500,"message":"[json.exception.parse_error.101] parse error at line 1","type":"server_error"}})",
     bad_request, "parse error"},
    {"llama: its own parser failed", 500,
     R"({"error":{"code":500,"message":"The model produced output that does not match the expected format","type":"server_error"}})",
     engine_failed, "does not match"},
    {"llama: body too large", 413, "", too_long, "too large"},
    {"llama router: no such model", 400,
     R"({"error":{"code":400,"message":"model 'x' not found","type":"invalid_request_error"}})", unknown_model,
     "model 'x' not found"},
    {"ggml: out of memory", 500, R"({"error":{"message":"failed to allocate compute buffers","code":500}})",
     out_of_memory, "failed to allocate"},
    // SGLang
    {"sglang: too long", 400,
     R"({"object":"error","message":"The input (9000 tokens) is longer than the model's context length (8192 tokens).","type":"BadRequest","param":null,"code":400})",
     too_long, "9000 tokens"},
    {"sglang: queue full", 503,
     R"({"object":"error","message":"The request queue is full.","type":"ServiceUnavailable","param":null,"code":503})",
     overloaded, "queue is full"},
    {"sglang: bad request", 400,
     R"({"object":"error","message":"Messages cannot be empty","type":"BadRequest","param":null,"code":400})",
     bad_request, "cannot be empty"},
    // Ollama
    {"ollama: no such model", 404, R"({"error":"model \"x\" not found, try pulling it first"})", unknown_model,
     "try pulling it first"},
    {"ollama: envelope", 404,
     R"({"error":{"message":"model 'x' not found","type":"not_found_error","param":null,"code":null}})", unknown_model,
     "'x' not found"},
    {"ollama: image format", 400,
     R"({"error":{"message":"invalid image input","type":"invalid_request_error","param":null,"code":null}})",
     bad_image, "invalid image input"},
    {"ollama: queue full", 503,
     R"({"error":{"message":"server busy, please try again.  maximum pending requests exceeded","type":"api_error","param":null,"code":null}})",
     overloaded, "maximum pending requests"},
    {"ollama: host memory", 500,
     R"~({"error":"model requires more system memory (9.0 GiB) than is available (4.0 GiB)"})~", out_of_memory,
     "9.0 GiB"},
    // Hosted
    {"openai: rate", 429,
     R"({"error":{"message":"Rate limit reached for gpt-4o","type":"requests","param":null,"code":"rate_limit_exceeded"}})",
     rate_limited, "Rate limit reached"},
    {"openai: money", 429,
     R"({"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}})",
     quota, "quota"},
    {"openai: spend limit", 429,
     R"({"error":{"message":"Stopped.","type":"requests","code":"project_spend_limit_exceeded"}})", quota, "Stopped"},
    {"openai: organisation's limit", 429,
     R"({"error":{"message":"Stopped.","type":"requests","code":"organization_usage_limit_exceeded"}})", quota,
     "Stopped"},
    {"openai: slow down", 429, R"({"error":{"message":"Slow down.","type":"requests","code":"slow_down"}})",
     rate_limited, "Slow down"},
    {"openai: overloaded", 503,
     R"({"error":{"message":"The server is overloaded","type":"server_error","code":"server_is_overloaded"}})",
     overloaded, "overloaded"},
    {"openai: too long", 400,
     R"({"error":{"message":"Too long.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}})",
     too_long, "Too long"},
    {"openai: image", 400,
     R"({"error":{"message":"You uploaded an unsupported image.","type":"invalid_request_error","code":"invalid_image_format"}})",
     bad_image, "unsupported image"},
    {"openai: parameter", 400,
     R"({"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}})",
     not_supported, "max_completion_tokens"},
    {"openai: key", 401,
     R"({"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}})",
     unauthorized, "Incorrect API key"},
    {"google: key in a 400, in a list", 400,
     R"([{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}])", unauthorized,
     "API key not valid"},
    {"gateway: money", 402, R"({"error":{"message":"Insufficient credits","code":402}})", quota, "credits"},
    {"gateway: flat message", 403, R"({"message":"Forbidden"})", unauthorized, "Forbidden"},
    // Proxies
    {"nginx: bad gateway", 502, "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>…</body></html>",
     unreachable, "502 Bad Gateway"},
    {"nginx: gateway timeout", 504, "<HTML><HEAD><TITLE>504 Gateway Time-out</TITLE></HEAD></HTML>", timed_out,
     "504 Gateway Time-out"},
    {"html without a title", 503, "<h1>Service   Unavailable</h1><p>soon</p>", overloaded, "Service Unavailable soon"},
    {"cloudflare", 524, "error code: 524", timed_out, "error code: 524"},
    {"request timeout", 408, "", timed_out, "says no more"},
    {"plain text", 500, "Internal Server Error", engine_failed, "Internal Server Error"},
    {"nothing", 500, "", engine_failed, "it says no more"},
    {"null error", 500, R"({"error":null,"message":"odd"})", engine_failed, "odd"},
    {"other JSON", 500, R"({"reason":"odd"})", engine_failed, R"({"reason":"odd"})"},
    {"method", 405, "", unknown_model, "405"},
    {"teapot", 418, "short and stout", bad_request, "short and stout"},
    {"busy", 529, R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})", overloaded,
     "Overloaded"},
};

TEST(OpenAiErrors, EveryShapeHasItsReason) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Failure failure = classify("http://gpu:8000", {.status = c.status, .body = c.body}, {});
    EXPECT_EQ(failure.reason, c.reason) << "found: " << to_string(failure.reason);
    EXPECT_NE(failure.message.find(c.said), std::string::npos) << failure.message;
    EXPECT_TRUE(failure.message.starts_with("http://gpu:8000 answered ")) << failure.message;
    EXPECT_EQ(failure.http_status, c.status);
    EXPECT_FALSE(failure.retry_after);
  }
}

TEST(OpenAiErrors, InStreamErrorsCarryTheirOwnStatus) {
  struct StreamCase {
    std::string_view event;
    FailureReason reason;
    int status;
  };
  const StreamCase events[] = {
      {R"({"error":{"message":"The request queue is full.","type":"ServiceUnavailable","code":503}})", overloaded, 503},
      {R"({"object":"error","message":"The request queue is full.","code":503})", overloaded, 503},
      {R"({"error":{"message":"CUDA out of memory","type":"InternalServerError","code":500}})", out_of_memory, 500},
      {R"({"error":{"code":500,"message":"slot failed","type":"server_error"}})", engine_failed, 500},
      {R"({"error":"an error was encountered while running the model"})", engine_failed, 500},
      {R"({"error":{"message":"boom","code":"internal"}})", engine_failed, 500},
      {R"({"error":{"message":"bad","code":400}})", bad_request, 400},
  };
  for (const StreamCase& c : events) {
    SCOPED_TRACE(c.event);
    const Failure failure = classify_in_stream("e", c.event);
    EXPECT_EQ(failure.reason, c.reason) << to_string(failure.reason);
    EXPECT_EQ(failure.http_status, c.status);
    EXPECT_TRUE(failure.reply_started);
  }
}

TEST(OpenAiErrors, RetryAfterInAllItsForms) {
  const WallTime now = std::chrono::sys_days(std::chrono::year(2026) / 11 / 15) + 12h;
  struct WaitCase {
    std::string_view seconds, milliseconds;
    std::optional<std::chrono::milliseconds> wait;
  };
  const WaitCase waits[] = {{"", "", std::nullopt},
                            {"7", "", 7000ms},
                            {"0", "", 0ms},
                            {"1.5", "", 1500ms},
                            {"-3", "", 0ms},
                            {"7", "250", 250ms},
                            {"", "12.7", 12ms},
                            {"Sun, 15 Nov 2026 12:00:30 GMT", "", 30'000ms},
                            {"Sun, 15 Nov 2026 11:00:00 GMT", "", 0ms},
                            {"soon", "", std::nullopt},
                            {"nan", "", std::nullopt},
                            {"99999999999", "", 86'400'000ms}};
  for (const WaitCase& c : waits) {
    SCOPED_TRACE(std::string(c.seconds) + " " + std::string(c.milliseconds));
    const Failure failure =
        classify("e", {.status = 429, .retry_after = c.seconds, .retry_after_ms = c.milliseconds}, now);
    EXPECT_EQ(failure.retry_after, c.wait);
  }
}

TEST(OpenAiErrors, MessagesStayReadable) {
  std::string body = R"({"error":{"message":")";
  for (int i = 0; i < 5000; ++i) body += "é";
  body += R"(\n\n\u0007 end"}})";
  const Failure failure = classify("e", {.status = 500, .body = body}, {});
  EXPECT_LT(failure.message.size(), 500U);
  EXPECT_TRUE(failure.message.ends_with("é…")) << "cut between characters: " << failure.message;
  const Failure lines = classify("e", {.status = 500, .body = "a\n\n\tb\x07 c"}, {});
  EXPECT_EQ(lines.message, "e answered 500: a b c");
}

TEST(OpenAiErrors, ARedirectionIsNamed) {
  const Failure failure = classify("http://gpu", {.status = 308, .location = "https://gpu/v1/chat/completions"}, {});
  EXPECT_EQ(failure.reason, bad_request);
  EXPECT_NE(failure.message.find("https://gpu/v1/chat/completions"), std::string::npos);
}

TEST(OpenAiErrors, FindsTheMemberThatIsComplainedOf) {
  EXPECT_EQ(read_error_body(R"({"error":{"message":"no","param":"logprobs"}})").param, "logprobs");
  EXPECT_EQ(read_error_body(R"({"detail":[{"loc":["body","stream_options"],"msg":"no"}]})").param, "stream_options");
}

}  // namespace
}  // namespace lectern::provider
