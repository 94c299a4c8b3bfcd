/// Which switch stands above which. The plan's order where there is a plan, and never another one afterwards:
/// old and new tables together are free of deadlock only in one order (facts/regulation.md 2). Without any
/// plan the router chooses, and chooses again when switches come. OpenSM's routing thread.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/plan.h"
#include "routing/ranks.h"
#include "routing/switch_graph.h"

namespace heddle::planned {

using RankList = std::vector<std::pair<NodeGuid, std::uint16_t>>;

class Order {
 public:
  /// For every switch of the graph. Empty: the router is to choose.
  [[nodiscard]] RankList ranks(const routing::SwitchGraph& graph, const plan::Plan* plan);
  /// What the router used.
  void keep(const routing::SwitchGraph& graph, const routing::Ranks& ranks);

  [[nodiscard]] const std::unordered_map<NodeGuid, std::uint16_t>& known() const { return known_; }

 private:
  std::unordered_map<NodeGuid, std::uint16_t> known_;
  bool fixed_ = false;
};

}  // namespace heddle::planned
