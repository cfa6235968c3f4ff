#include <fmt/format.h>

#include <filesystem>

#include "job/postgres/postgres_database.h"
#include "job/sqlite/sqlite_database.h"
#include "job/store.h"

namespace lectern::job {
namespace {

constexpr std::string_view file_name = "jobs.sqlite";
constexpr std::string_view what_there_is = "use a folder, sqlite:FILE or postgresql://USER@HOST/DATABASE";

Result<std::unique_ptr<Database>> open_file(const std::filesystem::path& file, IfAbsent if_absent) {
  std::error_code unseen;  // a folder that one may not look into has an error of its own, below
  if (if_absent == IfAbsent::fail && !std::filesystem::exists(file, unseen) && !unseen) {
    return fail(ErrorKind::not_found, "there is no job store at {}", file.string());
  }
  if (const auto folder = file.parent_path(); !folder.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) {
      return fail_errno(fmt::format("cannot make the folder of the job store, {}", folder.string()), failed.value());
    }
  }
  return open_sqlite({.file = file});
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code failed;
  return !path.has_filename() || std::filesystem::is_directory(path, failed);
}

// "sqlite:FILE"; people also write "sqlite:///FILE", as other programs want it.
Result<std::unique_ptr<Database>> open_sqlite_url(std::string_view rest, IfAbsent if_absent) {
  if (rest.starts_with("///")) rest.remove_prefix(2);
  if (rest.empty() || rest.starts_with("//")) {
    return fail(ErrorKind::invalid_input, "the store URL names no file of this machine; write sqlite:/FOLDER/FILE");
  }
  const std::filesystem::path path(rest);
  return open_file(is_folder(path) ? path / file_name : path, if_absent);
}

}  // namespace

Result<std::unique_ptr<Database>> open_database(const std::string& url, const std::string& data_folder,
                                                IfAbsent if_absent) {
  if (url.empty()) {
    if (data_folder.empty()) {
      return fail(ErrorKind::invalid_input, "no job store is named and there is no data folder to keep one in");
    }
    return open_file(std::filesystem::path(data_folder) / file_name, if_absent);
  }
  const auto colon = url.find(':');
  const std::string scheme = colon == std::string::npos ? "" : url.substr(0, colon);
  if (scheme == "sqlite") return open_sqlite_url(std::string_view(url).substr(colon + 1), if_absent);
  if (scheme == "postgresql" || scheme == "postgres")
    return open_postgres({.url = url, .must_exist = if_absent == IfAbsent::fail});
  if (url.contains("://")) {  // the rest of it may hold a password: only the scheme is repeated
    return fail(ErrorKind::invalid_input, "'{}://…' is not a job store; {}", scheme, what_there_is);
  }
  std::error_code failed;
  if (std::filesystem::exists(url, failed) && !is_folder(url)) {
    return fail(ErrorKind::invalid_input, "the job store {} is a file; write sqlite:{}, or name a folder", url, url);
  }
  return open_file(std::filesystem::path(url) / file_name, if_absent);
}

}  // namespace lectern::job
