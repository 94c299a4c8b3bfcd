/// A site under construction: switches and hosts of several generations, cabled port by port as people do it.
/// What `grown:` draws on, where Sketch is for shapes that follow a rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "fabric/fabric.h"

namespace heddle::sketch {

/// What one purchase brings: switches of one chip and adapters of their time. The names are those that
/// hardware has before anybody gives it one.
struct Generation {
  LinkSpeed speed;
  unsigned radix;         ///< ports for cables
  bool aggregates;        ///< one port more, with a SHARP aggregation node on it
  std::uint16_t chip_id;  ///< NodeInfo.DeviceID
  std::uint16_t adapter_id;
  std::string_view chip;
  std::string_view adapter;
};

/// From the oldest to the latest.
[[nodiscard]] std::span<const Generation> generations();

class Site {
 public:
  /// Counts nodes in the order of the calls.
  using Place = std::size_t;

  explicit Site(Random& random) : random_{random} {}

  /// A system image GUID, of a chassis or of a node on its own.
  [[nodiscard]] std::uint64_t draw_guid();

  /// Switches of equal `chassis` are one device.
  Place add_switch(const Generation& generation, std::string name, std::uint64_t chassis);
  Place add_host(const Generation& generation, std::string name, unsigned ports = 1);

  [[nodiscard]] unsigned free_ports(Place node) const;
  /// Joins the next free ports at the slower of the two speeds; false if either has none.
  bool cable(Place a, Place b);

  /// Pulls that share of the cables between switches out. None whose loss would divide the site.
  void lose_cables(double share);
  /// Cables parts that nothing joins. False if free ports do not suffice.
  bool join_parts();

  /// Switches stand in no order, as a sweep finds them; hosts follow. Ports of links are Init/LinkUp.
  [[nodiscard]] std::shared_ptr<const Fabric> finish();

 private:
  struct Device {
    Node node;
    LinkSpeed speed = LinkSpeed::None;
    unsigned ports = 0;  ///< for cables
    unsigned used = 0;
  };
  struct Cable {
    Place a;
    unsigned port_a;
    Place b;
    unsigned port_b;
    bool lost = false;
  };

  [[nodiscard]] bool between_switches(const Cable& cable) const;
  void lay(FabricBuilder& builder, const Cable& cable, std::span<const NodeIndex> places) const;

  Random& random_;
  std::vector<Device> devices_;
  std::vector<Cable> cables_;
  std::uint32_t guids_ = 0;
};

}  // namespace heddle::sketch
