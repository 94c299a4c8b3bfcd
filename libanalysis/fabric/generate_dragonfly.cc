#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "fabric/sketch.h"

namespace heddle::sketch {
namespace {

Result<void> check(const GeneratorSpec& spec, const DragonflyPlusSpec& shape) {
  if (shape.groups < 1 || shape.leaves < 1 || shape.spines < 1 || shape.links < 1) {
    return fail(ErrorCode::Invalid, "a dragonfly+ needs groups, leaves, spines and links of 1 or more");
  }
  const std::uint64_t leaf_ports = shape.hosts + std::uint64_t{shape.spines} * shape.links;
  const std::uint64_t spine_ports = shape.global + std::uint64_t{shape.leaves} * shape.links;
  for (const std::uint64_t ports : {leaf_ports, spine_ports}) {
    if (auto ok = check_ports(spec, ports); !ok) return ok;
  }
  if (auto ok = check_nodes(shape.groups); !ok) return ok;
  const std::uint64_t group = shape.spines + std::uint64_t{shape.leaves} * (1 + shape.hosts);
  if (auto ok = check_nodes(shape.groups * group); !ok) return ok;
  if (shape.groups > 1 && std::uint64_t{shape.spines} * shape.global < shape.groups - 1) {
    return fail(ErrorCode::Invalid,
                fmt::format("spines={} with global={} reach {} other groups, and there are {}", shape.spines,
                            shape.global, shape.spines * shape.global, shape.groups - 1));
  }
  return {};
}

}  // namespace

Drawing draw(const GeneratorSpec& spec, const DragonflyPlusSpec& shape) {
  if (auto ok = check(spec, shape); !ok) return fail(ok.error());
  const unsigned leaf_ports = shape.hosts + shape.spines * shape.links;
  const unsigned local_ports = shape.leaves * shape.links;
  Sketch sketch{spec.width, spec.speed, spec.switch_ports};

  std::vector<NodeIndex> leaves;
  std::vector<NodeIndex> spines;
  for (unsigned i = 0; i < shape.groups * shape.leaves; ++i) {
    leaves.push_back(
        sketch.add_switch(fmt::format("leaf-{}-{}", i / shape.leaves, i % shape.leaves), leaf_ports));
  }
  for (unsigned i = 0; i < shape.groups * shape.spines; ++i) {
    spines.push_back(sketch.add_switch(fmt::format("spine-{}-{}", i / shape.spines, i % shape.spines),
                                       local_ports + shape.global));
  }
  for (const NodeIndex leaf : leaves) {
    for (unsigned h = 1; h <= shape.hosts; ++h) sketch.cable(sketch.add_host(1), 1, leaf, h);
  }
  for (unsigned l = 0; l < leaves.size(); ++l) {
    for (unsigned s = 0; s < shape.spines; ++s) {
      const NodeIndex spine = spines[l / shape.leaves * shape.spines + s];
      for (unsigned k = 0; k < shape.links; ++k) {
        sketch.cable(leaves[l], shape.hosts + s * shape.links + k + 1, spine,
                     l % shape.leaves * shape.links + k + 1);
      }
    }
  }
  // Number c * others + d - 1 among a group's global links is the c-th one to the group d further round.
  // Numbers run over the spines; one step further after each full cycle, lest a pair of groups always meets
  // the same spine.
  const unsigned others = shape.groups - 1;
  const unsigned links_of_a_pair = others == 0 ? 0 : shape.spines * shape.global / others;
  const unsigned cycle = std::max(std::lcm(shape.spines, others), 1U);
  const auto global_end = [&](unsigned group, unsigned number) {
    const unsigned spine = (number + number / cycle) % shape.spines;
    return LinkEnd{spines[group * shape.spines + spine],
                   PortNum{static_cast<std::uint8_t>(local_ports + number / shape.spines + 1)}};
  };
  for (unsigned i = 0; i < shape.groups; ++i) {
    for (unsigned j = i + 1; j < shape.groups; ++j) {
      for (unsigned c = 0; c < links_of_a_pair; ++c) {
        const LinkEnd a = global_end(i, c * others + (j - i) - 1);
        const LinkEnd b = global_end(j, c * others + (i + shape.groups - j) - 1);
        sketch.cable(a.node, a.port.raw(), b.node, b.port.raw());
      }
    }
  }
  return sketch.finish();
}

}  // namespace heddle::sketch
