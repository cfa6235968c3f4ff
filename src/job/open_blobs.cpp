#include "job/open_blobs.h"

#include "job/blobs/folder.h"
#include "job/blobs/s3.h"

namespace lectern::job {

Result<std::unique_ptr<Blobs>> open_blobs(const std::string& url, const std::filesystem::path& data_folder,
                                          BlobsSeams seams) {
  if (url.starts_with("s3:")) {
    auto place = s3_place_from(url, seams.environment);
    if (!place) return std::unexpected(place.error());
    S3Seams s3{.http = std::move(seams.http),
               .executor = std::move(seams.executor),
               .timers = seams.timers,
               .disk = seams.disk,
               .over = std::move(seams.over)};
    return make_s3_blobs(std::move(*place), S3Options{}, std::move(s3));
  }
  if (url.contains("://")) {
    return fail(ErrorKind::invalid_input, "blobs: '{}' is neither a folder nor an address that begins with s3://", url);
  }
  return open_folder_blobs(
      {.folder = url.empty() ? data_folder / "blobs" : std::filesystem::path(url), .disk = seams.disk});
}

}  // namespace lectern::job
