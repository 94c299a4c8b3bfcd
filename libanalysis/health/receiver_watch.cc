#include "health/receiver_watch.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "health/carry.h"

namespace heddle::health {
namespace {

/// A link that is as busy carries what it can.
constexpr float full_link = 0.9F;

bool is_host(const Node& node) { return node.type == NodeType::ChannelAdapter; }

}  // namespace

ReceiverWatch::ReceiverWatch(const Options& options)
    : window_{options.window}, limit_{static_cast<float>(options.slow_receiver.value())} {}

void ReceiverWatch::prepare(const std::shared_ptr<const Fabric>& fabric) {
  if (!fabric_ && limit_ > 0) look_at(fabric);
}

void ReceiverWatch::look_at(const std::shared_ptr<const Fabric>& fabric) {
  if (fabric_) {
    carry_over(*fabric_, *fabric, times_);
  } else {
    times_.assign(fabric->ports().size(), {});
  }
  fabric_ = fabric;
  seats_.clear();
  for (const Link& link : fabric->links()) {
    for (const auto& [from, to] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}}) {
      if (fabric->node(from.node).type == NodeType::Switch && is_host(fabric->node(to.node)))
        seats_.push_back({fabric->port_index(from), from, to});
    }
  }
}

void ReceiverWatch::on_sample(const load::Sample& sample) {
  if (limit_ <= 0) return;
  if (!std::exchange(sampled_, true)) began_ = last_ = sample.ended;
  if (sample.fabric != fabric_) look_at(sample.fabric);
  const auto passed = static_cast<float>(seconds(sample.ended - std::exchange(last_, sample.ended)));
  for (const Seat& seat : seats_) {
    const load::PortSample& port = sample.port(seat.port);
    if (port.status != load::PortStatus::Fresh) continue;
    if (!load::is_known(port.utilization) || !load::is_known(port.congestion)) continue;
    Times& times = times_[seat.port.raw()];
    times.busy += passed * port.utilization;
    if (port.utilization < full_link) times.starved += passed * port.congestion;
  }
  if (sample.ended - began_ < window_) return;
  judge(sample);
  began_ = sample.ended;
  for (Times& times : times_) times = {};
}

/// Ports that wait to send to this switch, or to a switch with such a port, and so on.
std::size_t ReceiverWatch::ports_behind(const load::Sample& sample, NodeIndex leaf) const {
  std::vector<NodeIndex> reached{leaf};
  std::set<NodeIndex> seen{leaf};
  std::size_t ports = 0;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const Node& node = fabric_->node(reached[i]);
    for (unsigned p = 1; p <= node.port_count; ++p) {
      const auto peer = fabric_->peer({reached[i], PortNum{static_cast<std::uint8_t>(p)}});
      if (!peer) continue;
      const float waits = sample.port(fabric_->port_index(*peer)).congestion;
      if (!load::is_known(waits) || waits < limit_) continue;
      ++ports;
      if (fabric_->node(peer->node).type == NodeType::Switch && seen.insert(peer->node).second)
        reached.push_back(peer->node);
    }
  }
  return ports;
}

void ReceiverWatch::judge(const load::Sample& sample) {
  findings_.clear();
  std::map<PortRef, unsigned> slow;
  const auto window = static_cast<float>(seconds(sample.ended - began_));
  for (const Seat& seat : seats_) {
    const Times& times = times_[seat.port.raw()];
    if (times.starved < limit_ * window) continue;
    Finding finding;
    finding.rule = Rule::SlowReceiver;
    finding.at = fabric_->ref(seat.from);
    finding.peer = fabric_->ref(seat.to);
    finding.blame = finding.peer;
    const auto before = slow_.find(finding.at);
    const unsigned windows = before == slow_.end() ? 1 : before->second + 1;
    slow[finding.at] = windows;
    finding.sureness = windows > 1 ? Sureness::Sure : Sureness::Likely;
    finding.what =
        fmt::format("could not send {:.0f} % of the time for want of credits, and was {:.0f} % busy",
                    100 * times.starved / window, 100 * times.busy / window);
    if (const std::size_t behind = ports_behind(sample, seat.from.node); behind > 0)
      finding.what += fmt::format("; {} ports that lead to it wait, too", behind);
    finding.advice =
        "that host takes packets more slowly than its link brings them: look at its PCIe link (width, "
        "speed), its memory and what runs there";
    findings_.push_back(std::move(finding));
  }
  slow_ = std::move(slow);
}

}  // namespace heddle::health
