/// What is to be done next with one connection, so that it gets to a plane and has a way to the other one:
/// the states of path migration (IBA 17.2.8.1) without any verbs. Pure.
#pragma once

#include <cstdint>
#include <optional>

namespace heddle::apm {

/// A plane of a LID, where each port has an even base LID and two LIDs or more.
[[nodiscard]] constexpr unsigned plane_of(std::uint16_t lid) { return lid & 1U; }

/// How a connection's packets travel: to which of the other port's LIDs, and from which of this one's (its
/// base LID and these bits).
struct Path {
  std::uint16_t dlid = 0;
  std::uint8_t source_bits = 0;
  friend bool operator==(const Path&, const Path&) = default;
};

/// Both directions of it in one plane; none where they are in different ones.
[[nodiscard]] std::optional<unsigned> plane_of(const Path& path);
[[nodiscard]] Path in_plane(Path path, unsigned plane);

enum class Migration : std::uint8_t { Migrated, Rearm, Armed };

/// As the adapter says.
struct Seen {
  Migration state = Migration::Migrated;
  Path primary;
  Path alternate;  ///< means nothing unless Rearm or Armed
};

enum class Step : std::uint8_t {
  Rest,     ///< it is where it is to be, and has a way to the other plane, or will have one
  Load,     ///< the alternate path, and ask for it to be armed
  Migrate,  ///< to the alternate path
  Wait,     ///< for the other end: only then it can migrate
};
struct Next {
  Step step = Step::Rest;
  Path path{};  ///< of Load
  friend bool operator==(const Next&, const Next&) = default;
};

/// `target`: the plane where it is to be; none: wherever it is.
[[nodiscard]] Next next_step(const Seen& seen, std::optional<unsigned> target);

}  // namespace heddle::apm
