#include "provider/failure.h"

#include <utility>

namespace lectern::provider {

using enum FailureReason;

std::string_view to_string(FailureReason reason) {
  switch (reason) {
    case bad_request:
      return "bad request";
    case too_long:
      return "too long";
    case bad_image:
      return "bad image";
    case not_supported:
      return "not supported";
    case unknown_model:
      return "unknown model";
    case unauthorized:
      return "unauthorized";
    case quota:
      return "quota";
    case rate_limited:
      return "rate limited";
    case overloaded:
      return "overloaded";
    case loading:
      return "loading";
    case out_of_memory:
      return "out of memory";
    case engine_failed:
      return "engine failed";
    case unreachable:
      return "unreachable";
    case connection_lost:
      return "connection lost";
    case timed_out:
      return "timed out";
    case cancelled:
      return "cancelled";
    case bad_reply:
      return "bad reply";
  }
  std::unreachable();
}

ErrorKind kind_of(FailureReason reason) {
  switch (reason) {
    case bad_request:
    case too_long:
    case bad_image:
    case not_supported:
    case unauthorized:
      return ErrorKind::invalid_input;
    case unknown_model:
      return ErrorKind::not_found;
    case quota:
    case rate_limited:
    case overloaded:
    case out_of_memory:
      return ErrorKind::overloaded;
    case loading:
    case engine_failed:
    case unreachable:
    case connection_lost:
      return ErrorKind::unavailable;
    case timed_out:
      return ErrorKind::timeout;
    case cancelled:
      return ErrorKind::cancelled;
    case bad_reply:
      return ErrorKind::corrupt;
  }
  std::unreachable();
}

bool worth_retrying(FailureReason reason) {
  switch (reason) {
    case rate_limited:
    case overloaded:
    case loading:
    case out_of_memory:
    case engine_failed:
    case unreachable:
    case connection_lost:
    case timed_out:  // of one engine's answer; when the page's own deadline has passed nobody gets to ask
    case bad_reply:
      return true;
    case bad_request:
    case too_long:
    case bad_image:
    case not_supported:
    case unknown_model:
    case unauthorized:
    case quota:
    case cancelled:
      return false;
  }
  std::unreachable();
}

bool counts_against_engine(FailureReason reason) {
  switch (reason) {
    case loading:
    case out_of_memory:
    case engine_failed:
    case unreachable:
    case connection_lost:
    case timed_out:
    case bad_reply:
    case unauthorized:
    case unknown_model:
    case quota:
      return true;
    case rate_limited:
    case overloaded:
    case bad_request:
    case too_long:
    case bad_image:
    case not_supported:
    case cancelled:
      return false;
  }
  std::unreachable();
}

bool means_too_much_work(FailureReason reason) {
  switch (reason) {
    case rate_limited:
    case overloaded:
    case out_of_memory:
    case timed_out:
      return true;
    case loading:
    case engine_failed:
    case unreachable:
    case connection_lost:
    case bad_reply:
    case unauthorized:
    case unknown_model:
    case quota:
    case bad_request:
    case too_long:
    case bad_image:
    case not_supported:
    case cancelled:
      return false;
  }
  std::unreachable();
}

bool needs_a_person(FailureReason reason) {
  switch (reason) {
    case unauthorized:
    case unknown_model:
    case quota:
      return true;
    case rate_limited:
    case overloaded:
    case out_of_memory:
    case timed_out:
    case loading:
    case engine_failed:
    case unreachable:
    case connection_lost:
    case bad_reply:
    case bad_request:
    case too_long:
    case bad_image:
    case not_supported:
    case cancelled:
      return false;
  }
  std::unreachable();
}

bool nobody_there(const Failure& failure) {
  return failure.reason == unreachable && failure.http_status == 0;
}

}  // namespace lectern::provider
