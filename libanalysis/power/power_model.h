/// What switches and their ports draw, by width and speed: power does not depend on traffic, only on which
/// links are on and how wide and fast they run (An On/Off Link Regulation for Low-Power InfiniBand,
/// 2009-ARC-184 No. 22, table 1). Watts. Immutable once made.
///
/// Only switches count, as in the paper; a channel adapter draws what a model says that matches it and asks
/// for it with `adapters`. A width and speed that a model does not list is estimated from the nearest it
/// does:
/// - width: watts x (lanes ratio)^0.15, as table 1 has it from 1x to 4x on SDR and DDR alike;
/// - speed: between two listed ones on the straight line of log watts over log rate of a lane; beyond the
///   fastest or the slowest, watts x (rate ratio)^0.5.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "fabric/fabric.h"

namespace heddle::power {

/// Width and speed that a link runs with; a link that is off has neither.
struct LinkMode {
  LinkWidth width = LinkWidth::None;
  LinkSpeed speed = LinkSpeed::None;

  [[nodiscard]] bool on() const { return width != LinkWidth::None && speed != LinkSpeed::None; }
  friend constexpr bool operator==(const LinkMode&, const LinkMode&) = default;
};
inline constexpr LinkMode off_mode{};
/// "4xHDR", "off".
[[nodiscard]] std::string to_string(LinkMode mode);
/// "4xHDR" and the like; nothing for another text, and for "off".
[[nodiscard]] std::optional<LinkMode> mode_from(std::string_view text);
/// As the snapshot has the link.
[[nodiscard]] inline LinkMode mode_of(const Link& link) { return {link.width, link.speed}; }

struct PortPower {
  LinkMode mode;
  Watts watts;
};

/// One kind of device. Of what is given of vendor, device and pattern, all must match.
struct DeviceModel {
  std::string name;
  std::optional<std::uint32_t> vendor_id;
  std::optional<std::uint16_t> device_id;
  std::string pattern;    ///< over the node description, `*` for any run of characters; empty: any
  bool adapters = false;  ///< for channel adapters in place of switches
  Watts base;             ///< with all ports off
  Watts port_off;         ///< of each port that is off, in addition
  std::vector<PortPower> ports;
};

/// Cisco SFS7000D-SK9, 24 ports (table 1 of the paper).
[[nodiscard]] DeviceModel sfs7000d();

enum class Basis : std::uint8_t { Listed, Estimated };

struct PortWatts {
  Watts watts;
  Basis basis = Basis::Listed;
};

class PowerModel {
 public:
  /// The SFS7000D-SK9 for every switch.
  PowerModel() : PowerModel(std::vector<DeviceModel>{}) {}
  /// The first model that matches a node holds for it; the SFS7000D-SK9 for switches that none matches.
  explicit PowerModel(std::vector<DeviceModel> models);

  /// Null: draws nothing that anybody counts.
  [[nodiscard]] const DeviceModel* find(const Node& node) const;

  /// With all ports off, the share of each port that is off included.
  [[nodiscard]] Watts base(const Node& node) const;
  /// What a port adds to base() in this mode; nothing when off.
  [[nodiscard]] PortWatts port(const Node& node, LinkMode mode) const;
  /// What both ends of a link add in this mode.
  [[nodiscard]] Watts link(const Fabric& fabric, LinkIndex link, LinkMode mode) const;

 private:
  std::vector<DeviceModel> models_;
};

/// Of all nodes, when link i runs in modes[i]. Precondition: a mode for each link.
[[nodiscard]] Watts watts(const PowerModel& model, const Fabric& fabric, std::span<const LinkMode> modes);
/// Every link in its own width and speed.
[[nodiscard]] std::vector<LinkMode> all_on(const Fabric& fabric);

/// Reads `[[power.model]]` tables; other top-level tables are left to others. `name` is what errors call the
/// text. Errors: Invalid with file, line and key for unknown keys, negative watts, modes listed twice or
/// none.
///
///   [[power.model]]
///   name = "QM8700"
///   vendor = 0x02c9          # optional, as are device and pattern; at least one of the three
///   device = 0xd2f0
///   pattern = "*QM8700*"
///   base = 120.0
///   port_off = 0.1           # optional
///   adapters = false         # optional
///   ports = [ { mode = "4xHDR", watts = 3.1 }, { mode = "2xHDR", watts = 2.0 } ]
[[nodiscard]] Result<std::vector<DeviceModel>> read_models(std::string_view toml, const std::string& name);

}  // namespace heddle::power
