#include "health/traffic_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "health/carry.h"

namespace heddle::health {
namespace {

/// Fewer packets in a window may be those that the ends of it cut off.
constexpr std::uint64_t telling_packets = 1000;

bool is_active(const Fabric& fabric, PortIndex port) {
  return fabric.port(port).state == PortState::Active && fabric.port(port).link != no_link;
}

bool counts(const load::PortSample& sample, load::Counter counter) {
  return (sample.known & load::mask(counter)) != 0 && (sample.saturated & load::mask(counter)) == 0;
}

}  // namespace

TrafficWatch::TrafficWatch(const Options& options)
    : window_{options.window},
      unbalance_{options.unbalance},
      unbalance_from_{options.unbalance_from.value()} {}

void TrafficWatch::look_at(const std::shared_ptr<const Fabric>& fabric) {
  fabric_ = fabric;
  find_trunks();
}

void TrafficWatch::prepare(const std::shared_ptr<const Fabric>& fabric) {
  if (fabric_) return;
  look_at(fabric);
  bases_.assign(fabric->ports().size(), {});
}

void TrafficWatch::on_sample(const load::Sample& sample) {
  if (!std::exchange(sampled_, true)) {
    if (sample.fabric != fabric_) look_at(sample.fabric);
    return begin(sample);
  }
  if (sample.fabric != fabric_) {
    carry_over(*fabric_, *sample.fabric, bases_);
    look_at(sample.fabric);
    // What was down in between has not been there for the whole window.
    for (std::size_t i = 0; i < bases_.size(); ++i) {
      if (!is_active(*fabric_, PortIndex{static_cast<std::uint32_t>(i)})) bases_[i].holds = false;
    }
  }
  if (sample.ended - began_ < window_) return;
  judge(sample);
  begin(sample);
}

void TrafficWatch::begin(const load::Sample& sample) {
  began_ = sample.ended;
  bases_.assign(sample.ports.size(), {});
  for (std::size_t i = 0; i < sample.ports.size(); ++i) {
    const load::PortSample& port = sample.ports[i];
    if (port.status != load::PortStatus::Fresh) continue;
    bases_[i] = {.xmit_packets = port.totals[load::at(load::Counter::XmitPackets)],
                 .rcv_packets = port.totals[load::at(load::Counter::RcvPackets)],
                 .xmit_data = port.totals[load::at(load::Counter::XmitData)],
                 .gaps = port.gaps,
                 .holds = is_active(*fabric_, PortIndex{static_cast<std::uint32_t>(i)})};
  }
}

bool TrafficWatch::is_whole(const load::Sample& sample, PortIndex port) const {
  const Base& base = bases_[port.raw()];
  const load::PortSample& now = sample.port(port);
  return base.holds && now.status == load::PortStatus::Fresh && now.gaps == base.gaps;
}

void TrafficWatch::judge(const load::Sample& sample) {
  findings_.clear();
  std::map<PortRef, unsigned> silent;
  judge_counters(sample, silent);
  silent_ = std::move(silent);
  judge_trunks(sample, seconds(sample.ended - began_));
}

void TrafficWatch::judge_counters(const load::Sample& sample, std::map<PortRef, unsigned>& silent) {
  const Fabric& fabric = *fabric_;
  // One end says that it sent; what the other one received must have grown, and the other way round.
  const auto compare = [&](LinkEnd end, LinkEnd peer, bool sends) {
    const PortIndex mine = fabric.port_index(end);
    const PortIndex theirs = fabric.port_index(peer);
    if (!is_whole(sample, mine) || !is_whole(sample, theirs)) return;
    const auto own = sends ? load::Counter::XmitPackets : load::Counter::RcvPackets;
    const auto other = sends ? load::Counter::RcvPackets : load::Counter::XmitPackets;
    if (!counts(sample.port(mine), own) || !counts(sample.port(theirs), other)) return;
    const auto grown = [&](PortIndex port, load::Counter counter) {
      const Base& base = bases_[port.raw()];
      const std::uint64_t was = counter == load::Counter::XmitPackets ? base.xmit_packets : base.rcv_packets;
      return sample.port(port).totals[load::at(counter)] - was;
    };
    const std::uint64_t passed = grown(theirs, other);
    if (passed < telling_packets || grown(mine, own) != 0) return;
    const PortRef at = fabric.ref(end);
    if (silent.contains(at)) return;
    const auto before = silent_.find(at);
    const unsigned windows = before == silent_.end() ? 1 : before->second + 1;
    silent[at] = windows;
    Finding finding;
    finding.rule = Rule::SilentCounters;
    finding.sureness = windows > 1 ? Sureness::Sure : Sureness::Likely;
    finding.at = at;
    finding.peer = fabric.ref(peer);
    finding.blame = at;
    finding.what =
        fmt::format("its counter of packets that it {} does not move, and the other end counted {}",
                    sends ? "sent" : "received", passed);
    finding.advice =
        "its figures mean nothing: update the firmware of that node, or restart its agent; rely on the other "
        "end until then";
    findings_.push_back(std::move(finding));
  };
  for (const Link& link : fabric.links()) {
    for (const bool sends : {true, false}) {
      compare(link.a, link.b, sends);
      compare(link.b, link.a, sends);
    }
  }
}

/// Ports of each switch that lead to one and the same other one, where they are several.
void TrafficWatch::find_trunks() {
  const Fabric& fabric = *fabric_;
  trunks_.clear();
  std::vector<std::pair<NodeIndex, LinkEnd>> to;
  std::vector<std::uint32_t> met_by(fabric.nodes().size(),
                                    no_node.raw());  // the last switch that leads there
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    const Node& node = fabric.nodes()[i];
    if (node.type != NodeType::Switch) continue;
    to.clear();
    bool twice = false;
    for (unsigned p = 1; p <= node.port_count; ++p) {
      const LinkEnd from{NodeIndex{i}, PortNum{static_cast<std::uint8_t>(p)}};
      const auto peer = fabric.peer(from);
      if (!peer || fabric.node(peer->node).type != NodeType::Switch) continue;
      twice = std::exchange(met_by[peer->node.raw()], i) == i || twice;
      to.emplace_back(peer->node, from);
    }
    if (!twice) continue;
    std::ranges::stable_sort(to, {}, [](const auto& each) { return each.first; });
    for (std::size_t first = 0, last = 0; first < to.size(); first = last) {
      while (last < to.size() && to[last].first == to[first].first) ++last;
      if (last - first < 2) continue;
      std::vector<LinkEnd> members;
      for (std::size_t m = first; m < last; ++m) members.push_back(to[m].second);
      trunks_.push_back(std::move(members));
    }
  }
}

