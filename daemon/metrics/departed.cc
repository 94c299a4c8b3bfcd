#include "metrics/departed.h"

#include <algorithm>

namespace heddle::metrics {

void Departures::follow(const Labels& before, const Labels& after) {
  ++changes_;
  const Fabric& old = before.fabric();
  for (std::uint32_t n = 0; n < old.nodes().size(); ++n) {
    const Node& node = old.nodes()[n];
    if (after.fabric().find_node(node.guid) != no_node) continue;
    Gone gone{.ports = {}, .since = changes_};
    for (std::uint32_t p = 1; p <= node.port_count; ++p) {
      const PortIndex port{node.first_port.raw() + p};
      if (old.port(port).link == no_link) continue;
      gone.ports.push_back({.node = node.guid,
                            .type = node.type,
                            .guid = before.guid(port),
                            .port = old.port(port).num,
                            .name = before.name(NodeIndex{n})});
    }
    if (!gone.ports.empty()) gone_.insert_or_assign(node.guid, std::move(gone));
  }
  std::erase_if(gone_, [&](const auto& entry) { return after.fabric().find_node(entry.first) != no_node; });
  shrink();
  auto ports = std::make_shared<std::vector<DepartedPort>>();
  for (const auto& [guid, gone] : gone_) ports->insert(ports->end(), gone.ports.begin(), gone.ports.end());
  std::ranges::sort(*ports, [](const auto& a, const auto& b) {
    return std::tie(a.guid, a.port) < std::tie(b.guid, b.port);
  });
  ports_ = std::move(ports);
}

void Departures::shrink() {
  std::size_t count = 0;
  for (const auto& [guid, gone] : gone_) count += gone.ports.size();
  while (count > most) {
    const auto oldest = std::ranges::min_element(gone_, {}, [](const auto& entry) {
      return std::pair{entry.second.since, entry.first};
    });
    count -= oldest->second.ports.size();
    gone_.erase(oldest);
  }
}

}  // namespace heddle::metrics
