#include "qos/residues.h"

#include <algorithm>
#include <bit>

namespace heddle::qos {
namespace {

constexpr std::int64_t word_bits = 64;
constexpr std::int64_t most_members = 128;

/// Nearly always of small numbers, which are divided several times as fast.
std::int64_t residue_of(std::int64_t a, std::int64_t b) {
  if (static_cast<std::uint64_t>(a) < std::uint64_t{1} << 32U)
    return static_cast<std::uint32_t>(a) % static_cast<std::uint32_t>(b);
  const std::int64_t rest = a % b;
  return rest < 0 ? rest + b : rest;
}

}  // namespace

std::int64_t ahead(Progression of, std::int64_t from, std::int64_t enough) {
  // The least of (value + i x step) mod m for i = 0 .. last. Whenever the sum passes m it starts anew below
  // step, at a value that is one of a progression modulo step itself.
  std::int64_t m = of.modulus;
  std::int64_t value = residue_of(of.first - from, m);
  std::int64_t step = of.step;
  std::int64_t last = of.count - 1;
  std::int64_t least = value;
  while (least >= enough && step != 0 && last > 0) {
    if (2 * step > m) {  // the same from its end: steps of less than half the modulus
      value = (value + step * last) % m;
      step = m - step;
      least = std::min(least, value);
    }
    const std::int64_t times = (step * last + value) / m;
    if (times == 0) break;
    // After passing m for the k-th time: (value - k m) mod step, k = 1 .. times.
    value = residue_of(value - m, step);
    const std::int64_t shrunk = residue_of(-m, step);
    m = step;
    step = shrunk;
    last = times - 1;
    least = std::min(least, value);
  }
  return least;
}

std::int64_t behind(const Progression& of, std::int64_t from) {
  const std::int64_t m = of.modulus;
  return ahead({residue_of(-of.first, m), residue_of(-of.step, m), of.count, m}, residue_of(-from, m));
}

void ResidueSet::begin(std::int64_t modulus, std::int64_t most) {
  modulus_ = modulus;
  size_ = 0;
  members_.clear();
  words_.clear();
  if (most > most_members) words_.assign(static_cast<std::size_t>((modulus + word_bits - 1) / word_bits), 0);
}

void ResidueSet::add(const Progression& residues) {
  auto residue = static_cast<std::uint64_t>(residues.first);
  const auto step = static_cast<std::uint64_t>(residues.step);
  const auto modulus = static_cast<std::uint64_t>(modulus_);
  for (std::int64_t left = std::min(residues.count, modulus_); left > 0; --left) {
    if (is_dense()) {
      words_[residue / word_bits] |= std::uint64_t{1} << residue % word_bits;
    } else {
      members_.push_back(static_cast<std::int64_t>(residue));
    }
    residue += step;
    residue -= residue >= modulus ? modulus : 0;
  }
}

void ResidueSet::end() {
  if (is_dense()) {
    for (const auto word : words_) size_ += std::popcount(word);
    return;
  }
  std::ranges::sort(members_);
  members_.erase(std::unique(members_.begin(), members_.end()), members_.end());
  size_ = static_cast<std::int64_t>(members_.size());
}

std::int64_t ResidueSet::ahead(std::int64_t from) const {
  const std::int64_t start = residue_of(from, modulus_);
  if (!is_dense()) {
    const auto next = std::ranges::lower_bound(members_, start);
    return next == members_.end() ? members_.front() + modulus_ - start : *next - start;
  }
  const auto count = words_.size();
  auto at = static_cast<std::size_t>(start / word_bits);
  std::uint64_t word = words_[at] & ~std::uint64_t{0} << static_cast<unsigned>(start % word_bits);
  std::int64_t base = static_cast<std::int64_t>(at) * word_bits;
  while (word == 0) {
    base += word_bits;
    if (++at == count) {
      at = 0;
      base = modulus_;  // the next round begins here
    }
    word = words_[at];
  }
  return base + std::countr_zero(word) - start;
}

std::int64_t ResidueSet::behind(std::int64_t from) const {
  const std::int64_t start = residue_of(from, modulus_);
  if (!is_dense()) {
    const auto next = std::ranges::upper_bound(members_, start);
    return next == members_.begin() ? start + modulus_ - members_.back() : start - *std::prev(next);
  }
  auto at = static_cast<std::size_t>(start / word_bits);
  std::uint64_t word =
      words_[at] & ~std::uint64_t{0} >> static_cast<unsigned>(word_bits - 1 - start % word_bits);
  std::int64_t base = static_cast<std::int64_t>(at) * word_bits;
  while (word == 0) {
    if (at == 0) {
      at = words_.size();
      base = static_cast<std::int64_t>(at) * word_bits - modulus_;  // of the round before
    }
    --at;
    base -= word_bits;
    word = words_[at];
  }
  return start - base - (word_bits - 1 - std::countl_zero(word));
}

}  // namespace heddle::qos
