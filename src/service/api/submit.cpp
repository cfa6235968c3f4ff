#include "service/api/submit.h"

#include <fmt/format.h>

#include <algorithm>

#include "job/ids.h"
#include "service/api/form_reader.h"
#include "service/http/parameters.h"
#include "telemetry/log.h"

namespace lectern::service {
namespace {

namespace asio = boost::asio;
using http::ExchangePtr;

constexpr std::size_t json_bytes_max = 256 * 1024;
constexpr std::int64_t copy_bytes = 4 << 20;

// A request whose document is where it should be.
struct Prepared {
  Submission submission;
  job::NewJob job;        // source, bytes and sha256 are known
  std::string content;    // what stands for the document in the fingerprint
  bool own_blob = false;  // `job.source` was written for this request and goes if it fails
};
using Preparing = std::expected<Prepared, Problem>;

std::expected<std::string, Problem> idempotency_key_of(const http::Fields& fields) {
  const auto key = fields.find("idempotency-key");
  if (!key) return "";
  const auto fits = [](char c) { return c > 0x20 && c < 0x7f; };
  if (key->empty() || key->size() > 255 || !std::ranges::all_of(*key, fits) || fields.count("idempotency-key") > 1) {
    return std::unexpected(Problem{.code = ProblemCode::invalid_parameter,
                                   .detail = "Idempotency-Key: must be 1 to 255 printable characters without blanks"});
  }
  return std::string(*key);
}

asio::awaitable<void> remove_blob(ApiContext* api, std::string key) {
  const Status removed = co_await api->parts.blobs.remove(key);
  if (!removed) {
    telemetry::log(telemetry::LogLevel::warning, "a blob that nobody needs could not be removed",
                   {{"key", key}, {"error", removed.error().for_log}});
  }
}

std::optional<Problem> set_operation(Submission& submission, const std::optional<std::string>& operation) {
  if (!operation) return std::nullopt;
  if (!submission.operation.empty() && submission.operation != *operation) {
    return Problem{.code = ProblemCode::invalid_parameter,
                   .detail = fmt::format("operation: this path means '{}'; leave the field out", *operation)};
  }
  submission.operation = *operation;
  return std::nullopt;
}

asio::awaitable<Preparing> prepare_form(ApiContext* api, ExchangePtr exchange, std::string boundary, std::string id) {
  FormReader reader(*api, exchange, boundary, job::original_key(id));
  auto form = co_await reader.read();
  if (!form) co_return std::unexpected(std::move(form.error()));
  Prepared prepared{.submission = std::move(form->submission), .content = form->sha256, .own_blob = true};
  prepared.job.source = job::original_key(id);
  prepared.job.sha256 = form->sha256;
  prepared.job.bytes = form->bytes;
  if (prepared.submission.name.empty()) prepared.submission.name = form->filename;
  co_return prepared;
}

asio::awaitable<Preparing> fetch(ApiContext* api, ExchangePtr exchange, Submission submission, std::string id) {
  if (!api->options.urls_allowed || api->parts.fetcher == nullptr) {
    co_return std::unexpected(Problem{.code = ProblemCode::url_not_allowed, .detail = "upload the document instead"});
  }
  FetchRequest request{.url = submission.url,
                       .key = job::original_key(id),
                       .bytes_max = api->options.upload_bytes_max,
                       .cancellation = exchange->stopping()};
  auto fetched = co_await api->parts.fetcher->fetch(std::move(request));
  if (!fetched) {
    Problem problem = problem_of(fetched.error());
    const ErrorKind kind = fetched.error().kind;
    if (kind == ErrorKind::invalid_input || kind == ErrorKind::not_found || kind == ErrorKind::timeout) {
      problem = {.code = ProblemCode::url_refused, .detail = fetched.error().for_caller};
    }
    co_return std::unexpected(std::move(problem));
  }
  Prepared prepared{.submission = std::move(submission), .content = {}, .own_blob = true};
  prepared.content = "url " + prepared.submission.url;
  prepared.job.source = job::original_key(id);
  prepared.job.sha256 = fetched->sha256;
  prepared.job.bytes = fetched->bytes;
  if (prepared.submission.name.empty()) prepared.submission.name = document_name(fetched->name);
  co_return prepared;
}

asio::awaitable<Status> copy_blob(job::Blobs* blobs, job::BlobInfo from, std::string to) {
  auto writer = co_await blobs->writer(std::move(to), job::PutMode::create_only);
  if (!writer) co_return std::unexpected(writer.error());
  for (std::int64_t at = 0; at < from.bytes;) {
    auto piece = co_await blobs->get_range(from.key, {.first = at, .bytes = std::min(copy_bytes, from.bytes - at)});
    if (!piece) co_return std::unexpected(piece.error());
    if (piece->empty()) co_return fail(ErrorKind::corrupt, "the blob {} is shorter than it was", from.key);
    at += static_cast<std::int64_t>(piece->size());
    if (auto written = co_await (*writer)->write(std::move(*piece)); !written) co_return written;
  }
  if (const auto done = co_await (*writer)->commit(); !done) co_return std::unexpected(done.error());
  co_return Status{};
}

asio::awaitable<Preparing> find_blob(ApiContext* api, Caller caller, Submission submission, std::string id) {
  if (!caller.may(Scope::admin)) {
    co_return std::unexpected(
        Problem{.code = ProblemCode::forbidden, .detail = "jobs from blobs need a key with the scope admin"});
  }
  const Problem unknown{.code = ProblemCode::blob_not_found};
  if (!job::is_blob_key(submission.blob)) co_return std::unexpected(unknown);
  auto info = co_await api->parts.blobs.head(submission.blob);
  if (!info) {
    co_return std::unexpected(info.error().kind == ErrorKind::not_found ? unknown : problem_of(info.error()));
  }
  Prepared prepared{.submission = std::move(submission), .content = {}};
  prepared.content = fmt::format("blob {} {}", prepared.submission.blob, info->etag);
  prepared.job.source = prepared.submission.blob;
  if (prepared.submission.blob.starts_with(job::jobs_folder)) {
    // It belongs to another job and goes with it, which may be before this one is done.
    prepared.job.source = job::original_key(id);
    prepared.own_blob = true;
    const Status copied = co_await copy_blob(&api->parts.blobs, *info, prepared.job.source);
    if (!copied) {
      co_return std::unexpected(copied.error().kind == ErrorKind::not_found ? unknown : problem_of(copied.error()));
    }
  }
  prepared.job.bytes = info->bytes;
  if (prepared.submission.name.empty()) prepared.submission.name = document_name(prepared.submission.blob);
  co_return prepared;
}

asio::awaitable<Preparing> prepare_json(ApiContext* api, Caller caller, ExchangePtr exchange, std::string id) {
  std::string json;
  for (;;) {
    const auto piece = co_await exchange->read_body();
    if (!piece) co_return std::unexpected(piece.error());
    if (piece->empty()) break;
    json += *piece;
    if (json.size() > json_bytes_max) {
      co_return std::unexpected(Problem{.code = ProblemCode::payload_too_large, .detail = "the JSON is too long"});
    }
  }
  auto submission = submission_from_json(json);
  if (!submission) co_return std::unexpected(std::move(submission.error()));
  if (!submission->url.empty()) co_return co_await fetch(api, exchange, std::move(*submission), std::move(id));
  co_return co_await find_blob(api, std::move(caller), std::move(*submission), std::move(id));
}

asio::awaitable<Preparing> prepare(ApiContext* api, Caller caller, ExchangePtr exchange, std::string id) {
  const auto type = exchange->request().fields.find("content-type");
  const auto parsed = http::parse_parameters(type.value_or(""));
  if (parsed && http::same_name(parsed->value, "multipart/form-data")) {
    auto boundary = multipart_boundary(*type);
    if (!boundary) co_return std::unexpected(Problem{.code = ProblemCode::invalid_body, .detail = boundary.error()});
    co_return co_await prepare_form(api, std::move(exchange), std::move(*boundary), std::move(id));
  }
  if (parsed && http::same_name(parsed->value, "application/json")) {
    co_return co_await prepare_json(api, std::move(caller), std::move(exchange), std::move(id));
  }
  co_return std::unexpected(
      Problem{.code = ProblemCode::unsupported_media_type,
              .detail = "send multipart/form-data with a part named 'file', or application/json"});
}

// Stores the job. Who does not know whether that went well asks; but a commit that was cut off may take effect after
// the question, so the document stays then: if nobody needs it, it goes with the orphans.
asio::awaitable<std::expected<job::Submitted, Problem>> store_job(ApiContext* api, job::NewJob job, bool own_blob) {
  const std::string id = job.id;
  const std::string source = job.source;
  auto submitted = co_await api->parts.store.submit(std::move(job));
  bool blob_needed = submitted && !submitted->existed;
  if (!submitted && submitted.error().kind == ErrorKind::unavailable) {
    blob_needed = true;
    auto there = co_await api->parts.store.job(id);
    if (there && *there) submitted = job::Submitted{.job = std::move(**there), .existed = false};
  }
  if (own_blob && !blob_needed) co_await remove_blob(api, source);
  if (!submitted) {
    if (submitted.error().kind != ErrorKind::conflict) {
      telemetry::log(telemetry::LogLevel::warning, "a job could not be stored",
                     {{"job", id}, {"error", submitted.error().for_log}});
    }
    co_return std::unexpected(problem_of(submitted.error()));
  }
  co_return std::move(*submitted);
}

}  // namespace

asio::awaitable<std::expected<job::Submitted, Problem>> submit_job(ApiContext* api, Caller caller, ExchangePtr exchange,
                                                                   std::optional<std::string> operation) {
  const http::Request& request = exchange->request();
  auto idempotency_key = idempotency_key_of(request.fields);
  if (!idempotency_key) co_return std::unexpected(std::move(idempotency_key.error()));
  auto ticket = api->gate.enter(caller.key, api->now());
  if (!ticket) co_return std::unexpected(std::move(ticket.error()));
  const std::int64_t open = co_await api->queue.jobs_open(&api->parts.store, &api->parts.timers.clock());
  if (open >= api->options.jobs_open_max) {
    co_return std::unexpected(Problem{.code = ProblemCode::queue_full,
                                      .detail = fmt::format("{} jobs are waiting; come back later", open),
                                      .retry_after = 10});
  }
  const std::string id = job::new_job_id(api->parts.timers.clock(), api->parts.random);
  auto prepared = co_await prepare(api, caller, exchange, id);
  if (!prepared) co_return std::unexpected(std::move(prepared.error()));

  Submission& submission = prepared->submission;
  std::optional<Problem> trouble = set_operation(submission, operation);
  job::Millis now = 0;
  if (!trouble && (submission.timeout || submission.deadline)) {
    const auto clock = co_await api->parts.store.now();
    if (!clock) trouble = problem_of(clock.error());
    now = clock.value_or(0);
    if (clock && submission.deadline && *submission.deadline <= now) {
      trouble = Problem{.code = ProblemCode::deadline_passed};
    }
  }
  if (trouble) {
    if (prepared->own_blob) co_await remove_blob(api, prepared->job.source);
    co_return std::unexpected(std::move(*trouble));
  }
  job::NewJob job = job_of(submission, id, caller.tenant, now);
  job.source = std::move(prepared->job.source);
  job.sha256 = std::move(prepared->job.sha256);
  job.bytes = prepared->job.bytes;
  job.idempotency_key = std::move(*idempotency_key);
  job.fingerprint = fingerprint_of(submission, prepared->content);
  auto submitted = co_await store_job(api, std::move(job), prepared->own_blob);
  if (submitted && !submitted->existed) {
    api->queue.submitted();
    api->metrics.count("lectern_jobs_submitted_total", "Jobs that were accepted",
                       {{"operation", submitted->job.job.request.operation}});
  }
  co_return submitted;
}

asio::awaitable<Answer> post_job(ApiContext* api, Caller caller, ExchangePtr exchange) {
  auto submitted = co_await submit_job(api, std::move(caller), exchange, std::nullopt);
  if (!submitted) co_return std::unexpected(std::move(submitted.error()));
  // The same request came before: this is its job.
  const int status = submitted->existed ? 200 : 201;
  co_return co_await job_response(api, status, std::move(submitted->job));
}

}  // namespace lectern::service
