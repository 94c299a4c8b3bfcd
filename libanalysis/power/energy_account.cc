#include "power/energy_account.h"

#include <algorithm>

namespace heddle::power {
namespace {

Joules over(Watts power, double time) { return Joules{power.value() * time}; }

template <class Key, class Meters>
EnergyTotals find(const Meters& meters, const Key& key) {
  const auto it = meters.find(key);
  return it == meters.end() ? EnergyTotals{} : it->second.totals;
}

/// Not each time that one goes.
template <class Meters>
void forget_gone(Meters& meters, std::size_t most) {
  using Each = typename Meters::iterator;
  std::vector<Each> gone;
  for (auto it = meters.begin(); it != meters.end(); ++it) {
    if (it->second.power == Watts{} && it->second.saving == Watts{}) gone.push_back(it);
  }
  if (gone.size() <= 2 * most) return;
  const auto sum = [](const Each& each) { return each->second.totals.spent + each->second.totals.saved; };
  std::ranges::nth_element(gone, gone.begin() + static_cast<std::ptrdiff_t>(most),
                           [&](const Each& a, const Each& b) { return sum(a) > sum(b); });
  for (std::size_t i = most; i < gone.size(); ++i) meters.erase(gone[i]);
}

}  // namespace

void EnergyAccount::restore(const EnergyRecord& record) {
  for (const auto& [link, totals] : record.links) links_[link].totals = totals;
  for (const auto& [node, totals] : record.switches) nodes_[node].totals = totals;
  total_.totals = record.total;
}

void EnergyAccount::set(Instant at, const Fabric& fabric, std::span<const LinkMode> modes,
                        std::span<const LinkMode> full) {
  advance(at);
  for (auto& [link, meter] : links_) meter.power = meter.saving = Watts{};
  for (auto& [node, meter] : nodes_) meter.power = meter.saving = Watts{};
  total_.power = total_.saving = Watts{};
  for (const Node& node : fabric.nodes()) {
    if (model_.find(node) == nullptr) continue;
    nodes_[node.guid].power = model_.base(node);
    total_.power += model_.base(node);
  }
  for (std::uint32_t i = 0; i < modes.size(); ++i) {
    const Link& cable = fabric.link(LinkIndex{i});
    Meter& link = links_[link_ref(fabric, cable)];
    for (const LinkEnd end : {cable.a, cable.b}) {
      const Node& node = fabric.node(end.node);
      if (model_.find(node) == nullptr) continue;
      const Watts power = model_.port(node, modes[i]).watts;
      const Watts saving = model_.port(node, full[i]).watts - power;
      for (Meter* meter : {&link, &nodes_[node.guid], &total_}) {
        meter->power += power;
        meter->saving += saving;
      }
    }
  }
  forget_gone(links_, most_gone);
  forget_gone(nodes_, most_gone);
}

void EnergyAccount::advance(Instant at) {
  const double time = at_ ? seconds(at - *at_) : 0;
  at_ = at;
  if (time <= 0) return;
  const auto add = [time](Meter& meter) {
    meter.totals.spent += over(meter.power, time);
    meter.totals.saved += over(meter.saving, time);
  };
  for (auto& [link, meter] : links_) add(meter);
  for (auto& [node, meter] : nodes_) add(meter);
  add(total_);
}

EnergyTotals EnergyAccount::link(const LinkRef& link) const { return find(links_, link); }
EnergyTotals EnergyAccount::node(NodeGuid node) const { return find(nodes_, node); }

EnergyRecord EnergyAccount::record() const {
  EnergyRecord record;
  for (const auto& [link, meter] : links_) record.links.emplace_back(link, meter.totals);
  for (const auto& [node, meter] : nodes_) record.switches.emplace_back(node, meter.totals);
  record.total = total_.totals;
  return record;
}

}  // namespace heddle::power
