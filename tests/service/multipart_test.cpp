#include "service/multipart.h"

#include <gtest/gtest.h>

#include <vector>

namespace lectern::service {
namespace {

struct Part {
  std::string name;
  std::optional<std::string> filename;
  std::string type;
  std::string data;
  bool ended = false;
  bool operator==(const Part&) const = default;
};
struct Parsed {
  std::vector<Part> parts;
  bool end = false;
  std::string fault;
  bool operator==(const Parsed&) const = default;
};

Parsed parse_in_steps(std::string_view bytes, std::string_view boundary, std::size_t step) {
  MultipartParser parser(boundary);
  Parsed parsed;
  for (;;) {
    MultipartParser::Event event = parser.next();
    if (std::holds_alternative<MultipartParser::NeedMore>(event)) {
      if (bytes.empty()) return parsed;
      parser.feed(bytes.substr(0, step));
      bytes.remove_prefix(std::min(step, bytes.size()));
    } else if (auto* part = std::get_if<MultipartParser::PartBegins>(&event)) {
      parsed.parts.push_back({part->name, part->filename, part->content_type, "", false});
    } else if (const auto* data = std::get_if<MultipartParser::Data>(&event)) {
      EXPECT_FALSE(data->bytes.empty());
      parsed.parts.back().data += data->bytes;
    } else if (std::holds_alternative<MultipartParser::PartEnds>(event)) {
      parsed.parts.back().ended = true;
    } else if (const auto* fault = std::get_if<MultipartParser::Fault>(&event)) {
      parsed.fault = fault->what;
      return parsed;
    } else {
      parsed.end = true;
      return parsed;
    }
  }
}

Parsed parse(std::string_view bytes, std::string_view boundary = "B") {
  const Parsed whole = parse_in_steps(bytes, boundary, bytes.size() + 1);
  for (const std::size_t step : {1U, 2U, 3U, 5U, 17U}) {
    const Parsed again = parse_in_steps(bytes, boundary, step);
    EXPECT_EQ(again.fault, whole.fault) << "in steps of " << step;
    EXPECT_EQ(again.end, whole.end) << "in steps of " << step;
    EXPECT_TRUE(again.parts == whole.parts) << "in steps of " << step;
  }
  return whole;
}

TEST(Multipart, FieldsAndAFile) {
  const Parsed parsed = parse(
      "--B\r\nContent-Disposition: form-data; name=\"pages\"\r\n\r\n1-3\r\n"
      "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\nContent-Type: "
      "application/pdf\r\n\r\n"
      "%PDF\r\n--not the boundary\r\n\r\n--Bye\r"
      "\r\n--B--\r\nepilogue");
  EXPECT_EQ(parsed.fault, "a boundary of the multipart body does not end its line");  // "--Bye" begins like one
  const Parsed good = parse(
      "preamble\r\n--B\r\nContent-Disposition: form-data; name=\"pages\"\r\n\r\n1-3\r\n"
      "--B  \r\ncontent-disposition: FORM-DATA; filename=a.pdf; name=file\r\nContent-Type: application/pdf\r\n\r\n"
      "%PDF\r\n--not the boundary\r\n\r\n-\r"
      "\r\n--B--\r\nepilogue");
  EXPECT_EQ(good.fault, "");
  EXPECT_TRUE(good.end);
  ASSERT_EQ(good.parts.size(), 2U);
  EXPECT_EQ(good.parts[0], (Part{"pages", std::nullopt, "", "1-3", true}));
  EXPECT_EQ(good.parts[1], (Part{"file", "a.pdf", "application/pdf", "%PDF\r\n--not the boundary\r\n\r\n-\r", true}));
}

TEST(Multipart, EmptyBodies) {
  const std::string head = "--B\r\nContent-Disposition: form-data; name=a\r\n\r\n";
  EXPECT_EQ(parse(head + "\r\n--B--").parts.at(0), (Part{"a", std::nullopt, "", "", true}));
  EXPECT_EQ(parse(head + "--B--").parts.at(0),
            (Part{"a", std::nullopt, "", "", true}));  // some clients leave the line out
  EXPECT_EQ(parse(head + "\r\n\r\n--B--").parts.at(0).data, "\r\n");
}

TEST(Multipart, Names) {
  const auto file_name = [](std::string_view disposition) {
    const Parsed parsed =
        parse("--B\r\nContent-Disposition: form-data; name=file; " + std::string(disposition) + "\r\n\r\nx\r\n--B--");
    EXPECT_EQ(parsed.fault, "");
    return parsed.parts.empty() ? "" : parsed.parts[0].filename.value_or("none");
  };
  EXPECT_EQ(file_name("filename=\"a \\\"b\\\" c.pdf\""), "a \"b\" c.pdf");
  EXPECT_EQ(file_name("filename=\"a%22b.pdf\""), "a\"b.pdf");
  EXPECT_EQ(file_name("filename=\"C:\\dir\\a.pdf\""), "C:\\dir\\a.pdf");
  EXPECT_EQ(file_name("filename=x.pdf; filename*=UTF-8''na%C3%AFve.pdf"), "naïve.pdf");
  EXPECT_EQ(file_name("filename*=ISO-8859-1''a"), "none");
  EXPECT_EQ(file_name("filename=\"a;b=c.pdf\""), "a;b=c.pdf");
}

TEST(Multipart, WhatIsRefused) {
  const std::string part = "--B\r\nContent-Disposition: form-data; name=a\r\n\r\n";
  const std::pair<std::string, std::string_view> cases[] = {
      {"--B\r\nContent-Disposition: form-data\r\n\r\nx\r\n--B--", "a part has no name"},
      {"--B\r\n\r\nx\r\n--B--", "a part has no name"},
      {"--B\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--B--",
       "a part's Content-Disposition is not form-data"},
      {"--B\r\nContent-Disposition: form-data; name=\"a\r\n\r\nx\r\n--B--",
       "a part's Content-Disposition is not form-data"},
      {"--B\r\nno colon\r\n\r\nx\r\n--B--", "a part has a header that is not 'name: value'"},
      {"--B\r\nContent-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64\r\n\r\nx\r\n--B--",
       "parts must be sent as they are, without a Content-Transfer-Encoding"},
      {part + "x\r\n--Bx\r\n", "a boundary of the multipart body does not end its line"},
      {"--B\r\nX: " + std::string(9'000, 'a') + "\r\n\r\n", "the headers of a part are too long"},
      {std::string(5'000, 'p'), "the first boundary of the multipart body does not come"},
  };
  for (const auto& [bytes, fault] : cases) EXPECT_EQ(parse(bytes).fault, fault) << bytes.substr(0, 80);
  std::string many;
  for (int i = 0; i < 65; ++i) many += part + "x\r\n";
  EXPECT_EQ(parse(many).fault, "the multipart body has too many parts");
}

TEST(Multipart, ATruncatedBodyNeverEnds) {
  const std::string whole = "--B\r\nContent-Disposition: form-data; name=a\r\n\r\nvalue\r\n--B--";
  for (std::size_t length = 0; length < whole.size() - 1; ++length) {
    const Parsed parsed = parse_in_steps(whole.substr(0, length), "B", 7);
    EXPECT_FALSE(parsed.end) << length;
    EXPECT_EQ(parsed.fault, "") << length;
  }
}

TEST(Multipart, Boundaries) {
  EXPECT_EQ(multipart_boundary("multipart/form-data; boundary=abc"), "abc");
  EXPECT_EQ(multipart_boundary("Multipart/Form-Data; charset=utf-8; boundary=\"a b\""), "a b");
  EXPECT_FALSE(multipart_boundary("multipart/form-data"));
  EXPECT_FALSE(multipart_boundary("multipart/mixed; boundary=abc"));
  EXPECT_FALSE(multipart_boundary("multipart/form-data; boundary=\"\""));
  EXPECT_FALSE(multipart_boundary("multipart/form-data; boundary=" + std::string(71, 'a')));
}

TEST(Multipart, DocumentNames) {
  EXPECT_EQ(document_name("a.pdf"), "a.pdf");
  EXPECT_EQ(document_name("../../etc/passwd"), "passwd");
  EXPECT_EQ(document_name("C:\\dir\\a.pdf"), "a.pdf");
  EXPECT_EQ(document_name("a\r\nb\x1b.pdf"), "ab.pdf");
  EXPECT_EQ(document_name(".."), "document");
  EXPECT_EQ(document_name(""), "document");
  EXPECT_EQ(document_name("caf\xe9.pdf"), "caf_.pdf");
  EXPECT_EQ(document_name(std::string(254, 'a') + "ä").size(), 254U);
}

}  // namespace
}  // namespace lectern::service
