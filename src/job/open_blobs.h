// Opens the store of blobs that a setting names.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/cancellation.h"
#include "base/config.h"
#include "base/disk.h"
#include "base/timers.h"
#include "job/blobs.h"
#include "provider/http_client.h"

namespace lectern::job {

// What stores need of the process. All but `http` is borrowed and must outlive the store.
struct BlobsSeams {
  std::shared_ptr<provider::HttpClient> http;  // S3 only
  boost::asio::any_io_executor executor;       // S3 only: where uploads that nobody finished are given up
  Timers* timers = nullptr;                    // S3 only: waits between attempts
  Disk* disk = &real_disk();
  Config::Environment environment = process_environment();  // S3's credentials
  Cancellation over = {};  // S3 only: the process must end, and cannot wait for a server that does not answer
};

// By `url`: empty = the folder "blobs" in the data folder; a path = that folder;
// "s3://BUCKET/PREFIX?endpoint=http://HOST:PORT&region=REGION" = S3 or a server that speaks its protocol (docs/blobs.md
// has the other parameters), with the credentials of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or of the files that
// AWS_ACCESS_KEY_ID_FILE and AWS_SECRET_ACCESS_KEY_FILE name. Nothing is asked of the server yet: see Blobs::check.
// Errors: invalid_input (names what is wrong with the URL, or what is missing), overloaded (no space).
Result<std::unique_ptr<Blobs>> open_blobs(const std::string& url, const std::filesystem::path& data_folder,
                                          BlobsSeams seams);

}  // namespace lectern::job
