#include "provider/openai_address.h"

#include <gtest/gtest.h>

namespace lectern::provider {
namespace {

struct Case {
  std::string_view written, chat_url, name;
};

const Case cases[] = {
    {"http://gpu:8000", "http://gpu:8000/v1/chat/completions", "http://gpu:8000"},
    {"http://gpu:8000/", "http://gpu:8000/v1/chat/completions", "http://gpu:8000"},
    {"http://gpu:8000/v1", "http://gpu:8000/v1/chat/completions", "http://gpu:8000"},
    {"http://gpu:8000/v1//", "http://gpu:8000/v1/chat/completions", "http://gpu:8000"},
    {"http://gpu:8000/v1/chat/completions", "http://gpu:8000/v1/chat/completions", "http://gpu:8000"},
    {"gpu:8000", "http://gpu:8000/v1/chat/completions", "http://gpu:8000"},
    {"localhost", "http://localhost/v1/chat/completions", "http://localhost"},
    {"http://[::1]:8000", "http://[::1]:8000/v1/chat/completions", "http://[::1]:8000"},
    {"https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions", "https://api.openai.com"},
    {"https://me:secret@gpu/v1", "https://me:secret@gpu/v1/chat/completions", "https://gpu"},
    {"https://host/team/qwen", "https://host/team/qwen/v1/chat/completions", "https://host/team/qwen"},
    {"https://host/v1beta/openai/", "https://host/v1beta/openai/chat/completions", "https://host/v1beta/openai"},
    {"https://x.openai.azure.com/openai/v1?api-version=2",
     "https://x.openai.azure.com/openai/v1/chat/completions?api-version=2", "https://x.openai.azure.com/openai"},
    {"unix:/run/vllm.sock", "http://localhost/v1/chat/completions", "unix:/run/vllm.sock"},
    {"unix:///run/vllm.sock", "http://localhost/v1/chat/completions", "unix:/run/vllm.sock"},
};

TEST(EngineAddress, IsUnderstoodAsPeopleWriteIt) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.written);
    const auto address = parse_engine_address(c.written);
    ASSERT_TRUE(address) << address.error().for_caller;
    EXPECT_EQ(address->url("/chat/completions"), c.chat_url);
    EXPECT_EQ(address->name, c.name);
    EXPECT_EQ(address->unix_socket, c.written.starts_with("unix:") ? "/run/vllm.sock" : "");
  }
}

TEST(EngineAddress, KnowsWhereTheServersOwnPagesAre) {
  EXPECT_EQ(parse_engine_address("gpu:8000")->root, "http://gpu:8000");
  EXPECT_EQ(parse_engine_address("https://me:secret@host/team/qwen")->root, "https://me:secret@host/team/qwen");
  EXPECT_EQ(parse_engine_address("unix:/x.sock")->root, "http://localhost");
  EXPECT_EQ(parse_engine_address("https://host/v1beta/openai/")->root, "");
}

TEST(EngineAddress, KnowsThisMachineAndHostedApis) {
  for (const char* local : {"localhost:1", "http://127.0.0.1:8000", "http://[::1]:1", "unix:/x.sock"}) {
    EXPECT_TRUE(parse_engine_address(local)->local) << local;
  }
  EXPECT_FALSE(parse_engine_address("http://gpu:8000")->local);
  EXPECT_TRUE(parse_engine_address("https://api.openai.com/v1")->hosted);
  EXPECT_FALSE(parse_engine_address("https://notopenai.com")->hosted);
}

TEST(EngineAddress, RefusesWhatIsNone) {
  for (const char* bad : {"", "ftp://host", "http://", "file:///etc/passwd", "unix:relative.sock", "http://a b"}) {
    SCOPED_TRACE(bad);
    const auto address = parse_engine_address(bad);
    ASSERT_FALSE(address);
    EXPECT_EQ(address.error().kind, ErrorKind::invalid_input);
    EXPECT_NE(address.error().for_caller.find("expected http://HOST:PORT"), std::string::npos);
  }
}

}  // namespace
}  // namespace lectern::provider
