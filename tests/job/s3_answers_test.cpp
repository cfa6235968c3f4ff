// What S3 servers say, read strictly; where a store is, from its address and the environment.
#include "job/blobs/s3_answers.h"

#include <gtest/gtest.h>

#include <map>

#include "job/blobs/s3_url.h"
#include "job/blobs/xml.h"
#include "temp_folder.h"

namespace lectern::job {
namespace {

TEST(Xml, ReadsElementsAndText) {
  const auto root = parse_xml(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<A xmlns=\"http://x/\" "
      "b='1'>one<B>&lt;&amp;&quot;&#65;&#x20AC;</B><C/>two"
      "<B >second</B ></A>\n");
  ASSERT_TRUE(root) << root.error().for_log;
  EXPECT_EQ(root->name, "A");
  EXPECT_EQ(root->text, "onetwo");
  ASSERT_EQ(root->children.size(), 3U);
  EXPECT_EQ(root->text_of("B"), "<&\"A\xE2\x82\xAC");
  EXPECT_EQ(root->text_of("C"), "");
  EXPECT_EQ(root->child("D"), nullptr);
  EXPECT_EQ(xml_escape("a<b>&\"c"), "a&lt;b&gt;&amp;&quot;c");
}

TEST(Xml, RefusesWhatIsBroken) {
  std::string deep;
  for (int i = 0; i < 17; ++i) deep += "<a>";
  for (int i = 0; i < 17; ++i) deep += "</a>";
  for (const std::string& xml : {std::string(),
                                 std::string("text"),
                                 std::string("<a>"),
                                 std::string("<a></b>"),
                                 std::string("<a/><b/>"),
                                 std::string("<a>&nope;</a>"),
                                 std::string("<a>&lt</a>"),
                                 std::string("<a>&#0;</a>"),
                                 std::string("<a>&#xD800;</a>"),
                                 std::string("<a>&#x110000;</a>"),
                                 std::string("<a b></a>"),
                                 std::string("<a b=1/>"),
                                 std::string("<a b=\"1></a>"),
                                 std::string("<a b=\"<\"/>"),
                                 std::string("<a><!-- c --></a>"),
                                 std::string("<!DOCTYPE a><a/>"),
                                 std::string("<a><![CDATA[x]]></a>"),
                                 std::string("<a><?pi?></a>"),
                                 std::string("<?xml"),
                                 std::string("<1/>"),
                                 std::string("<a/>tail"),
                                 std::string("<a>\0</a>", 8),
                                 deep,
                                 std::string("<a b=\"1\"c=\"2\"/>")}) {
    const auto root = parse_xml(xml);
    ASSERT_FALSE(root) << xml;
    EXPECT_EQ(root.error().kind, ErrorKind::corrupt);
  }
}

TEST(S3Answers, ReadsLists) {
  const std::string page = R"(<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name><Prefix>deep/jobs/</Prefix><KeyCount>3</KeyCount>
<MaxKeys>3</MaxKeys><IsTruncated>true</IsTruncated><NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=</NextContinuationToken>
<Contents><Key>deep/jobs/a/original</Key><LastModified>2009-10-12T17:50:30.123Z</LastModified><ETag>&quot;fba9dede5f27731c9771645a39863328&quot;</ETag>
<Size>434234</Size><StorageClass>STANDARD</StorageClass></Contents>
<Contents><Key>deep/jobs/not ours</Key><LastModified>2009-10-12T17:50:30Z</LastModified><ETag>"x"</ETag><Size>1</Size></Contents>
<Contents><Key>deep/jobs/b</Key><LastModified>2009-10-12T17:50:30Z</LastModified><ETag>bare-2</ETag><Size>0</Size></Contents></ListBucketResult>)";
  const auto read = s3_list_page(page, "deep/");
  ASSERT_TRUE(read) << read.error().for_log;
  ASSERT_EQ(read->blobs.size(), 2U);
  EXPECT_EQ(read->blobs[0].key, "jobs/a/original");
  EXPECT_EQ(read->blobs[0].bytes, 434234);
  EXPECT_EQ(read->blobs[0].modified, 1255369830123);
  EXPECT_EQ(read->blobs[0].etag, "\"fba9dede5f27731c9771645a39863328\"");
  EXPECT_EQ(read->blobs[1].etag, "\"bare-2\"");
  EXPECT_EQ(read->next, "1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=");
}

TEST(S3Answers, RefusesListsThatMakeNoSense) {
  const auto with = [](std::string_view inside) {
    return s3_list_page("<ListBucketResult>" + std::string(inside) + "</ListBucketResult>", "p/");
  };
  EXPECT_TRUE(with("<IsTruncated>false</IsTruncated>"));
  for (const std::string_view inside :
       {"<IsTruncated>true</IsTruncated>", "<Contents><Key>q/a</Key></Contents>",
        "<Contents><Key>p/a</Key><Size>x</Size><LastModified>2009-10-12T17:50:30Z</LastModified></Contents>",
        "<Contents><Key>p/a</Key><Size>-1</Size><LastModified>2009-10-12T17:50:30Z</LastModified></Contents>",
        "<Contents><Key>p/a</Key><Size>1</Size><LastModified>yesterday</LastModified></Contents>", "<Contents>"}) {
    EXPECT_FALSE(with(inside)) << inside;
  }
  EXPECT_FALSE(s3_list_page("<html>hello</html>", ""));
}

TEST(S3Answers, ReadsUploadsAndComplaints) {
  EXPECT_EQ(s3_upload_id("<InitiateMultipartUploadResult><UploadId>VXBsb2Fk</UploadId></InitiateMultipartUploadResult>")
                .value_or("?"),
            "VXBsb2Fk");
  EXPECT_FALSE(s3_upload_id("<InitiateMultipartUploadResult/>"));
  EXPECT_FALSE(s3_upload_id("<Error><UploadId>x</UploadId></Error>"));
  EXPECT_EQ(
      s3_complete_body({{1, "\"a\""}, {2, "\"b\""}}),
      "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Part><PartNumber>1</PartNumber>"
      "<ETag>&quot;a&quot;</ETag></Part><Part><PartNumber>2</PartNumber><ETag>&quot;b&quot;</ETag></Part>"
      "</CompleteMultipartUpload>");
  const auto complaint = s3_complaint("<Error><Code>NoSuchKey</Code><Message>gone</Message></Error>");
  EXPECT_EQ(complaint.code, "NoSuchKey");
  EXPECT_EQ(complaint.message, "gone");
  EXPECT_EQ(s3_complaint("  \r\n\t <?xml version=\"1.0\"?>\n<Error><Code>InternalError</Code></Error>").code,
            "InternalError");
  EXPECT_EQ(s3_complaint("<html>bad gateway</html>").code, "");
  EXPECT_EQ(s3_complaint("<Error><Code>").code, "");
}

TEST(S3Answers, ReadsDates) {
  EXPECT_EQ(millis_from_iso8601("2026-11-15T05:49:35.5Z"), 1794721775500);
  EXPECT_EQ(millis_from_http_date("Sun, 15 Nov 2026 05:49:35 GMT"), 1794721775000);
  for (const std::string_view text :
       {"", "2026-11-15", "2026-13-15T05:49:35Z", "2026-11-15T25:49:35Z", "2026-11-15T05:49:35",
        "2026-11-15T05:49:35.Z", "2026-11-15T05:49:35Zz", "-026-11-15T05:49:35Z", "2026-02-30T05:49:35Z"}) {
    EXPECT_EQ(millis_from_iso8601(text), std::nullopt) << text;
  }
  for (const std::string_view text : {"", "Sunday, 15-Nov-26 05:49:35 GMT", "Sun, 15 Nox 2026 05:49:35 GMT",
                                      "Sun, 15 Nov 2026 05:49:35", "Sun, 32 Nov 2026 05:49:35 GMT"}) {
    EXPECT_EQ(millis_from_http_date(text), std::nullopt) << text;
  }
}

TEST(S3Verdict, SortsFailures) {
  using Then = S3Verdict::Then;
  struct Case {
    int status;
    std::string code;
    bool conditional;
    Then then;
    ErrorKind kind;
    std::string_view says;
  };
  const Case cases[] = {
      {503, "SlowDown", false, Then::again, ErrorKind::unavailable, "SlowDown"},
      {500, "InternalError", false, Then::again, ErrorKind::unavailable, ""},
      {200, "InternalError", true, Then::again, ErrorKind::unavailable, ""},
      {502, "", false, Then::again, ErrorKind::unavailable, "502"},
      {409, "ConditionalRequestConflict", true, Then::again, ErrorKind::unavailable, ""},
      {409, "", true, Then::again, ErrorKind::unavailable, ""},
      {400, "RequestTimeout", false, Then::again, ErrorKind::unavailable, ""},
      {412, "PreconditionFailed", true, Then::look, ErrorKind::conflict, ""},
      {412, "", false, Then::fail, ErrorKind::conflict, "changed"},
      {501, "NotImplemented", true, Then::unsupported, ErrorKind::unavailable, ""},
      {501, "NotImplemented", false, Then::fail, ErrorKind::unavailable, ""},
      {404, "NoSuchKey", false, Then::fail, ErrorKind::not_found, "there is no blob some/key"},
      {404, "NoSuchUpload", true, Then::fail, ErrorKind::not_found, ""},
      {404, "", false, Then::fail, ErrorKind::unavailable, "check the endpoint"},
      {404, "NoSuchWebsite", false, Then::fail, ErrorKind::unavailable, ""},
      {404, "NoSuchBucket", false, Then::fail, ErrorKind::unavailable, "no bucket 'bucket'; create it"},
      {403, "SignatureDoesNotMatch", false, Then::fail, ErrorKind::unavailable, "AWS_SECRET_ACCESS_KEY"},
      {403, "AccessDenied", false, Then::fail, ErrorKind::unavailable, "may not"},
      {403, "RequestTimeTooSkewed", false, Then::fail, ErrorKind::unavailable,
       "1200 s behind the server's; set it (NTP)"},
      {301, "PermanentRedirect", false, Then::fail, ErrorKind::unavailable, "check endpoint and region"},
      {400, "AuthorizationHeaderMalformed", false, Then::fail, ErrorKind::unavailable, "region"},
      {507, "", false, Then::fail, ErrorKind::overloaded, "no space"},
      {500, "XMinioStorageFull", false, Then::fail, ErrorKind::overloaded, "no space"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::to_string(c.status) + " " + c.code);
    const S3Verdict verdict = s3_verdict({.status = c.status,
                                          .complaint = {c.code, "words of the server"},
                                          .date = "Sun, 15 Nov 2026 05:49:35 GMT",
                                          .now = WallTime(std::chrono::seconds(1794721775 - 1200)),
                                          .key = "some/key",
                                          .bucket = "bucket",
                                          .conditional = c.conditional});
    EXPECT_EQ(verdict.then, c.then);
    EXPECT_EQ(verdict.kind, c.kind);
    EXPECT_NE(verdict.text.find(c.says), std::string::npos) << verdict.text;
  }
}

class S3Url : public testing::Test {
 protected:
  Result<S3Place> place(const std::string& url) {
    return s3_place_from(url, [this](const std::string& name) -> std::optional<std::string> {
      const auto found = environment_.find(name);
      return found == environment_.end() ? std::nullopt : std::optional(found->second);
    });
  }
  std::map<std::string, std::string> environment_ = {{"AWS_ACCESS_KEY_ID", "key"}, {"AWS_SECRET_ACCESS_KEY", "hush"}};
};

TEST_F(S3Url, IsAPlace) {
  const auto local = place("s3://bucket/deep/er/?endpoint=http://127.0.0.1:9000/&region=eu-west-1");
  ASSERT_TRUE(local) << local.error().for_log;
  EXPECT_EQ(local->endpoint, "http://127.0.0.1:9000");
  EXPECT_EQ(local->host, "127.0.0.1:9000");
  EXPECT_EQ(local->bucket, "bucket");
  EXPECT_EQ(local->prefix, "deep/er/");
  EXPECT_EQ(local->region, "eu-west-1");
  EXPECT_EQ(local->credentials.secret_key, "hush");
  EXPECT_EQ(to_string(*local).find("hush"), std::string::npos);

  environment_["AWS_REGION"] = "sa-east-1";
  const auto amazon = place("s3://bucket");
  ASSERT_TRUE(amazon) << amazon.error().for_log;
  EXPECT_EQ(amazon->endpoint, "https://s3.sa-east-1.amazonaws.com");
  EXPECT_EQ(amazon->prefix, "");
  EXPECT_EQ(place("s3://bucket?endpoint=http%3A%2F%2Fhost%3A80")->host, "host") << "the usual port is not said";
  EXPECT_EQ(place("s3://bucket?endpoint=https://host:443")->host, "host");
}

TEST_F(S3Url, TakesCredentialsFromFiles) {
  TempFolder folder;
  environment_ = {{"AWS_ACCESS_KEY_ID_FILE", folder.write("id", "from a file\n").string()},
                  {"AWS_SECRET_ACCESS_KEY_FILE", folder.write("secret", "also\n").string()}};
  const auto read = place("s3://bucket");
  ASSERT_TRUE(read) << read.error().for_log;
  EXPECT_EQ(read->credentials.access_key, "from a file");
  EXPECT_EQ(read->credentials.secret_key, "also");
  environment_["AWS_SECRET_ACCESS_KEY_FILE"] = "/nowhere/secret";
  EXPECT_NE(place("s3://bucket").error().for_caller.find("/nowhere/secret"), std::string::npos);
}

TEST_F(S3Url, SaysWhatIsWrong) {
  const std::pair<std::string, std::string_view> cases[] = {
      {"s3:bucket", "s3://BUCKET/PREFIX"},
      {"s3://", "name of a bucket"},
      {"s3://a", "name of a bucket"},
      {"s3://bucket/a b", "'a b'"},
      {"s3://bucket/../x", "prefix"},
      {"s3://key:hush@bucket/x", "AWS_ACCESS_KEY_ID"},
      {"s3://bucket?endpoint=127.0.0.1:9000", "http://"},
      {"s3://bucket?endpoint=http://", "host"},
      {"s3://bucket?endpoint=http://host/path", "host"},
      {"s3://bucket?endpoint=http://user:hush@host", "credentials"},
      {"s3://bucket?regoin=x", "did you mean 'region'"},
      {"s3://bucket?region=", "no value"},
      {"s3://bucket?region=a&region=b", "twice"},
      {"s3://bucket?region=a/b", "no region"},
      {"s3://bucket?endpoint=%zz", "no value"},
  };
  for (const auto& [url, says] : cases) {
    const auto read = place(url);
    ASSERT_FALSE(read) << url;
    EXPECT_EQ(read.error().kind, ErrorKind::invalid_input) << url;
    EXPECT_NE(read.error().for_caller.find(says), std::string::npos) << url << ": " << read.error().for_caller;
    EXPECT_EQ(read.error().for_caller.find("hush"), std::string::npos) << "no secrets in messages";
  }
  environment_.erase("AWS_SECRET_ACCESS_KEY");
  EXPECT_NE(place("s3://bucket").error().for_caller.find("AWS_SECRET_ACCESS_KEY_FILE"), std::string::npos);
}

}  // namespace
}  // namespace lectern::job
