#include "job/open_blobs.h"

#include "job/blobs/folder.h"

namespace lectern::job {

Result<std::unique_ptr<Blobs>> open_blobs(const std::string& url, const std::filesystem::path& data_folder,
                                          BlobsSeams seams) {
  if (url.contains("://")) return fail(ErrorKind::invalid_input, "--blobs {}: not a folder", url);
  return open_folder_blobs(
      {.folder = url.empty() ? data_folder / "blobs" : std::filesystem::path(url), .disk = seams.disk});
}

}  // namespace lectern::job
