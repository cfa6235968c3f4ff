#include "cli/engine_slots.h"

#include <nlohmann/json.hpp>

#include "provider/openai_address.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds patience{2};

}  // namespace

EngineSlots::EngineSlots(std::shared_ptr<provider::HttpClient> client, const std::string& address, int slots)
    : client_(std::move(client)), slots_(slots) {
  const auto parsed = provider::parse_engine_address(address);
  if (!parsed || !parsed->unix_socket.empty()) return;
  root_ = parsed->root;
}

asio::awaitable<std::optional<std::string>> EngineSlots::ask(std::string method, std::string path) {
  if (root_.empty()) co_return std::nullopt;
  provider::HttpRequest request{.method = std::move(method), .url = root_ + path, .peer = root_};
  auto answer = co_await client_->send(std::move(request), {}, Deadline::after(patience, system_clock()), {});
  if (!answer || answer->head.status != 200) co_return std::nullopt;
  co_return std::move(answer->body);
}

asio::awaitable<void> EngineSlots::start() {
  has_account_ = slots_ > 0 && (co_await ask("POST", "/sim/reset")).has_value();
  busy_ = 0;
  looks_ = 0;
}

asio::awaitable<void> EngineSlots::sample() {
  if (has_account_) co_return;
  const auto text = co_await ask("GET", "/slots");
  if (!text) co_return;
  const auto slots = nlohmann::json::parse(*text, nullptr, false);
  if (!slots.is_array() || slots.empty()) co_return;
  double busy = 0;
  for (const auto& slot : slots) busy += slot.is_object() && slot.value("is_processing", false) ? 1 : 0;
  busy_ += busy / static_cast<double>(slots.size());
  ++looks_;
}

asio::awaitable<std::optional<double>> EngineSlots::utilisation() {
  if (!has_account_) co_return looks_ > 0 ? std::optional(busy_ / looks_) : std::nullopt;
  const auto text = co_await ask("GET", "/sim/stats");
  if (!text) co_return std::nullopt;
  const auto stats = nlohmann::json::parse(*text, nullptr, false);
  if (!stats.is_object()) co_return std::nullopt;
  const double span_s = stats.value("span_s", 0.0);
  if (span_s <= 0) co_return std::nullopt;
  co_return stats.value("slot_busy_s", 0.0) / (slots_ * span_s);
}

}  // namespace lectern::cli
