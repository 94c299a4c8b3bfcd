#include "qos/residues.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace heddle::qos {
namespace {

std::vector<std::int64_t> members(const Progression& of) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < of.count; ++i) out.push_back((of.first + i * of.step) % of.modulus);
  return out;
}

Progression any_progression() {
  const auto modulus = *rc::gen::inRange<std::int64_t>(1, 700);
  return {*rc::gen::inRange<std::int64_t>(0, modulus), *rc::gen::inRange<std::int64_t>(0, modulus),
          *rc::gen::inRange<std::int64_t>(1, 800), modulus};
}

std::int64_t by_hand(const std::vector<std::int64_t>& all, std::int64_t modulus, std::int64_t from,
                     int sign) {
  std::int64_t least = modulus;
  for (const auto each : all) least = std::min(least, ((sign * (each - from)) % modulus + modulus) % modulus);
  return least;
}

RC_GTEST_PROP(Residues, TheNextOfAProgressionIsFoundWithoutWalkingIt, ()) {
  const auto of = any_progression();
  const auto from = *rc::gen::inRange<std::int64_t>(-1000, 1000);
  const auto all = members(of);
  RC_ASSERT(ahead(of, from) == by_hand(all, of.modulus, from, 1));
  RC_ASSERT(behind(of, from) == by_hand(all, of.modulus, from, -1));
  const auto enough = *rc::gen::inRange<std::int64_t>(0, 700);
  RC_ASSERT((ahead(of, from, enough) < enough) == (by_hand(all, of.modulus, from, 1) < enough));
}

RC_GTEST_PROP(Residues, ASetOfProgressionsKnowsItsNext, ()) {
  const auto first = any_progression();
  auto second = any_progression();
  second.modulus = first.modulus;
  second.first %= first.modulus;
  second.step %= first.modulus;
  auto all = members(first);
  const auto more = members(second);
  all.insert(all.end(), more.begin(), more.end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (const std::int64_t most : {std::int64_t{1}, std::int64_t{1000}}) {  // as a list, as bits
    ResidueSet set;
    set.begin(first.modulus, most);
    set.add(first);
    set.add(second);
    set.end();
    RC_ASSERT(!set.empty());
    RC_ASSERT(set.full() == (static_cast<std::int64_t>(all.size()) == first.modulus));
    const auto from = *rc::gen::inRange<std::int64_t>(-1000, 1000);
    RC_ASSERT(set.ahead(from) == by_hand(all, first.modulus, from, 1));
    RC_ASSERT(set.behind(from) == by_hand(all, first.modulus, from, -1));
  }
}

}  // namespace
}  // namespace heddle::qos
