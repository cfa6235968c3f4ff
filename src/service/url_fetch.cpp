#include "service/url_fetch.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "service/http/parameters.h"

namespace lectern::service {
namespace {

namespace asio = boost::asio;
using provider::HttpAnswer;
using provider::HttpHead;
using provider::WebAddress;

std::unexpected<Error> refuse(std::string text) {
  return fail(ErrorKind::invalid_input, std::move(text));
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

Status check_address(const WebAddress& address) {
  if (address.credentials) return refuse("the URL must not hold a user name or a password");
  return {};
}

// One answer on its way into a blob. Kept by those who fill it: the call and its listeners.
struct Download {
  job::Blobs* blobs;
  CpuPool* cpu;
  std::string key;
  std::int64_t bytes_max = 0;

  HttpHead head;
  std::unique_ptr<job::BlobWriter> writer;  // once there is a first byte to keep
  std::shared_ptr<Sha256> hash = std::make_shared<Sha256>();
  std::int64_t bytes = 0;
  std::optional<Error> error;

  bool wanted() const { return head.status == 200; }
};

std::unexpected<Error> too_large(std::int64_t bytes_max) {
  return refuse(fmt::format("the document at the URL has more than {} bytes", bytes_max));
}

// What the head says is enough to refuse some.
Status check_head(const HttpHead& head, std::int64_t bytes_max) {
  if (is_redirect(head.status)) return {};
  if (head.status != 200) return refuse(fmt::format("the server of the URL answered {}", head.status));
  const std::string_view encoding = head.header("content-encoding");
  if (!encoding.empty() && encoding != "identity") {
    return refuse(fmt::format("the server of the URL sends it encoded ({}), which nobody asked for", encoding));
  }
  std::int64_t size = 0;
  const std::string_view length = head.header("content-length");
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), size);
  if (error == std::errc{} && end == length.data() + length.size() && size > bytes_max) return too_large(bytes_max);
  return {};
}

asio::awaitable<Status> keep(std::shared_ptr<Download> download, std::string piece) {
  download->bytes += static_cast<std::int64_t>(piece.size());
  if (download->bytes > download->bytes_max) co_return too_large(download->bytes_max);
  if (!download->writer) {
    auto writer = co_await download->blobs->writer(download->key, job::PutMode::create_only);
    if (!writer) co_return std::unexpected(writer.error());
    download->writer = std::move(*writer);
  }
  const auto shared = std::make_shared<std::string>(std::move(piece));
  auto update = [hash = download->hash, shared] {
    hash->update(std::string_view(*shared));
    return Status{};
  };
  std::ignore = co_await download->cpu->run(std::move(update));
  co_return co_await download->writer->write(std::move(*shared));
}

asio::awaitable<bool> take(std::shared_ptr<Download> download, std::string piece) {
  if (!download->wanted() || download->error) co_return false;
  if (auto kept = co_await keep(download, std::move(piece)); !kept) {
    download->error = kept.error();
    co_return false;
  }
  co_return true;
}

// What went wrong on the way, for whoever gave the URL: without what our resolver knows.
Error error_of(const provider::Failure& failure) {
  using enum provider::FailureReason;
  Error error{ErrorKind::invalid_input, failure.message, "the server of the URL cannot be reached"};
  switch (failure.reason) {
    case bad_request:
      error.for_caller = "the URL leads to an address that this server does not connect to";
      break;
    case cancelled:
      error.kind = ErrorKind::cancelled;
      break;
    case timed_out:
      error.kind = ErrorKind::timeout;
      error.for_caller = "the server of the URL takes too long";
      break;
    case connection_lost:
      error.for_caller = "the server of the URL closed the connection in the middle";
      break;
    case bad_reply:
      error.for_caller = "the server of the URL does not speak HTTP";
      break;
    default:
      break;
  }
  return error;
}

class GuardedFetcher final : public UrlFetcher {
 public:
  GuardedFetcher(UrlFetchOptions options, std::shared_ptr<provider::HttpClient> http, job::Blobs& blobs, CpuPool& cpu)
      : options_(std::move(options)), http_(std::move(http)), blobs_(blobs), cpu_(cpu) {}

