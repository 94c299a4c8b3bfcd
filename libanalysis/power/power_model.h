/// What switches and their ports draw, by width and speed: power does not depend on traffic, only on which
/// links are on and how wide and fast they run (An On/Off Link Regulation for Low-Power InfiniBand,
/// 2009-ARC-184 No. 22, table 1). Watts. Immutable once made.
///
/// Only switches count, as in the paper; a channel adapter draws what a model says that matches it and asks
/// for it with `adapters`. A switch that no model matches, or whose model has no figures, is *unknown*: it
/// draws nothing that is counted, but its links weigh as those of the paper's switch where links are chosen.
/// A width and speed that a model does not list is estimated from the nearest it
/// does:
/// - width: watts x (lanes ratio)^0.15, as table 1 has it from 1x to 4x on SDR and DDR alike;
/// - speed: between two listed ones on the straight line of log watts over log rate of a lane; beyond the
///   fastest or the slowest, watts x (rate ratio)^0.5.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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

/// What is plugged into a cage.
enum class Cable : std::uint8_t { Copper, Aoc, Optical };  ///< passive copper; active optical cable; module
inline constexpr std::size_t cable_kinds = 3;
[[nodiscard]] std::string_view to_string(Cable cable);
/// "copper", "aoc", "optical".
[[nodiscard]] std::optional<Cable> cable_from(std::string_view text);

/// Where a figure comes from.
enum class Kind : std::uint8_t { Unsaid, Measured, Typical, Maximum, Estimated };
[[nodiscard]] std::string_view to_string(Kind kind);

struct Origin {
  Kind kind = Kind::Unsaid;
  std::string source;  ///< document and page
  std::optional<std::pair<Watts, Watts>> range;
};

/// Of each cage, while one of its ports is on.
struct ModulePower {
  Watts watts;
  Origin origin;
};

/// One kind of device. Of what is given of vendor, device and pattern, all must match.
struct DeviceModel {
  std::string name;
  std::optional<std::uint32_t> vendor_id;
  std::optional<std::uint16_t> device_id;
  std::string pattern;    ///< over the node description, `*` for any run of characters; empty: any
  bool adapters = false;  ///< for channel adapters in place of switches
  /// Nobody is known to have published what it draws: it is unknown, though it has a name.
  bool figures = true;
  Watts base;  ///< with all ports off
  Origin origin;
  Watts port_off;                ///< of each port that is off, in addition
  std::vector<PortPower> ports;  ///< without modules; empty: nothing is known of what ports themselves draw
  std::array<std::optional<ModulePower>, cable_kinds> modules;  ///< by Cable
  unsigned ports_a_cage = 1;                                    ///< port p is in cage (p - 1) / ports_a_cage
};

/// Cisco SFS7000D-SK9, 24 ports (table 1 of the paper).
[[nodiscard]] DeviceModel sfs7000d();

/// What Heddle knows of real switches (power/models.toml), each figure with its source.
[[nodiscard]] const std::vector<DeviceModel>& shipped_models();
/// Their text.
[[nodiscard]] std::string_view shipped_models_text();

enum class Basis : std::uint8_t { Listed, Estimated };

struct PortWatts {
  Watts watts;
  Basis basis = Basis::Listed;
};

/// What a switch counts as that no model matches.
enum class Unmatched : std::uint8_t { Sfs7000d, Unknown };

class PowerModel {
 public:
  /// The SFS7000D-SK9 for every switch.
  PowerModel() : PowerModel(std::vector<DeviceModel>{}) {}
  /// The first model that matches a node holds for it. All cages have `cable` in them.
  explicit PowerModel(std::vector<DeviceModel> models, Unmatched unmatched = Unmatched::Sfs7000d,
                      Cable cable = Cable::Copper);

  /// Null: draws nothing that anybody counts.
  [[nodiscard]] const DeviceModel* find(const Node& node) const;
  /// The first that matches, though it may have no figures.
  [[nodiscard]] const DeviceModel* matching(const Node& node) const;
  /// A switch that is not counted.
  [[nodiscard]] bool is_unknown(const Node& node) const {
    return node.type == NodeType::Switch && find(node) == nullptr;
  }

  /// With all ports off, the share of each port that is off included.
  [[nodiscard]] Watts base(const Node& node) const;
  /// What a port adds to base() in this mode, without its module; nothing when off.
  [[nodiscard]] PortWatts port(const Node& node, LinkMode mode) const;
  /// Of each cage while one of its ports is on.
  [[nodiscard]] Watts module(const Node& node) const;
  /// What both ends of a link weigh in this mode where links are chosen: of a module its share for one port,
  /// and unknown switches as the paper's.
  [[nodiscard]] Watts link(const Fabric& fabric, LinkIndex link, LinkMode mode) const;
  [[nodiscard]] const std::vector<DeviceModel>& models() const { return models_; }
  [[nodiscard]] Cable cable() const { return cable_; }
  /// The same with another model in place of the one of this name.
  void replace(DeviceModel model);

 private:
  [[nodiscard]] Watts weight(const Node& node, LinkMode mode) const;

  std::vector<DeviceModel> models_;
  Cable cable_ = Cable::Copper;
};

/// A port in this mode by the model, without its module; see PowerModel::port().
[[nodiscard]] PortWatts port_watts(const DeviceModel& model, LinkMode mode);

/// Of all nodes, when link i runs in modes[i]. Precondition: a mode for each link.
[[nodiscard]] Watts watts(const PowerModel& model, const Fabric& fabric, std::span<const LinkMode> modes);
/// Every link in its own width and speed.
[[nodiscard]] std::vector<LinkMode> all_on(const Fabric& fabric);

/// Reads `[[power.model]]` tables; all other tables and keys are left to others. `name` is what errors call
/// the text. Errors: Invalid with file, line and key for unknown keys, negative watts, modes listed twice or
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
///   ports = [ { mode = "4xHDR", watts = 3.1 }, { mode = "2xHDR", watts = 2.0 } ]   # optional with modules
///   ports_a_cage = 2         # optional
///   kind = "typical"         # optional, as are source and range = [ 100, 150 ], of base
///   source = "..."
///   modules.optical = { watts = 15, kind = "maximum", source = "..." }   # optional; copper, aoc, optical
/// Or figures = false and none of these.
[[nodiscard]] Result<std::vector<DeviceModel>> read_models(std::string_view toml, const std::string& name);
/// What read_models() makes the same models of, but for their origins. is_default() ones are left out.
[[nodiscard]] std::string write_models(const std::vector<DeviceModel>& models);
/// It matches whatever switch no other one does.
[[nodiscard]] inline bool is_default(const DeviceModel& model) {
  return !model.vendor_id && !model.device_id && model.pattern.empty();
}

}  // namespace heddle::power
