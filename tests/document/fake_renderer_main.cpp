// A renderer that misbehaves on purpose. It speaks the real protocol through the real serving loop; what its document
// holds is a list of switches, and it does as they say:
//   pages=10 crash=3 hang=5 garbage=2 oversized=4 truncated=6 wrong-call=7 lie=8 error=9 memory=1 exit=2 grow=64
// (a number is the page at which it happens, in inspect; `grow` is how many MiB each page leaves behind).
//   open-crash, open-hang: at the opening itself. crash-after-look=3: at what comes after looking at it. chroma=2: the
//   page comes with its colours apart. name-yourself: pages show which process made them. kill-host=3: whoever asked
//   for the page dies of it.
// The path of PDFium is used as a switch as well: exit-at-start, no-hello, error-at-start, noise-at-start.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "document/protocol.h"
#include "document/render/arguments.h"
#include "document/render/serve.h"

namespace lectern::document {
namespace {

using Switches = std::map<std::string, int>;

Switches read_switches(int fd) {
  std::string text(4096, '\0');
  const ssize_t got = pread(fd, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  Switches switches;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string word = text.substr(at, end - at);
    const std::size_t equals = word.find('=');
    if (!word.empty()) {
      switches[word.substr(0, equals)] = equals == std::string::npos ? 1 : std::atoi(word.c_str() + equals + 1);
    }
    at = end + 1;
  }
  return switches;
}

void send_raw(const void* bytes, std::size_t size) {
  [[maybe_unused]] const ssize_t sent = write(renderer_socket_fd, bytes, size);
}

[[noreturn]] void hang() {
  for (;;) pause();
}

// As a character or a pixel: no two renderers of a test have the same.
char32_t own_name() {
  return static_cast<char32_t>(getpid() % 250 + 1);
}

[[noreturn]] void crash() {
  signal(SIGSEGV, SIG_DFL);  // a sanitizer would turn it into an exit status
  raise(SIGSEGV);
  std::abort();
}

class FakeBackend : public Backend {
 public:
  explicit FakeBackend(Switches switches) : switches_(std::move(switches)) {
    info_.kind = DocumentKind::pdf;
    info_.pages = switches_.contains("pages") ? switches_["pages"] : 10;
    info_.title = "fake";
  }
  const DocumentInfo& info() const override { return info_; }

  Result<PageContent> inspect(int page_number) override {
    ++calls_;  // of this document, in this renderer: the call's number as the host counts it is one more (the opening)
    const auto is = [&](const char* name) { return switches_.contains(name) && switches_.at(name) == page_number; };
    if (is("crash")) crash();
    if (is("hang")) hang();
    if (is("exit")) _exit(7);
    if (is("memory")) _exit(exit_out_of_memory);
    if (is("kill-host")) kill(getppid(), SIGKILL);
    if (is("close-socket")) {
      close(renderer_socket_fd);
      hang();
    }
    if (is("error")) return fail(ErrorKind::corrupt, "the drawing is broken");
    if (is("garbage")) {
      const std::string noise(64, '\xEE');
      send_raw(noise.data(), noise.size());
      hang();
    }
    if (is("wrong-call")) return send_header_and_hang({protocol::MessageType::content, 4711, 0});
    if (is("oversized")) return send_header_and_hang({protocol::MessageType::content, calls_ + 1, 0x7FFFFFFF});
    if (is("truncated")) {
      send_header({protocol::MessageType::content, calls_ + 1, 1000});
      send_raw("half", 4);
      _exit(0);
    }
    if (is("wrong-page")) page_number += 1;
    if (switches_.contains("grow")) {
      auto* leak = new std::vector<char>(static_cast<std::size_t>(switches_.at("grow")) << 20, 'x');
      leaks_.push_back(leak);
    }
    PageContent content;
    content.page_number = page_number;
    content.size = {612, 792};
    content.fonts.push_back({.name = "Fake"});
    content.chars.push_back({.code = switches_.contains("name-yourself") ? own_name() : U'p'});
    if (is("crash-after-look")) crash_next_ = true;
    return content;
  }

  Result<Rendered> render(const RenderRequest& request) override {
    ++calls_;
    if (crash_next_) crash();
    Rendered rendered;
    rendered.image = image::Image(30, 20, request.format);
    rendered.image.pixels.assign(rendered.image.pixels.size(), static_cast<std::uint8_t>(request.page_number));
    rendered.image.dpi = 72;
    if (switches_.contains("name-yourself")) {
      rendered.image.pixels.assign(rendered.image.pixels.size(), static_cast<std::uint8_t>(own_name()));
    }
    if (switches_.contains("chroma") && switches_["chroma"] == request.page_number) {
      rendered.image = image::Image(30, 20, image::PixelFormat::gray8, static_cast<std::uint8_t>(request.page_number));
      rendered.image.dpi = 72;
      rendered.chroma = image::Chroma{.blue = image::Image(15, 10, image::PixelFormat::gray8, 100),
                                      .red = image::Image(15, 10, image::PixelFormat::gray8, 200)};
    }
    rendered.width_px = 30;
    rendered.height_px = 20;
    if (switches_.contains("lie") && switches_["lie"] == request.page_number) rendered.height_px = 200'000;
    if (switches_.contains("lie-jpeg") && switches_["lie-jpeg"] == request.page_number) {
      rendered.jpeg = {1, 2, 3, 4};
      rendered.path = RenderPath::passthrough;
    }
    return rendered;
  }

 private:
  static void send_header(const protocol::Header& header) {
    auto bytes = protocol::encode_header(header);
    send_raw(bytes.data(), bytes.size());
  }
  static Result<PageContent> send_header_and_hang(const protocol::Header& header) {
    send_header(header);
    hang();
  }

  Switches switches_;
  DocumentInfo info_;
  std::uint32_t calls_ = 0;
  bool crash_next_ = false;
  std::vector<std::vector<char>*> leaks_;
};

Result<std::unique_ptr<Backend>> open_fake(const OpenOptions& options) {
  Switches switches = read_switches(options.fd);
  if (switches.contains("open-crash")) crash();
  if (switches.contains("open-hang")) hang();
  if (switches.contains("password") && options.password != "secret") {
    return fail(ErrorKind::invalid_input, "needs a password");
  }
  return std::make_unique<FakeBackend>(std::move(switches));
}

}  // namespace
}  // namespace lectern::document

int main(int argc, char** argv) {
  using namespace lectern::document;
  const auto arguments = parse_arguments({argv, static_cast<std::size_t>(argc)});
  if (!arguments) return 2;
  ServeOptions options;
  options.window_bytes = arguments->window_bytes;
  options.open = open_fake;
  if (arguments->pdfium == "exit-at-start") {
    const char said[] = "error while loading shared libraries: libnothing.so\n";
    [[maybe_unused]] const ssize_t wrote = write(STDERR_FILENO, said, sizeof said - 1);
    return 127;
  }
  if (arguments->pdfium == "noise-at-start") send_raw("not a header at all", 19);
  if (arguments->pdfium == "no-hello") hang();
  if (arguments->pdfium == "error-at-start") {
    send_start_error(options, {lectern::ErrorKind::not_found, "PDFium is missing", "PDFium is missing"});
    return 1;
  }
  _exit(serve(options, {}));
}
