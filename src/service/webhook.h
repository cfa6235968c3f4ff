// Signatures by the Standard Webhooks scheme, so that receivers can use one of its libraries. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "job/model.h"

namespace lectern::service {

// The key of "whsec_…" (base64 after the prefix); any other text is the key itself.
// Errors (invalid_input): what follows whsec_ is no base64, or the secret is empty.
Result<std::string> webhook_key(std::string_view secret);

// "v1,…": what the header webhook-signature says. `timestamp`: seconds since 1970, as webhook-timestamp says it.
std::string webhook_signature(std::string_view key, std::string_view id, std::int64_t timestamp, std::string_view body);

// What identifies the message, the same for every attempt to deliver it: the job and the round that it is the end of.
std::string webhook_id(const job::Job& job);

// {"type": "job.succeeded", "timestamp": …, "data": the job}
std::string webhook_body(const job::Job& job);

}  // namespace lectern::service
