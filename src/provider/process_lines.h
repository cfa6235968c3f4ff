// The lines that we exchange with a program (docs/process-providers.md): values on our side, JSON on its side.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "provider/http_body.h"
#include "provider/provider.h"

namespace lectern::provider {

struct ReadyLine {
  std::string model;
  bool batch = false;
  std::optional<int> batch_max;  // what it can take at once, where it knows
  int parallel = 1;              // requests that it works on at the same time
};
struct CannotStartLine {
  std::string message;
};
struct PieceLine {
  std::uint64_t id = 0;
  std::size_t index = 0;
  std::string text;
};
struct AnswerLine {
  std::uint64_t id = 0;
  std::size_t index = 0;
  std::optional<std::string> text;  // nullopt: the pieces were all of it
  FinishReason finish = FinishReason::unknown;
  std::optional<Usage> usage;
  std::optional<double> mean_logprob;
};
struct ErrorLine {
  std::uint64_t id = 0;
  std::optional<std::size_t> index;  // nullopt: of all that are not answered yet
  FailureReason reason = FailureReason::engine_failed;
  std::string message;
};
using ProgramLine = std::variant<ReadyLine, CannotStartLine, PieceLine, AnswerLine, ErrorLine>;

// Errors: what is wrong with the line, in a few words ("it is no JSON object").
std::expected<ProgramLine, std::string> parse_program_line(std::string_view line);

// One prompt of a request as JSON text, pictures as pieces that are encoded only while they go out. Failures:
// bad_request for a schema or extra_body that is no JSON object, bad_image for a picture without bytes.
std::expected<std::vector<BodyPiece>, Failure> prompt_pieces(const Prompt& prompt, const std::string& model,
                                                             bool stream);
// The request line, its end of line included. The prompts' pieces share their pictures.
HttpBody request_line(std::uint64_t id, std::span<const std::vector<BodyPiece>* const> prompts);
std::string cancel_line(std::uint64_t id, std::optional<std::size_t> index);

// For a message: at most `bytes_max` of it, without control characters or broken UTF-8.
std::string clean_text(std::string_view text, std::size_t bytes_max = 200);

}  // namespace lectern::provider
