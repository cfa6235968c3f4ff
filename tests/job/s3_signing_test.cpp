// Signatures against the examples that AWS publishes: its documentation of S3 ("Signature Calculations for the
// Authorization Header") and its signature test suite.
#include <gtest/gtest.h>

#include "base/hash.h"
#include "job/blobs/sigv4.h"

namespace lectern::job {
namespace {

const S3Credentials example{.access_key = "AKIAIOSFODNN7EXAMPLE",
                            .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
const SigningScope may_2013{.time = WallTime(std::chrono::seconds(1369353600)), .region = "us-east-1"};
const std::string nothing = sha256_hex("");

SignedParts parts(std::string method, std::string path, NameValues query, NameValues more,
                  std::string payload = nothing) {
  SignedParts all{.method = std::move(method),
                  .path = std::move(path),
                  .query = std::move(query),
                  .headers = std::move(more),
                  .payload_sha256 = payload};
  all.headers.emplace_back("x-amz-date", "20130524T000000Z");
  all.headers.emplace_back("host", "examplebucket.s3.amazonaws.com");
  all.headers.emplace_back("x-amz-content-sha256", payload);
  return all;
}

TEST(SigV4, SignsTheExamplesOfS3) {
  EXPECT_EQ(amz_date(may_2013.time), "20130524T000000Z");
  struct Case {
    std::string_view name;
    SignedParts parts;
    std::string_view headers, signature;
  };
  const Case cases[] = {
      {"get a range", parts("GET", "/test.txt", {}, {{"range", "bytes=0-9"}}),
       "host;range;x-amz-content-sha256;x-amz-date",
       "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
      {"put",
       parts("PUT", "/" + percent_encode("test$file.text", true), {},
             {{"date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
             sha256_hex("Welcome to Amazon S3.")),
       "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
       "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
      {"a name without a value", parts("GET", "/", {{"lifecycle", ""}}, {}), "host;x-amz-content-sha256;x-amz-date",
       "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
      {"list", parts("GET", "/", {{"prefix", "J"}, {"max-keys", "2"}}, {}), "host;x-amz-content-sha256;x-amz-date",
       "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(authorization(example, may_2013, c.parts),
              "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=" +
                  std::string(c.headers) + ", Signature=" + std::string(c.signature));
  }
}

TEST(SigV4, MakesTheCanonicalRequestOfTheExample) {
  const std::string canonical = canonical_request(parts("GET", "/test.txt", {}, {{"range", "bytes=0-9"}}));
  EXPECT_EQ(canonical,
            "GET\n/test.txt\n\nhost:examplebucket.s3.amazonaws.com\nrange:bytes=0-9\nx-amz-content-sha256:" + nothing +
                "\nx-amz-date:20130524T000000Z\n\nhost;range;x-amz-content-sha256;x-amz-date\n" + nothing);
  EXPECT_EQ(string_to_sign(may_2013, canonical),
            "AWS4-HMAC-SHA256\n20130524T000000Z\n20130524/us-east-1/s3/aws4_request\n"
            "7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972");
}

TEST(SigV4, SignsTheTestSuite) {
  const S3Credentials suite{.access_key = "AKIDEXAMPLE", .secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
  const SigningScope scope{
      .time = WallTime(std::chrono::seconds(1440938160)), .region = "us-east-1", .service = "service"};
  const auto sign = [&](NameValues query) {
    const SignedParts request{.method = "GET",
                              .path = "/",
                              .query = std::move(query),
                              .headers = {{"host", "example.amazonaws.com"}, {"x-amz-date", "20150830T123600Z"}},
                              .payload_sha256 = nothing};
    return signature(suite, scope, string_to_sign(scope, canonical_request(request)));
  };
  EXPECT_EQ(sign({}), "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31") << "get-vanilla";
  EXPECT_EQ(sign({{"Param2", "value2"}, {"Param1", "value1"}}),
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500")
      << "get-vanilla-query-order-key-case";
}

TEST(SigV4, EncodesQueries) {
  EXPECT_EQ(canonical_query({{"b", "2"}, {"a", "x y/z+%~"}, {"a", "1"}, {"uploads", ""}}),
            "a=1&a=x%20y%2Fz%2B%25~&b=2&uploads=");
  EXPECT_EQ(percent_encode("a/b c\xC3\xA9", true), "a/b%20c%C3%A9");
  EXPECT_EQ(percent_encode("a/b", false), "a%2Fb");
}

TEST(Hmac, IsThatOfRfc4231) {
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(to_hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_TRUE(equal_secrets("abc", "abc"));
  EXPECT_FALSE(equal_secrets("abc", "abd"));
  EXPECT_FALSE(equal_secrets("abc", "ab"));
}

}  // namespace
}  // namespace lectern::job
