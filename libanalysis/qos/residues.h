/// Sets of residues of one modulus, and what is next in them: how places of the grant orbit and positions of
/// the low sequence are tied to each other. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace heddle::qos {

/// first, first + step, ... modulo `modulus`: `count` of them. 0 <= first, step < modulus < 2^31, count <
/// 2^31.
struct Progression {
  std::int64_t first = 0;
  std::int64_t step = 0;
  std::int64_t count = 0;
  std::int64_t modulus = 1;
};

/// The least of (x - from) modulo the modulus, over the x of a progression that is not empty: how far ahead
/// of `from` the next one is. May stop at the first value below `enough`. Takes the steps of Euclid's
/// algorithm.
[[nodiscard]] std::int64_t ahead(Progression of, std::int64_t from, std::int64_t enough = 0);
/// The least of (from - x).
[[nodiscard]] std::int64_t behind(const Progression& of, std::int64_t from);

/// A set that is asked many times.
class ResidueSet {
 public:
  /// Empty, for at most `most` residues.
  void begin(std::int64_t modulus, std::int64_t most);
  void add(const Progression& residues);
  void end();

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] bool full() const { return size_ == modulus_; }
  /// As above. Precondition: not empty.
  [[nodiscard]] std::int64_t ahead(std::int64_t from) const;
  [[nodiscard]] std::int64_t behind(std::int64_t from) const;

 private:
  [[nodiscard]] bool is_dense() const { return !words_.empty(); }

  std::int64_t modulus_ = 1;
  std::int64_t size_ = 0;
  std::vector<std::uint64_t> words_;   ///< bits, of a large set
  std::vector<std::int64_t> members_;  ///< sorted, of a small one
};

}  // namespace heddle::qos
