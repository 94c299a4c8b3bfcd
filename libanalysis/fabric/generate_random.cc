#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/random.h"
#include "fabric/sketch.h"

namespace heddle::sketch {
namespace {

/// Switches by number with free ports, and the links chosen so far.
class Graph {
 public:
  Graph(unsigned switches, unsigned ports, std::uint64_t seed) : free_(switches, ports), random_{seed} {}

  /// A tree over all switches, each joined to a random one before it. Needs 2 ports each if there are more
  /// than two.
  void join_all() {
    for (unsigned s = 1; s < free_.size(); ++s) {
      unsigned other = 0;
      do {
        other = static_cast<unsigned>(random_.below(s));
      } while (free_[other] == 0);
      add(s, other);
    }
  }

  /// One link more; false if no two switches can have it.
  bool add_link() {
    std::vector<unsigned> open = with_free_port();
    if (open.size() >= 2) {
      random_.shuffle(open);
      add(open[0], open[1]);
      return true;
    }
    // All free ports are on one switch: it takes the place of a cable between two others.
    if (open.empty() || free_[open[0]] < 2) return false;
    const unsigned alone = open[0];
    const auto elsewhere = [&](const auto& link) { return link.first != alone && link.second != alone; };
    const auto it = std::ranges::find_if(links_, elsewhere);
    if (it == links_.end()) return false;
    const auto [a, b] = *it;
    links_.erase(it);
    ++free_[a];
    ++free_[b];
    add(alone, a);
    add(alone, b);
    return true;
  }

  /// A random switch with a free port takes a host. Precondition: there is one.
  unsigned take_host() {
    const std::vector<unsigned> open = with_free_port();
    const unsigned s = open[random_.below(open.size())];
    --free_[s];
    return s;
  }

  [[nodiscard]] const std::vector<std::pair<unsigned, unsigned>>& links() const { return links_; }

 private:
  [[nodiscard]] std::vector<unsigned> with_free_port() const {
    std::vector<unsigned> open;
    for (unsigned s = 0; s < free_.size(); ++s) {
      if (free_[s] > 0) open.push_back(s);
    }
    return open;
  }

  void add(unsigned a, unsigned b) {
    --free_[a];
    --free_[b];
    links_.emplace_back(a, b);
  }

  std::vector<unsigned> free_;
  std::vector<std::pair<unsigned, unsigned>> links_;
  Random random_;
};

Result<unsigned> ports_of_each(const GeneratorSpec& spec, const RandomSpec& shape) {
  if (shape.switches < 1) return fail(ErrorCode::Invalid, "switches=0: at least one is needed");
  if (shape.links < shape.switches - 1) {
    return fail(ErrorCode::Invalid, fmt::format("links={}: {} switches need at least {} to be connected",
                                                shape.links, shape.switches, shape.switches - 1));
  }
  if (shape.switches == 1 && shape.links > 0) {
    return fail(ErrorCode::Invalid, "one switch has no other to be linked with: links must be 0");
  }
  const std::uint64_t cables = shape.hosts + 2 * std::uint64_t{shape.links};
  // Unless told, as many ports as the mean needs and half as many again, so that degrees may differ.
  const std::uint64_t mean = (cables + shape.switches - 1) / shape.switches;
  const std::uint64_t ports = spec.switch_ports != 0 ? spec.switch_ports : mean + mean / 2 + 1;
  if (auto ok = check_nodes(std::uint64_t{shape.switches} + shape.hosts); !ok) return fail(ok.error());
  if (auto ok = check_ports(spec, spec.switch_ports != 0 ? mean : ports); !ok) return fail(ok.error());
  if (shape.switches > 2 && ports < 2)
    return fail(ErrorCode::Invalid, "ports=1: switches need two to be connected");
  return static_cast<unsigned>(ports);
}

}  // namespace

Drawing draw(const GeneratorSpec& spec, const RandomSpec& shape) {
  const auto ports = ports_of_each(spec, shape);
  if (!ports) return fail(ports.error());
  Graph graph{shape.switches, *ports, shape.seed};
  graph.join_all();
  for (unsigned l = shape.switches - 1; l < shape.links; ++l) {
    if (!graph.add_link()) {
      return fail(ErrorCode::Invalid, fmt::format("links={}: {} switches of {} ports cannot have so many",
                                                  shape.links, shape.switches, *ports));
    }
  }
  Sketch sketch{spec.width, spec.speed, spec.switch_ports};
  std::vector<NodeIndex> switches;
  for (unsigned s = 0; s < shape.switches; ++s) {
    switches.push_back(sketch.add_switch(fmt::format("sw-{}", s), *ports));
  }
  std::vector<unsigned> used(shape.switches);
  for (unsigned h = 0; h < shape.hosts; ++h) {
    const unsigned s = graph.take_host();
    sketch.cable(sketch.add_host(1), 1, switches[s], ++used[s]);
  }
  for (const auto& [a, b] : graph.links()) {
    const unsigned port_a = ++used[a];
    const unsigned port_b = ++used[b];
    sketch.cable(switches[a], port_a, switches[b], port_b);
  }
  return sketch.finish();
}

}  // namespace heddle::sketch
