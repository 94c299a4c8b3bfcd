/// What a test broke: links that are down because it cut them or killed a node are told apart from those that
/// a Set took down. Positions are those of the description.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/simulated_fabric.h"

namespace heddle::test {

class FaultLedger {
 public:
  explicit FaultLedger(const sim::SimulatedFabric& sim)
      : sim_{sim},
        cut_(sim.description().links().size()),
        dead_(sim.description().nodes().size()),
        drained_(sim.description().nodes().size()) {}

  void cut(LinkIndex link) { set(cut_[link.raw()], true); }
  void mend(LinkIndex link) {
    set(cut_[link.raw()], false);
    returning_.push_back(link);
    ++version_;
  }
  void kill(NodeIndex node) { set(dead_[node.raw()], true); }
  void revive(NodeIndex node) {
    set(dead_[node.raw()], false);
    ++version_;
    const Fabric& plain = sim_.description();
    for (unsigned p = 1; p <= plain.node(node).port_count; ++p) {
      const Port& port = plain.port(LinkEnd{node, PortNum{static_cast<std::uint8_t>(p)}});
      if (port.link != no_link) returning_.push_back(port.link);
    }
  }
  /// Nobody is to reach this switch, or to be reached from it, and its hosts go with it.
  void drain(NodeIndex node, bool value = true) { set(drained_[node.raw()], value); }
  [[nodiscard]] bool is_drained(NodeIndex node) const { return drained_[node.raw()] != 0; }
  /// While it is open, routes through what is broken are the fault's.
  void open() { set(open_, true); }
  void close() { set(open_, false); }

  [[nodiscard]] bool is_open() const { return open_ != 0; }
  [[nodiscard]] bool is_dead(NodeIndex node) const { return dead_[node.raw()] != 0; }
  [[nodiscard]] bool has(LinkIndex link) const {
    const Link& cable = sim_.description().link(link);
    if (cut_[link.raw()] != 0 || is_dead(cable.a.node) || is_dead(cable.b.node)) return true;
    return !returning_.empty() && std::find(returning_.begin(), returning_.end(), link) != returning_.end();
  }

  /// Links of a fault that is over are as others when they have trained, or when a Set took them.
  void forget_what_is_back() {
    const auto back = [this](LinkIndex link) {
      const Fabric& plain = sim_.description();
      const PhysState a = sim_.port_info(plain.port_index(plain.link(link).a)).physical;
      const PhysState b = sim_.port_info(plain.port_index(plain.link(link).b)).physical;
      const bool trained = a == PhysState::LinkUp && b == PhysState::LinkUp;
      return trained || a == PhysState::Disabled || b == PhysState::Disabled;
    };
    if (std::erase_if(returning_, back) != 0) ++version_;
  }

  /// Grows whenever an answer may be another one.
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  void set(std::uint8_t& what, bool value) {
    const std::uint8_t before = std::exchange(what, value ? std::uint8_t{1} : std::uint8_t{0});
    if (before != what) ++version_;
  }

  const sim::SimulatedFabric& sim_;
  std::vector<std::uint8_t> cut_;
  std::vector<std::uint8_t> dead_;
  std::vector<std::uint8_t> drained_;
  std::vector<LinkIndex> returning_;  ///< of a fault that is over
  std::uint8_t open_ = 0;
  std::uint64_t version_ = 1;
};

}  // namespace heddle::test
