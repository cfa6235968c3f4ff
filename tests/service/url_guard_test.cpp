#include "service/url_guard.h"

#include <gtest/gtest.h>

namespace lectern::service {
namespace {

TEST(UrlGuard, KnowsWhatIsNotPublic) {
  const std::pair<std::string_view, std::string_view> refused[] = {
      {"127.0.0.1", "loopback"},
      {"127.255.255.254", "loopback"},
      {"0.0.0.0", "unspecified"},
      {"0.1.2.3", "unspecified"},
      {"10.0.0.1", "private"},
      {"172.16.0.1", "private"},
      {"172.31.255.255", "private"},
      {"192.168.1.1", "private"},
      {"169.254.169.254", "link-local"},  // metadata of most clouds
      {"100.64.0.1", "carrier-grade NAT"},
      {"100.100.100.200", "carrier-grade NAT"},  // metadata of Alibaba
      {"192.0.0.192", "reserved"},               // metadata of Oracle
      {"168.63.129.16", "metadata"},             // Azure
      {"198.18.0.1", "reserved"},
      {"192.0.2.1", "reserved"},
      {"224.0.0.1", "multicast"},
      {"239.255.255.250", "multicast"},
      {"255.255.255.255", "reserved"},
      {"::", "unspecified"},
      {"::1", "loopback"},
      {"fe80::1", "link-local"},
      {"febf::1", "link-local"},
      {"fc00::1", "private"},
      {"fd00:ec2::254", "private"},  // metadata of AWS
      {"fec0::1", "reserved"},
      {"ff02::1", "multicast"},
      {"2001:db8::1", "reserved"},
      {"2001::1", "reserved"},  // Teredo
      {"3fff::1", "reserved"},
      {"100::1", "reserved"},
      {"::ffff:127.0.0.1", "loopback"},
      {"::ffff:10.0.0.1", "private"},
      {"::127.0.0.1", "reserved"},
      {"64:ff9b::127.0.0.1", "loopback"},
      {"64:ff9b::a9fe:a9fe", "link-local"},
      {"64:ff9b:1::1", "reserved"},
      {"2002:7f00:1::1", "loopback"},
      {"2002:a9fe:a9fe::1", "link-local"},
      {"2002:c0a8:101::1", "private"},
  };
  for (const auto& [text, why] : refused) {
    const auto address = parse_ip(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(why_not_public(*address), why) << text;
    EXPECT_FALSE(UrlGuard().admits("some.host", text)) << text;
  }
}

TEST(UrlGuard, LetsPublicAddressesPass) {
  for (const std::string_view text :
       {"1.1.1.1",         "8.8.8.8",         "93.184.216.34",        "9.255.255.255",
        "11.0.0.0",        "100.63.255.255",  "100.128.0.0",          "126.255.255.255",
        "128.0.0.1",       "169.253.255.255", "172.15.255.255",       "172.32.0.0",
        "192.167.255.255", "223.255.255.255", "2606:4700:4700::1111", "2001:4860:4860::8888",
        "2a00::1",         "::ffff:8.8.8.8",  "64:ff9b::8.8.8.8",     "2002:808:808::1"}) {
    const auto address = parse_ip(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(why_not_public(*address), std::nullopt) << text;
    EXPECT_TRUE(UrlGuard().admits("some.host", text)) << text;
  }
}

TEST(UrlGuard, RefusesWhatIsNoAddress) {
  for (const std::string_view text :
       {"", "localhost", "127.1", "0x7f000001", "2130706433", "1.2.3.4.5", "[::1]", "::1%lo"}) {
    EXPECT_EQ(parse_ip(text), std::nullopt) << text;
    EXPECT_FALSE(UrlGuard().admits("some.host", text)) << text;
  }
}

TEST(UrlGuard, AllowsWhatIsNamed) {
  const std::vector<std::string> allowed = {"127.0.0.1", "10.20.0.0/16", "fd00::/8", "Files.Internal", ".corp.example"};
  const auto guard = UrlGuard::allowing(allowed);
  ASSERT_TRUE(guard) << guard.error().for_log;
  EXPECT_TRUE(guard->admits("x", "127.0.0.1"));
  EXPECT_TRUE(guard->admits("x", "::ffff:127.0.0.1")) << "the same address in another form";
  EXPECT_FALSE(guard->admits("x", "127.0.0.2"));
  EXPECT_TRUE(guard->admits("x", "10.20.255.1"));
  EXPECT_FALSE(guard->admits("x", "10.21.0.1"));
  EXPECT_TRUE(guard->admits("x", "fd12::1"));
  EXPECT_FALSE(guard->admits("x", "fe80::1"));
  EXPECT_TRUE(guard->admits("files.internal", "192.168.1.1"));
  EXPECT_FALSE(guard->admits("other.internal", "192.168.1.1"));
  EXPECT_TRUE(guard->admits("a.corp.example", "192.168.1.1"));
  EXPECT_FALSE(guard->admits("corp.example", "192.168.1.1"));
  EXPECT_FALSE(guard->admits("evilcorp.example", "192.168.1.1"));
  EXPECT_TRUE(guard->admits("x", "8.8.8.8")) << "public ones still are";
}

TEST(UrlGuard, SaysWhichEntryIsWrong) {
  for (const std::string entry : {"10.0.0.0/33", "10.0.0/8", "fd00::/129", "10.0.0.0/x", "10.0.0.0/", "http://x", "a b",
                                  "", "1.2.3.4:80", "300.1.1.1"}) {
    const std::vector<std::string> allowed = {"127.0.0.1", entry};
    const auto guard = UrlGuard::allowing(allowed);
    ASSERT_FALSE(guard) << entry;
    EXPECT_NE(guard.error().for_caller.find("'" + entry + "'"), std::string::npos) << guard.error().for_caller;
  }
}

}  // namespace
}  // namespace lectern::service
