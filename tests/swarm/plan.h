/// What a world is to be, drawn from its number alone.
#pragma once

#include <gtest/gtest.h>  // of what the worlds of the scenarios expect

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/units.h"
#include "support/regulated_world.h"

namespace heddle::swarm {

/// The same numbers everywhere: what the standard's distributions make of an engine is up to the library.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_{seed * 0x9e3779b97f4a7c15ULL + 1} {}

  /// 0 .. limit - 1.
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(engine_() % limit); }
  bool chance(double of_one) { return static_cast<double>(engine_() >> 11U) * 0x1p-53 < of_one; }
  template <class T>
  const T& one_of(const std::vector<T>& items) {
    return items[below(items.size())];
  }

 private:
  std::mt19937_64 engine_;
};

struct Plan {
  std::uint64_t seed = 0;
  std::string fabric;
  test::WorldOptions world;
  bool lossy = false;   ///< 2 % of MADs lost, 1 % late by 50 ms
  bool cuts = false;    ///< cables and switches that go and come
  bool kills = false;   ///< of the daemon
  bool orders = false;  ///< operators, in pairs
  // Not in worlds below a million: those are what they were when their numbers were written down.
  bool disk = false;  ///< full at times, or slow
  bool own = false;   ///< the daemon's own cable, which goes and comes
  // Nor in worlds below two thousand millions.
  bool anywhere = false;  ///< kills are at any MAD and write
  bool power = false;     ///< of the daemon's host fails
  bool failing = false;   ///< reads, writes and syncs of its disk fail
  bool lying = false;     ///< that disk forgets what it called synced
  bool stops = false;     ///< the daemon stands still, and goes on
  bool wall = false;      ///< the calendar jumps
  bool other = false;     ///< another subnet manager comes and goes
  bool agents = false;    ///< one node's answers are missing, slow or wrong
  bool twice = false;     ///< MADs come twice
  bool damage = false;    ///< a byte of an answer is another one

  // Nor below four thousand millions.
  bool many = false;       ///< several cables and switches are out at a time
  bool bounces = false;    ///< cables and switches are gone for moments only
  bool late = false;       ///< some of the fabric is not there when the daemon starts for the first time
  bool overtaken = false;  ///< MADs come later than their requests are given up
  bool tampering = false;  ///< another program writes entries of tables
  bool plugin = false;     ///< OpenSM has the fabric, with a plugin of bad manners

  // Nor below six thousand millions.
  bool calms = false;  ///< all is mended in mid-storm and judged at rest; agents and kills excuse nothing
  bool aimed = false;  ///< faults come in the very moments in which they once did harm

  /// What is believed of damaged answers may be wrong at any instant, and so are tables that somebody else
  /// writes: of such a world only the end is judged.
  [[nodiscard]] bool is_judged() const { return !damage && !tampering; }
  /// Links go and come between a sweep's reading and a write: nobody can know that one is not Active before a
  /// port has said so.
  [[nodiscard]] bool has_moments() const { return calms || bounces; }
  /// What OpenSM writes is in no recording.
  [[nodiscard]] bool is_recorded() const { return !plugin; }
};

/// Of the first world with all kinds of storms.
constexpr std::uint64_t first_of_all_kinds = 2'000'000'000;
/// Of the first world whose links may train for times of their own.
constexpr std::uint64_t first_of_own_training = 3'000'000'000;
/// Of the first world with wider storms; what is written is judged too, and status and records before all is
/// restored.
constexpr std::uint64_t first_of_wider_storms = 4'000'000'000;
/// Of the first world with calms in its storm.
constexpr std::uint64_t first_of_calms = 6'000'000'000;

[[nodiscard]] Plan plan_of(std::uint64_t seed);
/// In words, for people.
[[nodiscard]] std::string describe(const Plan& plan);

}  // namespace heddle::swarm
