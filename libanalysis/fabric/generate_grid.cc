#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fabric/sketch.h"

namespace heddle::sketch {
namespace {

std::string name(const std::vector<unsigned>& at) {
  std::string text = "sw";
  for (const unsigned x : at) text += fmt::format("-{}", x);
  return text;
}

/// Trunks come after the hosts, dimension by dimension, the one to the next switch before the one from the
/// previous.
unsigned port_to_next(const GridSpec& shape, std::size_t dimension) {
  return shape.hosts + static_cast<unsigned>(2 * dimension) * shape.links + 1;
}
unsigned port_to_previous(const GridSpec& shape, std::size_t dimension) {
  return port_to_next(shape, dimension) + shape.links;
}

Result<void> check(const GeneratorSpec& spec, const GridSpec& shape) {
  const auto positive = [](unsigned n) { return n > 0; };
  if (shape.size.empty() || shape.size.size() > 3 || !std::ranges::all_of(shape.size, positive)) {
    return fail(ErrorCode::Invalid,
                "a torus or mesh has 1 to 3 dimensions of 1 or more switches, as in 8x8x4");
  }
  if (shape.links < 1) return fail(ErrorCode::Invalid, "links=0: neighbours need at least one link");
  std::uint64_t switches = 1;
  for (const unsigned n : shape.size) switches = std::min(switches * n, max_nodes + 1);
  if (auto ok = check_nodes(switches + std::min<std::uint64_t>(switches * shape.hosts, max_nodes + 1)); !ok)
    return ok;
  return check_ports(spec, shape.hosts + 2 * std::uint64_t{shape.size.size()} * shape.links);
}

}  // namespace

Drawing draw(const GeneratorSpec& spec, const GridSpec& shape) {
  if (auto ok = check(spec, shape); !ok) return fail(ok.error());
  const std::size_t dimensions = shape.size.size();
  const unsigned used = shape.hosts + static_cast<unsigned>(2 * dimensions) * shape.links;
  Sketch sketch{spec.width, spec.speed, spec.switch_ports};

  std::vector<NodeIndex> switches;
  std::vector<std::vector<unsigned>> coordinates;
  std::vector<unsigned> at(dimensions);
  for (bool more = true; more;) {
    switches.push_back(sketch.add_switch(name(at), used));
    coordinates.push_back(at);
    more = false;
    for (std::size_t d = dimensions; d-- > 0 && !more;) {  // the last dimension runs fastest
      more = ++at[d] < shape.size[d];
      if (!more) at[d] = 0;
    }
  }
  for (const NodeIndex at_switch : switches) {
    for (unsigned h = 1; h <= shape.hosts; ++h) sketch.cable(sketch.add_host(1), 1, at_switch, h);
  }
  std::size_t stride = switches.size();
  for (std::size_t d = 0; d < dimensions; ++d) {
    const unsigned n = shape.size[d];
    stride /= n;
    for (std::size_t i = 0; i < switches.size(); ++i) {
      const bool last = coordinates[i][d] + 1 == n;
      if (last && (shape.form == GridForm::Mesh || n <= 2)) continue;
      const std::size_t next = last ? i - (n - 1) * stride : i + stride;
      for (unsigned k = 0; k < shape.links; ++k) {
        sketch.cable(switches[i], port_to_next(shape, d) + k, switches[next], port_to_previous(shape, d) + k);
      }
    }
  }
  return sketch.finish();
}

}  // namespace heddle::sketch
