// A disk that fills up under the service: uploads are refused with 507, what is there can still be read, and once there
// is room again everything goes on. Nothing that nobody knows of is left behind.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <sys/mount.h>

#include <fstream>
#include <thread>

#include "chaos/http_call.h"
#include "chaos/victim.h"
#include "servers/own_port.h"
#include "temp_folder.h"

namespace lectern::test {
namespace {

using Json = nlohmann::json;

// A file system of a few megabytes that only this process and its children see.
class SmallDisk {
 public:
  explicit SmallDisk(const std::filesystem::path& folder) : folder_(folder) {
    std::filesystem::create_directories(folder);
    if (::unshare(CLONE_NEWNS) != 0) return;
    // In a chroot "/" is no mount, and this fails; the mount below is then taken away by the destructor alone.
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    made_ = ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=12m") == 0;
  }
  ~SmallDisk() {
    if (made_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  bool made() const { return made_; }
  // Takes all the room but this much.
  void fill(std::int64_t leave) const {
    const auto space = std::filesystem::space(folder_);
    const auto take = static_cast<std::int64_t>(space.available) - leave;
    if (take <= 0) return;
    std::ofstream file(folder_ / "filler", std::ios::binary | std::ios::app);
    const std::string block(64 * 1024, 'x');
    for (std::int64_t left = take; left > 0; left -= static_cast<std::int64_t>(block.size())) {
      file.write(block.data(), std::min<std::int64_t>(left, static_cast<std::int64_t>(block.size())));
    }
  }
  void make_room() const { std::filesystem::remove(folder_ / "filler"); }

 private:
  const std::filesystem::path folder_;
  bool made_ = false;
};

std::string sample(const std::string& name) {
  std::ifstream stream(std::string(LECTERN_SOURCE_DIR) + "/samples/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class DiskFull : public testing::Test {
 protected:
  void SetUp() override {
    if (!disk_.made()) GTEST_SKIP() << "mounting a file system needs to be root";
    api_ = std::make_unique<ProgramVictim>(
        "serve",
        std::vector<std::string>{LECTERN_BIN_DIR "/lectern", "serve", "--listen", "127.0.0.1:" + std::to_string(port_),
                                 "--data", data().string()},
        std::map<std::string, std::string>{}, folder_.path() / "serve.log");
    await([this] {
      const auto answer = call(port_, {.target = "/health/ready"});
      return answer && answer->status == 200;
    });
  }

  std::filesystem::path data() const { return folder_.path() / "disk"; }
  template <class Done>
  static void await(Done done) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done()) {
      ASSERT_LT(std::chrono::steady_clock::now(), until) << "it never came";
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  std::optional<HttpAnswer> upload(const std::string& name, const std::string& bytes) const {
    const Multipart form = multipart({}, name, bytes);
    return call(
        port_,
        {.method = "POST", .target = "/v1/jobs", .headers = {{"Content-Type", form.content_type}}, .body = form.body});
  }
  std::string status_of(const std::string& job) const {
    const auto answer = call(port_, {.target = "/v1/jobs/" + job});
    return answer && answer->status == 200 ? Json::parse(answer->body).at("status").get<std::string>() : "";
  }
  // Jobs that have files, by the folders under blobs/jobs.
  std::set<std::string> jobs_with_files() const {
    std::set<std::string> ids;
    const auto folder = data() / "blobs" / "jobs";
    if (!std::filesystem::exists(folder)) return ids;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      for (const auto& file : std::filesystem::recursive_directory_iterator(entry.path())) {
        if (file.is_regular_file()) ids.insert(entry.path().filename());
      }
    }
    return ids;
  }

  TempFolder folder_;
  SmallDisk disk_{folder_.path() / "disk"};
  const OwnPort own_port_;
  const std::uint16_t port_ = own_port_.number();
  std::unique_ptr<ProgramVictim> api_;
};

TEST_F(DiskFull, UploadsAreRefusedReadsGoOnAndRoomMendsIt) {
  const std::string document = sample("report.pdf");
  const auto first = upload("report.pdf", document);
  ASSERT_TRUE(first && first->status == 201) << (first ? first->body : "");
  const std::string job = Json::parse(first->body).at("id");
  await([&] { return status_of(job) == "succeeded"; });

  disk_.fill(256 * 1024);
  std::optional<HttpAnswer> refused;
  for (int i = 0; i < 50; ++i) {
    refused = upload("large.pdf", std::string(600 * 1024, 'x'));
    if (refused && refused->status == 507) break;
  }
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 507) << refused->body;
  EXPECT_EQ(refused->headers["content-type"], "application/problem+json");
  EXPECT_EQ(Json::parse(refused->body).at("code"), "insufficient_storage");

  const auto result = call(port_, {.target = "/v1/jobs/" + job + "/result?format=md"});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 200);
  EXPECT_FALSE(result->body.empty());
  EXPECT_EQ(status_of(job), "succeeded");

  disk_.make_room();
  std::string again;
  await([&] {
    const auto answer = upload("report.pdf", document);
    if (!answer || answer->status != 201) return false;
    again = Json::parse(answer->body).at("id");
    return true;
  });
  await([&] { return status_of(again) == "succeeded"; });
  const auto list = call(port_, {.target = "/v1/jobs?limit=100"});
  ASSERT_TRUE(list && list->status == 200);
  const Json known = Json::parse(list->body);  // outlives the loop over it
  std::set<std::string> ids;
  for (const Json& one : known.at("jobs")) ids.insert(one.at("id"));
  for (const std::string& id : jobs_with_files()) EXPECT_TRUE(ids.contains(id)) << id << " left files behind";
}

}  // namespace
}  // namespace lectern::test