  asio::awaitable<Result<Fetched>> fetch(FetchRequest request) override {
    auto address = provider::parse_web_address(request.url);
    const Deadline deadline = Deadline::after(options_.time_max, system_clock());
    for (int redirects = 0; address; ++redirects) {
      if (auto status = check_address(*address); !status) co_return std::unexpected(status.error());
      auto download = std::make_shared<Download>();
      download->blobs = &blobs_;
      download->cpu = &cpu_;
      download->key = request.key;
      download->bytes_max = request.bytes_max;
      if (auto status = co_await receive(download, *address, deadline, request.cancellation); !status) {
        co_return std::unexpected(status.error());
      }
      if (!is_redirect(download->head.status)) co_return co_await finish(download, *address);
      if (redirects == options_.redirects_max) {
        co_return refuse(fmt::format("the URL redirects more than {} times", options_.redirects_max));
      }
      auto next = provider::redirected(*address, std::string(download->head.header("location")));
      if (next && address->scheme == "https" && next->scheme != "https") {
        co_return refuse("the URL redirects from https to http");
      }
      if (!next) co_return refuse("the URL redirects to something that is no address of the web");
      address = std::move(next);
    }
    co_return std::unexpected(address.error());
  }

 private:
  asio::awaitable<Status> receive(std::shared_ptr<Download> download, WebAddress address, Deadline deadline,
                                  Cancellation cancellation) {
    provider::HttpRequest request;
    request.url = address.url;
    request.peer = address.host;
    request.headers = {"Accept: */*", "Accept-Encoding: identity"};
    request.transport = guarded_transport(options_.guard, address);
    request.transport.ca_file = options_.ca_file;
    request.transport.stall_timeout = options_.stall_timeout;
    provider::HttpHandlers handlers;
    handlers.on_head = [download](const HttpHead& head) {
      download->head = head;
      if (auto status = check_head(head, download->bytes_max); !status) download->error = status.error();
    };
    handlers.on_piece = [download](std::string piece) { return take(download, std::move(piece)); };
    const HttpAnswer answer = co_await http_->send(std::move(request), std::move(handlers), deadline, cancellation);
    if (download->error) co_return std::unexpected(*download->error);
    if (!answer) co_return std::unexpected(error_of(answer.error()));
    co_return Status{};
  }

  static asio::awaitable<Result<Fetched>> finish(std::shared_ptr<Download> download, WebAddress address) {
    if (!download->writer) co_return refuse("there is nothing at the URL: its document is empty");
    const auto info = co_await download->writer->commit();
    if (!info) co_return std::unexpected(info.error());
    co_return Fetched{.bytes = download->bytes,
                      .sha256 = to_hex(download->hash->finish()),
                      .name = fetched_name(download->head.header("content-disposition"), address)};
  }

  const UrlFetchOptions options_;
  const std::shared_ptr<provider::HttpClient> http_;
  job::Blobs& blobs_;
  CpuPool& cpu_;
};

}  // namespace

provider::HttpTransport guarded_transport(const UrlGuard& guard, const WebAddress& address) {
  provider::HttpTransport transport;
  transport.connect_timeout = std::chrono::milliseconds(10'000);
  transport.proxy = "none";
  transport.admits = [guard, host = address.host](const std::string& ip) { return guard.admits(host, ip); };
  return transport;
}

std::string fetched_name(std::string_view content_disposition, const WebAddress& address) {
  if (const auto parsed = http::parse_parameters(content_disposition)) {
    std::string plain;
    for (const auto& [name, value] : parsed->parameters) {
      // RFC 6266: the form with a character set wins.
      const std::size_t quotes = value.find("''");
      if (name == "filename*" && quotes != std::string::npos)
        return provider::percent_decoded(value.substr(quotes + 2));
      if (name == "filename") plain = value;
    }
    if (!plain.empty()) return plain;
  }
  return provider::percent_decoded(std::string_view(address.path).substr(address.path.rfind('/') + 1));
}

std::unique_ptr<UrlFetcher> make_url_fetcher(UrlFetchOptions options, std::shared_ptr<provider::HttpClient> http,
                                             job::Blobs& blobs, CpuPool& cpu) {
  return std::make_unique<GuardedFetcher>(std::move(options), std::move(http), blobs, cpu);
}

}  // namespace lectern::service
