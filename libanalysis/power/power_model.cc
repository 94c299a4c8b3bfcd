#include "power/power_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "power/cages.h"

namespace heddle::power {
namespace {

/// Table 1 of the paper: 0.26 / 0.21 and 0.95 / 0.77 from one lane to four.
constexpr double width_exponent = 0.15;
constexpr double speed_exponent = 0.5;

bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool matches(const DeviceModel& model, const Node& node) {
  const NodeType type = model.adapters ? NodeType::ChannelAdapter : NodeType::Switch;
  return node.type == type && (!model.vendor_id || *model.vendor_id == node.vendor_id) &&
         (!model.device_id || *model.device_id == node.device_id) &&
         (model.pattern.empty() || matches(model.pattern, node.description));
}

double lane_rate(LinkSpeed speed) { return data_rate(LinkWidth::X1, speed).value(); }

/// What a listed entry would draw with another number of lanes.
double widened(const PortPower& entry, LinkWidth width) {
  const double ratio = static_cast<double>(lanes(width)) / static_cast<double>(lanes(entry.mode.width));
  return entry.watts.value() * std::pow(ratio, width_exponent);
}

/// The entry of this speed whose width is nearest; null if none has the speed.
const PortPower* nearest_width(const std::vector<PortPower>& ports, LinkMode mode) {
  const PortPower* best = nullptr;
  double least = 0;
  for (const PortPower& entry : ports) {
    if (entry.mode.speed != mode.speed) continue;
    const double apart = std::abs(std::log(static_cast<double>(lanes(entry.mode.width)) / lanes(mode.width)));
    if (best == nullptr || apart < least) {
      best = &entry;
      least = apart;
    }
  }
  return best;
}

double estimate(const std::vector<PortPower>& ports, LinkMode mode) {
  // The listed speeds just below and just above.
  std::optional<LinkSpeed> below;
  std::optional<LinkSpeed> above;
  for (const PortPower& entry : ports) {
    const double rate = lane_rate(entry.mode.speed);
    if (rate <= lane_rate(mode.speed) && (!below || rate > lane_rate(*below))) below = entry.mode.speed;
    if (rate >= lane_rate(mode.speed) && (!above || rate < lane_rate(*above))) above = entry.mode.speed;
  }
  const auto at = [&](LinkSpeed speed) {
    return widened(*nearest_width(ports, {mode.width, speed}), mode.width);
  };
  if (!below || !above) {
    const LinkSpeed listed = below ? *below : *above;
    return at(listed) * std::pow(lane_rate(mode.speed) / lane_rate(listed), speed_exponent);
  }
  const double low = at(*below);
  const double high = at(*above);
  if (*below == *above || low <= 0 || high <= 0) return low;
  const double part =
      std::log(lane_rate(mode.speed) / lane_rate(*below)) / std::log(lane_rate(*above) / lane_rate(*below));
  return low * std::pow(high / low, part);
}

}  // namespace

std::string to_string(LinkMode mode) {
  if (!mode.on()) return "off";
  return std::string{to_string(mode.width)} + std::string{to_string(mode.speed)};
}

DeviceModel sfs7000d() {
  DeviceModel model;
  model.name = "SFS7000D-SK9";
  model.base = Watts{43.4};
  model.ports = {{{LinkWidth::X1, LinkSpeed::Sdr}, Watts{0.21}},
                 {{LinkWidth::X1, LinkSpeed::Ddr}, Watts{0.77}},
                 {{LinkWidth::X4, LinkSpeed::Sdr}, Watts{0.26}},
                 {{LinkWidth::X4, LinkSpeed::Ddr}, Watts{0.95}}};
  return model;
}

std::string_view to_string(Cable cable) {
  constexpr std::array<std::string_view, cable_kinds> names{"copper", "aoc", "optical"};
  return names[static_cast<std::size_t>(cable)];
}

std::optional<Cable> cable_from(std::string_view text) {
  for (const Cable cable : {Cable::Copper, Cable::Aoc, Cable::Optical}) {
    if (to_string(cable) == text) return cable;
  }
  return std::nullopt;
}

std::string_view to_string(Kind kind) {
  constexpr std::array<std::string_view, 5> names{"", "measured", "typical", "maximum", "estimated"};
  return names[static_cast<std::size_t>(kind)];
}

PortWatts port_watts(const DeviceModel& model, LinkMode mode) {
  if (!mode.on() || model.ports.empty()) return {};
  for (const PortPower& entry : model.ports) {
    if (entry.mode == mode) return {entry.watts - model.port_off, Basis::Listed};
  }
  return {Watts{estimate(model.ports, mode)} - model.port_off, Basis::Estimated};
}

PowerModel::PowerModel(std::vector<DeviceModel> models, Unmatched unmatched, Cable cable)
    : models_{std::move(models)}, cable_{cable} {
  if (unmatched == Unmatched::Sfs7000d) models_.push_back(sfs7000d());
}

const DeviceModel* PowerModel::matching(const Node& node) const {
  const auto it = std::find_if(models_.begin(), models_.end(),
                               [&](const DeviceModel& model) { return matches(model, node); });
  return it == models_.end() ? nullptr : &*it;
}

const DeviceModel* PowerModel::find(const Node& node) const {
  const DeviceModel* model = matching(node);
  return model == nullptr || !model->figures ? nullptr : model;
}

Watts PowerModel::base(const Node& node) const {
  const DeviceModel* model = find(node);
  return model == nullptr ? Watts{} : model->base + model->port_off * node.port_count;
}

PortWatts PowerModel::port(const Node& node, LinkMode mode) const {
  const DeviceModel* model = find(node);
  return model == nullptr ? PortWatts{} : port_watts(*model, mode);
}

Watts PowerModel::module(const Node& node) const {
  const DeviceModel* model = find(node);
  if (model == nullptr) return {};
  const auto& module = model->modules[static_cast<std::size_t>(cable_)];
  return module ? module->watts : Watts{};
}

Watts PowerModel::weight(const Node& node, LinkMode mode) const {
  const DeviceModel* model = find(node);
  if (model == nullptr) {
    static const DeviceModel papers = sfs7000d();
    return node.type == NodeType::Switch ? port_watts(papers, mode).watts : Watts{};
  }
  const Watts module_share = mode.on() ? module(node) / model->ports_a_cage : Watts{};
  return port_watts(*model, mode).watts + module_share;
}

Watts PowerModel::link(const Fabric& fabric, LinkIndex link, LinkMode mode) const {
  const Link& cable = fabric.link(link);
  return weight(fabric.node(cable.a.node), mode) + weight(fabric.node(cable.b.node), mode);
}

void PowerModel::replace(DeviceModel model) {
  for (DeviceModel& each : models_) {
    if (each.name == model.name) {
      each = std::move(model);
      return;
    }
  }
  models_.insert(models_.begin(), std::move(model));
}

Watts watts(const PowerModel& model, const Fabric& fabric, std::span<const LinkMode> modes) {
  Watts sum;
  for (const Node& node : fabric.nodes()) sum += model.base(node);
  const Cages cages{model, fabric, modes};
  for (std::uint32_t i = 0; i < modes.size(); ++i) {
    const Link& link = fabric.link(LinkIndex{i});
    for (const LinkEnd end : {link.a, link.b})
      sum += model.port(fabric.node(end.node), modes[i]).watts + cages.share(end);
  }
  return sum;
}

std::vector<LinkMode> all_on(const Fabric& fabric) {
  std::vector<LinkMode> modes;
  modes.reserve(fabric.links().size());
  for (const Link& link : fabric.links()) modes.push_back(mode_of(link));
  return modes;
}

}  // namespace heddle::power
