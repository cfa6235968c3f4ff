// How bytes get into S3: small ones in one request, large ones in parts. Used by S3Blobs.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>

#include "job/blobs/s3_client.h"

namespace lectern::job {

inline constexpr const char* s3_mark_header = "x-amz-meta-lectern-write";

boost::asio::awaitable<Result<BlobInfo>> s3_head(std::shared_ptr<S3Client> client, std::string key);
boost::asio::awaitable<Result<BlobInfo>> s3_put(std::shared_ptr<S3Client> client, std::string key, std::string bytes,
                                                PutMode mode);
std::unique_ptr<BlobWriter> make_s3_writer(std::shared_ptr<S3Client> client, std::string key, PutMode mode);

}  // namespace lectern::job
