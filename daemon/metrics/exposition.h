/// The text of one scrape, piece by piece: whole, that of a large fabric takes more memory than the rest of
/// the daemon. Reads immutable things only, so it may be driven from any thread and at any pace while
/// sampling goes on.
#pragma once

#include <cstddef>
#include <string>

#include "metrics/families.h"

namespace heddle::metrics {

class Exposition {
 public:
  /// `daemon` comes first, as it is. `source.sample` may be null: then no more than an end comes.
  Exposition(std::string daemon, Source source);

  /// Appends at least `least` bytes, and little more, to `out`. False when that was the end.
  bool next(std::string& out, std::size_t least = 64U << 10U);
  /// All that is left at once.
  [[nodiscard]] std::string rest();

 private:
  std::string daemon_;
  Source source_;
  std::size_t family_ = 0;
  std::size_t node_ = 0;
  bool headed_ = false;  ///< of the family under way
  bool ended_ = false;
};

}  // namespace heddle::metrics
