#include "regulation/cage_bonus.h"

#include <algorithm>
#include <map>
#include <utility>

namespace heddle::regulation {

using routing::LinkSet;

CageBonus::CageBonus(const power::PowerModel& power, const Network& network) {
  const Fabric& fabric = network.fabric();
  struct Ports {
    unsigned a_cage = 1;
    double share = 0;
  };
  std::vector<Ports> ports(fabric.nodes().size());
  bool any = false;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const power::DeviceModel* model = power.find(fabric.nodes()[i]);
    if (model == nullptr || model->ports_a_cage < 2) continue;
    ports[i] = {model->ports_a_cage, power.module(fabric.nodes()[i]).value() / model->ports_a_cage};
    any = any || ports[i].share > 0;
  }
  if (!any) return;
  std::map<std::pair<NodeIndex, unsigned>, Cage> found;
  const auto add = [&](LinkIndex link, LinkEnd end) {
    const Ports& of = ports[end.node.raw()];
    if (of.share <= 0) return;
    Cage& cage = found[{end.node, (end.port.raw() - 1U) / of.a_cage}];
    cage.share = of.share;
    cage.module = of.share * of.a_cage;
    cage.links.push_back(link);
    cage.lit_by_others = cage.lit_by_others || network.trunk_of(link) == Network::no_trunk;
  };
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.link(LinkIndex{i});
    add(LinkIndex{i}, link.a);
    add(LinkIndex{i}, link.b);
  }
  if (found.empty()) return;
  of_link_.assign(fabric.links().size(), {no_cage, no_cage});
  for (auto& [where, cage] : found) {
    for (const LinkIndex link : cage.links) {
      auto& ends = of_link_[link.raw()];
      ends[ends[0] == no_cage ? 0 : 1] = static_cast<std::uint32_t>(cages_.size());
    }
    cages_.push_back(std::move(cage));
  }
}

unsigned CageBonus::on(const Cage& cage, const LinkSet& active) const {
  return static_cast<unsigned>(
      std::ranges::count_if(cage.links, [&](LinkIndex link) { return active.contains(link); }));
}

double CageBonus::darkens(LinkIndex link, const LinkSet& active) const {
  double watts = 0;
  if (none()) return watts;
  for (const std::uint32_t position : of_link_[link.raw()]) {
    if (position == no_cage) continue;
    const Cage& cage = cages_[position];
    const bool is_last = !cage.lit_by_others && on(cage, active) == 1;
    if (is_last) watts += cage.module - cage.share;
  }
  return watts;
}

double CageBonus::wasted(const LinkSet& active) const {
  double watts = 0;
  for (const Cage& cage : cages_) {
    const unsigned lit = on(cage, active);
    if (lit > 0 || cage.lit_by_others) watts += cage.module - cage.share * lit;
  }
  return watts;
}

void CageBonus::sort(std::vector<LinkIndex>& links, const LinkSet& active) const {
  if (none()) return;
  LinkSet rest = active;
  for (const LinkIndex link : links) rest.erase(link);
  // By its first cage; what has none is one of its own, and as good as a dark one.
  struct Place {
    bool stays_lit = false;
    std::size_t group = 0;
  };
  std::map<std::uint32_t, std::size_t> groups;
  std::map<LinkIndex, Place> places;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const auto& ends = of_link_[links[i].raw()];
    const auto is_lit = [&](std::uint32_t position) {
      return position != no_cage && (cages_[position].lit_by_others || on(cages_[position], rest) > 0);
    };
    const std::size_t group = ends[0] == no_cage ? i : groups.try_emplace(ends[0], i).first->second;
    places[links[i]] = {is_lit(ends[0]) || is_lit(ends[1]), group};
  }
  std::ranges::stable_sort(links, {}, [&](LinkIndex link) {
    const Place& place = places.at(link);
    return std::pair{place.stays_lit, place.group};
  });
}

}  // namespace heddle::regulation
