#include "regulate/known_cables.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/printable.h"
#include "fabric/change.h"
#include "fabric/links.h"
#include "fabric/unique_names.h"

namespace heddle::regulate {
namespace {

using journal::Cable;

bool by_link(const Cable& x, const Cable& y) { return x.link < y.link; }

std::vector<Cable> cables_of(const Fabric& fabric) {
  const std::vector<std::string> names = unique_names(fabric);
  const auto name = [&](NodeGuid node) { return printable(names[fabric.find_node(node).raw()]); };
  std::vector<Cable> cables;
  for (const Link& link : fabric.links()) {
    if (!joins_switches(fabric, link)) continue;
    const LinkRef ref = link_ref(fabric, link);
    cables.push_back({ref, name(ref.a.node), name(ref.b.node)});
  }
  std::sort(cables.begin(), cables.end(), by_link);
  return cables;
}

}  // namespace

void KnownCables::look(const Fabric& known, Stored stored) {
  const auto& kept = journal_.cables();
  if (!kept) return;
  std::vector<Cable> seen = cables_of(known);
  std::erase_if(seen, [this](const Cable& cable) { return is_forgotten(cable); });
  away_.clear();
  std::set_difference(kept->begin(), kept->end(), seen.begin(), seen.end(), std::back_inserter(away_),
                      by_link);
  std::erase_if(away_, [&](const Cable& cable) {
    return is_cabled(known, cable.link.a) || is_cabled(known, cable.link.b);
  });
  if (away_.size() > most_away) away_.resize(most_away);
  std::vector<Cable> all;
  std::merge(seen.begin(), seen.end(), away_.begin(), away_.end(), std::back_inserter(all), by_link);
  keep(std::move(all), std::move(stored));
}

void KnownCables::forget(const Gone& gone, Stored stored) {
  forgotten_.switches.insert(gone.switches.begin(), gone.switches.end());
  forgotten_.cables.insert(gone.cables.begin(), gone.cables.end());
  if (!journal_.cables()) return;
  const auto forgotten = [this](const Cable& cable) { return is_forgotten(cable); };
  std::erase_if(away_, forgotten);
  std::vector<Cable> left = *journal_.cables();
  std::erase_if(left, forgotten);
  keep(std::move(left), std::move(stored));
}

bool KnownCables::remember_again(const std::set<NodeGuid>& present,
                                 const std::function<bool(const LinkRef&)>& is_up) {
  const auto switches =
      std::erase_if(forgotten_.switches, [&](NodeGuid node) { return present.contains(node); });
  return switches + std::erase_if(forgotten_.cables, is_up) > 0;
}

bool KnownCables::is_forgotten(const Cable& cable) const {
  return forgotten_.cables.contains(cable.link) || forgotten_.switches.contains(cable.link.a.node) ||
         forgotten_.switches.contains(cable.link.b.node);
}

std::string KnownCables::name_of(NodeGuid node) const {
  for (const Cable& cable : away_) {
    if (cable.link.a.node == node) return printable(cable.a);
    if (cable.link.b.node == node) return printable(cable.b);
  }
  return {};
}

void KnownCables::keep(std::vector<Cable> cables, Stored stored) {
  if (cables == *journal_.cables() && !refused_) return;
  journal_.put_cables(std::move(cables), [this, stored = std::move(stored)](const Result<void>& put) {
    refused_ = !put;
    stored(put);
  });
}

}  // namespace heddle::regulate
