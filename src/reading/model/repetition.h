// Notices that a model has fallen into a loop while its answer still streams in, for any model and language.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace lectern::reading {

struct Repetition {
  std::size_t begins_at = 0;  // byte of the text where the loop began: what stands before it is sound
  std::string unit;           // what is repeated, shortened for people
  int times = 0;
};

// Fed with pieces as they arrive; cheap enough for each token. A loop is noticed within 512 tokens (about 2,000
// characters) of its onset: the same unit again and again (characters, words, lines, table rows, also with a number
// that counts up). What real documents repeat is no loop: rows of empty cells, dot leaders, rules, the same value in
// many rows.
class RepetitionDetector {
 public:
  RepetitionDetector();
  ~RepetitionDetector();
  RepetitionDetector(RepetitionDetector&&) noexcept;
  RepetitionDetector& operator=(RepetitionDetector&&) noexcept;

  // True once a loop was found; further pieces are then ignored.
  bool add(std::string_view piece);
  const Repetition* found() const;
  void reset();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lectern::reading
