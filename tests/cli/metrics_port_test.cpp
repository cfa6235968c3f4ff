#include "cli/metrics_port.h"

#include <gmock/gmock.h>

namespace lectern::cli {
namespace {

using testing::HasSubstr;

TEST(MetricsAddress, IsWhatTheSettingsSay) {
  struct Case {
    std::string host;
    std::string listens;
    bool loopback;
  };
  for (const Case& c : {Case{"127.0.0.1", "127.0.0.1", true}, Case{"localhost", "127.0.0.1", true},
                        Case{"::1", "::1", true}, Case{"[::1]", "::1", true}, Case{"0.0.0.0", "0.0.0.0", false},
                        Case{"::", "::", false}, Case{"10.1.2.3", "10.1.2.3", false}}) {
    const auto address = metrics_address(c.host, 9000);
    ASSERT_TRUE(address) << c.host;
    EXPECT_EQ(address->host, c.listens);
    EXPECT_EQ(address->port, 9000);
    EXPECT_EQ(address->loopback(), c.loopback) << c.host;
  }
  for (const std::string host : {"", "everywhere", "unix:/tmp/x", "1.2.3.4:80", "300.1.1.1"}) {
    const auto address = metrics_address(host, 9000);
    ASSERT_FALSE(address) << host;
    EXPECT_THAT(address.error().for_caller, HasSubstr("work.metrics_address: '" + host + "'"));
  }
}

}  // namespace
}  // namespace lectern::cli
