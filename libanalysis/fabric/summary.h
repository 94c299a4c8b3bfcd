/// A fabric in a few numbers.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "fabric/fabric.h"

namespace heddle {

struct FabricSummary {
  std::size_t switches = 0;
  std::size_t channel_adapters = 0;  ///< aggregation nodes included
  std::size_t aggregation_nodes = 0;
  std::size_t routers = 0;
  std::size_t links = 0;         ///< cables between any two ports
  std::size_t switch_links = 0;  ///< of these, between two switches or from one to itself
  std::size_t ports = 0;         ///< external ports of all nodes, cabled or not
  std::size_t lids = 0;          ///< ports that have a LID
  std::size_t islands = 0;       ///< parts that no cable joins
  std::map<unsigned, std::size_t> switches_by_ports;
  std::map<std::pair<LinkWidth, LinkSpeed>, std::size_t> links_by_rate;
};

[[nodiscard]] FabricSummary summarize(const Fabric& fabric);
[[nodiscard]] std::string to_string(const FabricSummary& summary);

}  // namespace heddle
