#include "regulate/pins.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fabric/link_name.h"
#include "fabric/links.h"
#include "load/glob.h"

namespace heddle::regulate {

Pins find_pins(std::shared_ptr<const Fabric> fabric, const NodeNames& names,
               std::span<const std::string> patterns) {
  Pins pins;
  if (patterns.empty()) return pins;
  const FabricNames texts{fabric, names};
  std::vector<bool> matched(patterns.size(), false);
  for (const Link& link : fabric->links()) {
    if (!joins_switches(*fabric, link)) continue;
    const std::string a = texts.port(link.a);
    const std::string b = texts.port(link.b);
    // Where several nodes have one name, it means all of them.
    const auto plain = [&](LinkEnd end) { return names.of(fabric->node(end.node)); };
    const auto plain_port = [&](LinkEnd end) { return fmt::format("{}/{}", plain(end), end.port.raw()); };
    const std::array<std::string, 10> called{fmt::format("{} -- {}", a, b),
                                             fmt::format("{} -- {}", b, a),
                                             a,
                                             b,
                                             texts.node(link.a.node),
                                             texts.node(link.b.node),
                                             plain(link.a),
                                             plain(link.b),
                                             plain_port(link.a),
                                             plain_port(link.b)};
    bool pinned = false;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const bool fits = std::any_of(called.begin(), called.end(), [&](const std::string& text) {
        return load::glob_matches(patterns[i], text);
      });
      matched[i] = matched[i] || fits;
      pinned = pinned || fits;
    }
    if (pinned) pins.links.push_back(link_ref(*fabric, link));
  }
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (!matched[i]) pins.unmatched.push_back(patterns[i]);
  }
  return pins;
}

}  // namespace heddle::regulate