std::optional<double> TrafficWatch::busy(const load::Sample& sample, LinkEnd from,
                                         double seconds_passed) const {
  const PortIndex port = fabric_->port_index(from);
  const Link& link = fabric_->link(fabric_->port(port).link);
  const double rate = data_rate(link.width, link.speed).value() / 8;
  if (rate <= 0 || !is_whole(sample, port) || !counts(sample.port(port), load::Counter::XmitData))
    return std::nullopt;
  const std::uint64_t words =
      sample.port(port).totals[load::at(load::Counter::XmitData)] - bases_[port.raw()].xmit_data;
  return static_cast<double>(words) * 4 / seconds_passed / rate;
}

void TrafficWatch::judge_trunks(const load::Sample& sample, double seconds_passed) {
  const Fabric& fabric = *fabric_;
  struct Member {
    LinkEnd from;
    double busy = 0;
  };
  std::vector<Member> members;
  for (const std::vector<LinkEnd>& trunk : trunks_) {
    members.clear();
    for (const LinkEnd& from : trunk) {
      if (const auto share = busy(sample, from, seconds_passed)) members.push_back({from, *share});
    }
    if (members.size() < 2) continue;
    const auto [least, most] =
        std::ranges::minmax_element(members, {}, [](const Member& member) { return member.busy; });
    if (most->busy < unbalance_from_ || most->busy < unbalance_ * least->busy) continue;
    Finding finding;
    finding.rule = Rule::UnbalancedTrunk;
    finding.sureness = Sureness::Likely;
    finding.at = fabric.ref(most->from);
    finding.peer = fabric.ref(*fabric.peer(most->from));
    finding.what = fmt::format(
        "was {:.0f} % busy, and another of the {} links that lead from the one switch to the other {:.0f} %",
        100 * most->busy, members.size(), 100 * least->busy);
    finding.advice =
        "look which routes lead over it ('heddle route check', the subnet manager's engine), and whether one "
        "large flow fills it";
    findings_.push_back(std::move(finding));
  }
}

}  // namespace heddle::health
