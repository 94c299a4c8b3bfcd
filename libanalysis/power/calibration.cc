#include "power/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "power/cages.h"

namespace heddle::power {
namespace {

/// A reading in the state in which it was taken.
struct Taken {
  std::size_t reading = 0;  ///< position among the readings
  NodeIndex node;
  Watts watts;
  double ports = 0;  ///< on
};

NodeIndex find_node(const Fabric& fabric, const std::string& name) {
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    const Node& node = fabric.nodes()[i];
    if (node.description == name || to_string(node.guid) == name) return NodeIndex{i};
  }
  return no_node;
}

/// What the ports of a switch that are on draw, modules included.
class Ports {
 public:
  Ports(const Fabric& fabric, std::span<const LinkMode> modes) : fabric_{fabric}, modes_{modes} {}

  struct Sum {
    double on = 0;
    Watts watts;
    LinkMode mode;  ///< of one of them
  };
  [[nodiscard]] Sum of(const PowerModel& model, NodeIndex node) const {
    const Cages cages{model, fabric_, modes_};
    Sum sum;
    for (std::uint32_t i = 0; i < modes_.size(); ++i) {
      const Link& link = fabric_.link(LinkIndex{i});
      for (const LinkEnd end : {link.a, link.b}) {
        if (end.node != node) continue;
        sum.watts += model.port(fabric_.node(node), modes_[i]).watts + cages.share(end);
        if (!modes_[i].on()) continue;
        ++sum.on;
        sum.mode = modes_[i];
      }
    }
    return sum;
  }

 private:
  const Fabric& fabric_;
  std::span<const LinkMode> modes_;
};

/// What a model makes of a switch with so many ports on: as they are, or each as those that are.
Watts reckoned(const PowerModel& model, const Fabric& fabric, const Ports& ports, const Taken& taken) {
  const Ports::Sum sum = ports.of(model, taken.node);
  const Watts all = sum.on > 0 ? sum.watts * (taken.ports / sum.on) : Watts{};
  return model.base(fabric.node(taken.node)) + all;
}

struct Line {
  double base = 0;
  double port = 0;
};

/// Least squares; none where all readings have as many ports on.
std::optional<Line> fitted(const std::vector<Taken>& taken) {
  const auto n = static_cast<double>(taken.size());
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const Taken& each : taken) {
    x += each.ports;
    y += each.watts.value();
    xx += each.ports * each.ports;
    xy += each.ports * each.watts.value();
  }
  const double spread = n * xx - x * x;
  if (spread < 1e-9 * n * xx + 1e-12) return std::nullopt;
  Line line{0, (n * xy - x * y) / spread};
  line.base = (y - line.port * x) / n;
  if (line.port < 0) return Line{y / n, 0};
  if (line.base < 0) return Line{0, xy / xx};
  return line;
}

DeviceModel calibrated(const PowerModel& model, const Fabric& fabric, const Ports& ports,
                       const std::vector<Taken>& taken) {
  const Node& node = fabric.node(taken.front().node);
  const DeviceModel* known = model.matching(node);
  DeviceModel fit;
  if (known != nullptr) {
    fit = *known;
  } else {
    fit.name = fmt::format("as {} was measured", node.description);
    fit.vendor_id = node.vendor_id;
    fit.device_id = node.device_id;
  }
  fit.figures = true;
  fit.origin = {Kind::Measured, "power.measured", std::nullopt};
  if (const auto line = fitted(taken)) {
    fit.base = Watts{line->base};
    fit.port_off = Watts{};
    fit.modules = {};
    const LinkMode mode = ports.of(model, taken.front().node).mode;
    fit.ports.clear();
    if (mode.on()) fit.ports.push_back({mode, Watts{line->port}});
    return fit;
  }
  // As far as is known, all of what is wrong is wrong in the base.
  Watts off;
  for (const Taken& each : taken) off += each.watts - reckoned(model, fabric, ports, each);
  fit.base = std::max(Watts{}, fit.base + off / static_cast<double>(taken.size()));
  return fit;
}

}  // namespace

Calibration calibrate(const PowerModel& model, const Fabric& fabric, std::span<const LinkMode> modes,
                      std::span<const Reading> readings) {
  Calibration calibration{model, {}, {}};
  const Ports ports{fabric, modes};
  std::map<std::pair<const DeviceModel*, std::uint64_t>, std::vector<Taken>> groups;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const NodeIndex node = find_node(fabric, readings[i].node);
    if (node == no_node) {
      calibration.unmatched.push_back(readings[i].node);
      continue;
    }
    const Node& of = fabric.node(node);
    Taken taken{i, node, readings[i].watts, ports.of(model, node).on};
    if (readings[i].ports) taken.ports = *readings[i].ports;
    const DeviceModel* known = model.matching(of);
    const std::uint64_t chip = known != nullptr ? 0 : (std::uint64_t{of.vendor_id} << 16U) | of.device_id;
    groups[{known, chip}].push_back(taken);
  }
  std::vector<Taken> all;
  for (const auto& [group, taken] : groups) {
    calibration.model.replace(calibrated(model, fabric, ports, taken));
    all.insert(all.end(), taken.begin(), taken.end());
  }
  std::sort(all.begin(), all.end(), [](const Taken& a, const Taken& b) { return a.reading < b.reading; });
  for (const Taken& taken : all) {
    const bool known = model.find(fabric.node(taken.node)) != nullptr;
    calibration.compared.push_back({fabric.node(taken.node).guid, taken.watts,
                                    known ? reckoned(model, fabric, ports, taken) : Watts{},
                                    reckoned(calibration.model, fabric, ports, taken)});
  }
  return calibration;
}

}  // namespace heddle::power
