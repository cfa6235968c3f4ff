// What a sender may ask of a job beside the operation itself: NewJob::options as a value. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "job/model.h"

namespace lectern::job {

struct JobOptions {
  std::string pages;      // "1-10,15"; empty = all
  std::string languages;  // OCR; empty = the worker's
  std::string model;      // empty = the worker's
  std::string prompt;     // empty = the model's own
  std::optional<bool> auto_rotate;
  bool operator==(const JobOptions&) const = default;
};

// Canonical: equal options give equal text.
std::string to_json(const JobOptions& options);
// Errors (invalid_input) name the field. Fields that are not known are refused: a typing mistake must not pass
// silently.
Result<JobOptions> job_options_from_json(std::string_view json);

// What must not be kept longer than it is needed: NewJob::secret as a value.
struct JobSecret {
  std::string password;        // of an encrypted document
  std::string webhook_secret;  // signs deliveries
  bool operator==(const JobSecret&) const = default;
};
// Empty when there is nothing to keep.
std::string to_json(const JobSecret& secret);
// Empty text is a secret without anything in it. Errors: corrupt.
Result<JobSecret> job_secret_from_json(std::string_view json);

// Where a job's bytes are (blobs.h). What a lease writes has its token in the name: nobody overwrites anybody, and only
// what a commit points at counts. Results have their task's id, too: each round has a task of its own, with tokens
// from 1.
inline constexpr std::string_view jobs_folder = "jobs/";  // what is in it belongs to a job
std::string job_prefix(std::string_view job);             // "jobs/<id>/": everything of the job is under it
std::string original_key(std::string_view job);
std::string page_key(std::string_view job, int page, std::int64_t token);
std::string page_image_key(std::string_view job, int page);
std::string result_key(const Task& task, std::string_view format);  // of an `assemble` task

}  // namespace lectern::job
