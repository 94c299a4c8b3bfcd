/// Planes: an XDR system may be several switches, of which each port of its housing has one link each: one
/// lane of a cable a plane. To management they are switches, ports and links like others, each with its own
/// load; people want to know that they belong together. No standard attribute says so. What is taken for it:
/// switches with one system image GUID and as many ports, all of which have an XDR link at the same port to
/// the same other system (or adapter), in the same order. No such hardware was at hand.
#pragma once

#include <optional>
#include <vector>

#include "fabric/fabric.h"

namespace heddle {

struct Plane {
  unsigned number = 0;  ///< 1 .. of, in the order of the switches' GUIDs
  unsigned of = 0;
  friend bool operator==(const Plane&, const Plane&) = default;
};

/// Of one snapshot.
class Planes {
 public:
  Planes() = default;
  explicit Planes(const Fabric& fabric);
  [[nodiscard]] std::optional<Plane> of(LinkIndex link) const {
    if (link.raw() >= planes_.size() || planes_[link.raw()].of == 0) return std::nullopt;
    return planes_[link.raw()];
  }

 private:
  std::vector<Plane> planes_;  ///< by LinkIndex; empty where no link has one
};

}  // namespace heddle
