/// Which links regulation may touch at all, and what operators have said about single ones
/// (facts/regulation.md 2, "Safe by default"). Values only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/units.h"
#include "fabric/change.h"
#include "fabric/fabric.h"

template <>
struct std::hash<heddle::LinkRef> {
  std::size_t operator()(const heddle::LinkRef& link) const noexcept {
    return std::hash<heddle::PortRef>{}(link.a) * 1000003U ^ std::hash<heddle::PortRef>{}(link.b);
  }
};

namespace heddle::regulation {

/// What an operator wants of a link. Off is above everything but connectivity; On and Pin keep it on.
enum class Wish : std::uint8_t {
  Auto,  ///< regulation decides
  Off,
  On,   ///< on, but never a reason to bring others up
  Pin,  ///< on and in full width and speed
};

struct Override {
  Wish wish = Wish::Auto;
  std::string reason;
  std::string by;
  std::optional<Instant> until;  ///< then Auto again
  bool forced = false;           ///< of Off: whoever is cut off by it
  friend bool operator==(const Override&, const Override&) = default;
};
using Overrides = std::unordered_map<LinkRef, Override>;

/// Why a link is left on.
enum class Exempt : std::uint8_t {
  No,
  HostLink,     ///< one end is not a switch
  Loop,         ///< both ends on one switch
  Aggregation,  ///< to a SHARP aggregation node
  Internal,     ///< within one chassis (equal SystemImageGUID)
  Pinned,       ///< by the configuration
  KeptOn,       ///< by an operator
  Flapping,
  Errors,
  SlowWake,  ///< took minutes to come back
  Resting,   ///< came back a short while ago; of a choice for any traffic alone (any_search.h)
};

enum class Chassis : std::uint8_t { Keep, Regulate };

struct PolicyOptions {
  Chassis chassis = Chassis::Keep;
  std::unordered_set<LinkRef> pinned;
};

/// Links that are excluded for what they do, with a sentence on it.
enum class Trouble : std::uint8_t { Flapping, Errors, SlowWake };
struct Troubled {
  Trouble trouble = Trouble::Errors;
  std::string reason;
};
using Troubles = std::unordered_map<LinkRef, Troubled>;

/// By LinkIndex of the snapshot.
[[nodiscard]] std::vector<Exempt> exemptions(const Fabric& fabric, const PolicyOptions& options,
                                             const Overrides& overrides, const Troubles& troubles);

[[nodiscard]] std::string_view to_string(Wish wish);
[[nodiscard]] std::optional<Wish> wish_from(std::string_view text);
/// "host link", "pinned by the configuration".
[[nodiscard]] std::string_view to_string(Exempt exempt);

}  // namespace heddle::regulation
