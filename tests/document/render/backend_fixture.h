// Opens documents that a test has in memory, in this process.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <span>
#include <string>
#include <string_view>

#include "document/render/backend.h"

namespace lectern::document {

inline int memory_file(std::string_view bytes) {
  const int fd = memfd_create("document", MFD_CLOEXEC);
  if (write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) ADD_FAILURE() << "memory file";
  return fd;
}

class BackendTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Status loaded = pdfium_load("");
    ASSERT_TRUE(loaded.has_value()) << loaded.error().for_log;
  }

  Result<std::unique_ptr<Backend>> open(std::string_view bytes, OpenOptions options = {}) {
    const int fd = memory_file(bytes);
    options.fd = fd;
    auto backend = open_backend(options);
    close(fd);  // a backend keeps what it needs
    return backend;
  }

  std::unique_ptr<Backend> must_open(std::string_view bytes, OpenOptions options = {}) {
    auto backend = open(bytes, std::move(options));
    if (!backend) {
      ADD_FAILURE() << backend.error().for_log;
      return nullptr;
    }
    return std::move(*backend);
  }
};

inline std::string_view as_text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// What a page says, generated blanks included.
inline std::string text_of(const PageContent& page) {
  std::string text;
  for (const Char& c : page.chars) {
    if (c.code < 0x80) text += static_cast<char>(c.code);
  }
  return text;
}

}  // namespace lectern::document
