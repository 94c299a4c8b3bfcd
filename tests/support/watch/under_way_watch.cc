#include "support/watch/under_way_watch.h"

#include <fmt/format.h>

namespace heddle::test {

bool UnderWayWatch::leads_on(NodeIndex node, PortNum port) const {
  return port != no_path && port != PortNum{0} && port.raw() <= watched_.fabric().node(node).port_count &&
         watched_.fabric().peer({node, port}).has_value();
}

std::string UnderWayWatch::written(std::uint32_t s, const TableColumns::Change& change, Picoseconds at) {
  const NodeIndex node = watched_.graph().node(routing::SwitchIndex{s});
  if (life_ == Picoseconds{0} || watched_.faults.is_dead(node)) return "";
  const Column k = tables_.column_of(change.lid);
  if (k != TableColumns::no_column && leads_on(node, PortNum{change.before})) {
    of_column_[k].push_back(first_ + replaced_.size());
    replaced_.push_back({at, s, k, PortNum{change.before}});
  }
  if (!leads_on(node, PortNum{change.after})) return "";
  const PortIndex port = watched_.fabric().port_index(node, PortNum{change.after});
  if (watched_.sim().forwards(port) || watched_.faults.has(watched_.fabric().port(port).link)) return "";
  if (cannot_know_ && cannot_know_(port)) return "";
  return fmt::format("{} is told to send LID {} to port {}, which is not Active", watched_.name(node),
                     change.lid.raw(), change.after);
}

void UnderWayWatch::forget() {
  replaced_.clear();
  of_column_.clear();
  lost_.clear();
}

bool UnderWayWatch::is_lost(const Replaced& entry) const {
  const NodeIndex node = watched_.graph().node(routing::SwitchIndex{entry.s});
  const auto peer = watched_.fabric().peer({node, entry.port});
  if (!watched_.is_switch(peer->node)) return false;
  if (watched_.faults.has(watched_.fabric().port(LinkEnd{node, entry.port}).link)) return false;
  return !routes_.arrives(watched_.graph().find(peer->node).raw(), entry.k);
}

std::vector<std::string> UnderWayWatch::astray(std::span<const Column> touched, Picoseconds at) {
  for (; !replaced_.empty() && at - replaced_.front().at >= life_; ++first_) {
    const auto of_one = of_column_.find(replaced_.front().k);
    of_one->second.erase(of_one->second.begin());
    if (of_one->second.empty()) of_column_.erase(of_one);
    lost_.erase(first_);
    replaced_.pop_front();
  }
  for (const Column k : touched) {
    const auto of_one = of_column_.find(k);
    if (of_one == of_column_.end()) continue;
    for (const std::size_t number : of_one->second) {
      if (is_lost(replaced_[number - first_])) {
        lost_.insert(number);
      } else {
        lost_.erase(number);
      }
    }
  }
  std::vector<std::string> texts;
  for (const std::size_t number : lost_) {
    const Replaced& entry = replaced_[number - first_];
    const TableColumns::Entry& to = tables_.lids()[entry.k];
    if (!carries_(*to.target, to.lid)) continue;
    const NodeIndex node = watched_.graph().node(routing::SwitchIndex{entry.s});
    const NodeIndex peer = watched_.fabric().peer({node, entry.port})->node;
    texts.push_back(fmt::format("a packet to LID {} that left {} {:.6f} s ago: {}", to.lid.raw(),
                                watched_.name(node), static_cast<double>((at - entry.at).count()) * 1e-12,
                                routes_.follow(watched_.graph().find(peer).raw(), entry.k)));
  }
  return texts;
}

}  // namespace heddle::test
