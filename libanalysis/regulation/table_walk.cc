#include "regulation/table_walk.h"

#include <algorithm>

namespace heddle::regulation {

using routing::Hop;
using routing::HopMap;
using routing::SwitchIndex;
using routing::Target;
using routing::TargetKind;

TableWalk::TableWalk(const Network& network, const routing::ForwardingTables& tables, unsigned plane)
    : network_{network}, tables_{tables}, block_bytes_(routing::lids_per_block * network.graph().size()) {
  const auto& graph = network.graph();
  for (std::uint32_t t = 0; t < graph.targets().size(); ++t) {
    const Target& target = graph.targets()[t];
    if (target.kind != TargetKind::Host) continue;
    const std::size_t first = lids_.size();
    for (unsigned i = plane % target.lid_count(); i < target.lid_count(); i += network.planes()) {
      lids_.push_back({Lid{static_cast<std::uint16_t>(target.base.raw() + i)}, t, 1});
    }
    for (std::size_t i = first; i < lids_.size(); ++i)
      lids_[i].part = 1.0 / static_cast<double>(lids_.size() - first);
  }
  position_.resize(graph.size());
  for (const SwitchIndex s : network.ranks().order()) {
    position_[s.raw()] = static_cast<std::uint32_t>(by_position_.size());
    by_position_.push_back(s.raw());
  }
  for (const SwitchIndex s : network.ranks().order()) {
    for (const Hop& hop : graph.hops(s)) ports_ = std::max<std::size_t>(ports_, hop.out.raw() + 1U);
  }
  steps_.resize(graph.size() * ports_);
  for (std::size_t p = 0; p < by_position_.size(); ++p) {
    const SwitchIndex s{by_position_[p]};
    auto at = static_cast<std::uint32_t>(graph.first_hop(s));
    for (const Hop& hop : graph.hops(s))
      steps_[p * ports_ + hop.out.raw()] = {at++, position_[hop.peer.raw()]};
  }
}

const std::uint8_t* TableWalk::column(Lid lid) {
  const std::size_t n = by_position_.size();
  const std::size_t block = lid.raw() / routing::lids_per_block;
  if (block != block_) {
    block_ = block;
    for (std::size_t p = 0; p < n; ++p) {
      const auto row = tables_.block(SwitchIndex{by_position_[p]}, block);
      for (std::size_t i = 0; i < routing::lids_per_block; ++i) block_bytes_[i * n + p] = row[i];
    }
  }
  return &block_bytes_[lid.raw() % routing::lids_per_block * n];
}

std::vector<double> TableWalk::loads(const Traffic& traffic) {
  const auto& graph = network_.graph();
  std::vector<double> result(graph.hop_count(), 0);
  std::vector<double> here(graph.size());
  const std::size_t n = by_position_.size();
  const auto hosts = network_.host_switches();
  std::vector<double> sent(hosts.size());  // to the switch at which the LID is
  std::uint32_t sent_to = Network::no_position;
  for (const DestinationLid& each : lids_) {
    const double share = traffic.share[each.target] * each.part;
    if (share <= 0) continue;
    const SwitchIndex at = graph.targets()[each.target].at;
    const std::uint32_t to = network_.host_position(at);
    if (to != sent_to) {
      for (std::size_t s = 0; s < sent.size(); ++s) sent[s] = traffic.matrix.at(s, to);
      sent_to = to;
    }
    const std::uint8_t* entries = column(each.lid);
    std::fill(here.begin(), here.end(), 0);
    for (std::size_t s = 0; s < sent.size(); ++s) here[position_[hosts[s].raw()]] = share * sent[s];
    here[position_[at.raw()]] = 0;
    // The mended go first: nobody else sends to them.
    const auto mends = network_.mends().to(at);
    for (auto mend = mends.rbegin(); mend != mends.rend(); ++mend) {
      const std::size_t p = position_[mend->at.raw()];
      const Step next = step(p, entries[p]);
      if (here[p] <= 0 || next.hop == HopMap::none) continue;
      result[next.hop] += here[p];
      here[next.to] += here[p];
      here[p] = 0;
    }
    // What has gone up from a switch is not there any more when the way down is followed.
    for (std::size_t p = n; p-- > 0;) {
      if (here[p] <= 0) continue;
      const Step next = step(p, entries[p]);
      if (next.hop == HopMap::none || next.to >= p) continue;
      result[next.hop] += here[p];
      here[next.to] += here[p];
      here[p] = 0;
    }
    for (std::size_t p = 0; p < n; ++p) {
      if (here[p] <= 0) continue;
      const Step next = step(p, entries[p]);
      if (next.hop == HopMap::none || next.to <= p) continue;
      result[next.hop] += here[p];
      here[next.to] += here[p];
    }
  }
  return result;
}

}  // namespace heddle::regulation
