#include "power/energy_account.h"

#include <algorithm>
#include <vector>

#include "power/cages.h"

namespace heddle::power {
namespace {

Joules over(Watts power, double time) { return Joules{power.value() * time}; }

template <class Key, class Meters>
EnergyTotals find(const Meters& meters, const Key& key) {
  const auto it = meters.find(key);
  return it == meters.end() ? EnergyTotals{} : it->second.totals;
}

bool is_switch(const Fabric& fabric, LinkEnd end) { return fabric.node(end.node).type == NodeType::Switch; }

void add_totals(Draw& sum, const Draw& part) {
  sum.totals.spent += part.totals.spent;
  sum.totals.saved += part.totals.saved;
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
  for (auto& [link, draw] : links_) draw.power = draw.saving = Watts{};
  for (auto& [node, draw] : nodes_) draw.power = draw.saving = Watts{};
  total_.power = total_.saving = Watts{};
  links_between_switches_ = switches_ = Draw{};
  std::vector<const DeviceModel*> models;  // by node: finding one compares names
  for (const Node& node : fabric.nodes()) {
    if (models.emplace_back(model_.find(node)) == nullptr) continue;
    Draw& draw = nodes_[node.guid];
    draw.power = model_.base(node);
    total_.power += draw.power;
    if (node.type != NodeType::Switch) continue;
    switches_.power += draw.power;
    add_totals(switches_, draw);
  }
  const Cages cages{model_, fabric, modes};
  const Cages full_cages{model_, fabric, full};
  for (std::uint32_t i = 0; i < modes.size(); ++i) {
    const Link& cable = fabric.link(LinkIndex{i});
    Draw& link = links_[link_ref(fabric, cable)];
    const bool between_switches = is_switch(fabric, cable.a) && is_switch(fabric, cable.b);
    if (between_switches) add_totals(links_between_switches_, link);
    for (const LinkEnd end : {cable.a, cable.b}) {
      const Node& node = fabric.node(end.node);
      const DeviceModel* model = models[end.node.raw()];
      if (model == nullptr) continue;
      const Watts power = port_watts(*model, modes[i]).watts + cages.share(end);
      const Watts saving = port_watts(*model, full[i]).watts + full_cages.share(end) - power;
      const auto add = [&](Draw& draw) {
        draw.power += power;
        draw.saving += saving;
      };
      add(link);
      add(nodes_[node.guid]);
      add(total_);
      if (node.type == NodeType::Switch) add(switches_);
      if (between_switches) add(links_between_switches_);
    }
  }
  forget_gone(links_, most_gone);
  forget_gone(nodes_, most_gone);
}

void EnergyAccount::advance(Instant at) {
  const double time = at_ ? seconds(at - *at_) : 0;
  at_ = at;
  if (time <= 0) return;
  const auto add = [time](Draw& meter) {
    meter.totals.spent += over(meter.power, time);
    meter.totals.saved += over(meter.saving, time);
  };
  for (auto& [link, meter] : links_) add(meter);
  for (auto& [node, meter] : nodes_) add(meter);
  add(total_);
  add(links_between_switches_);
  add(switches_);
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
