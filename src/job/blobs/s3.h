// The S3 store: blobs as objects of a bucket, by path-style addresses.
//
// create_only is a condition of the request (If-None-Match: *), so that the server decides between two writers. Each
// such write carries a random mark: after a lost answer, the mark tells our own blob from somebody else's. A server
// that does not know conditions is noticed at the first such write; then Lectern looks before it writes, which leaves
// a moment between the two.
#pragma once

#include <memory>

#include "job/blobs/s3_client.h"

namespace lectern::job {

std::unique_ptr<Blobs> make_s3_blobs(S3Place place, S3Options options, S3Seams seams);

}  // namespace lectern::job
