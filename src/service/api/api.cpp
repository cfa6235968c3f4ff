#include "service/api/api.h"

#include "service/api/events.h"
#include "service/api/figures.h"
#include "service/api/health.h"
#include "service/api/jobs.h"
#include "service/api/openapi.h"
#include "service/api/read_now.h"
#include "service/api/result.h"
#include "service/api/submit.h"

namespace lectern::service {
namespace {

namespace asio = boost::asio;

constexpr std::int64_t form_overhead = 1 << 20;  // what a form may have beside its document

asio::awaitable<http::Response> get_openapi(http::ExchangePtr) {
  co_return http::text_response(200, "application/json", std::string(openapi_json()));
}

// Until there is a page for people.
asio::awaitable<http::Response> get_root(http::ExchangePtr) {
  co_return http::text_response(200, "text/html; charset=utf-8",
                                "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Lectern</title>"
                                "<h1>Lectern</h1><p>Reads documents. The API is described in "
                                "<a href=\"/openapi.json\">/openapi.json</a>; send a document with<pre>"
                                "curl -F file=@report.pdf http://127.0.0.1:8080/v1/read</pre></html>\n");
}

}  // namespace

void add_routes(http::Router& router, ApiContext& api) {
  ApiContext* const context = &api;
  const auto add = [&](const char* method, const char* pattern, Scope scope, ApiHandler handler, const char* query = "",
                       std::int64_t body = 0) {
    router.add({.method = method,
                .pattern = pattern,
                .body_bytes_max = body,
                .handler = guarded(context, scope, handler, query),
                .query = query});
  };
  const std::int64_t upload = api.options.upload_bytes_max + form_overhead;
  add("POST", "/v1/jobs", Scope::submit, post_job, "", upload);
  add("GET", "/v1/jobs", Scope::read, get_jobs, "status limit cursor tenant");
  add("GET", "/v1/jobs/{id}", Scope::read, get_job);
  add("DELETE", "/v1/jobs/{id}", Scope::submit, delete_job);
  add("GET", "/v1/jobs/{id}/events", Scope::read, get_events, "after limit");
  add("GET", "/v1/jobs/{id}/result", Scope::read, get_result, "format download");
  add("GET", "/v1/jobs/{id}/pages/{page:number}", Scope::read, get_page);
  add("GET", "/v1/jobs/{id}/pages/{page:number}/image", Scope::read, get_page_image);
  add("POST", "/v1/jobs/{id}/retry", Scope::submit, retry_job);
  add("POST", "/v1/read", Scope::submit, post_read, "format download wait cancel_on_disconnect", upload);
  add("POST", "/v1/ocr", Scope::submit, post_ocr, "format download wait cancel_on_disconnect", upload);
  add("GET", "/metrics", Scope::read, get_metrics);
  router.add({.method = "GET", .pattern = "/health/live", .handler = live});
  router.add({.method = "GET", .pattern = "/health/ready", .handler = [context](http::ExchangePtr exchange) {
                return ready(&context->readiness, std::move(exchange));
              }});
  router.add({.method = "GET", .pattern = "/openapi.json", .handler = get_openapi});
  router.add({.method = "GET", .pattern = "/", .handler = get_root});
}

}  // namespace lectern::service
