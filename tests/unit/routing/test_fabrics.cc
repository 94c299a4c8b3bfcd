#include "unit/routing/test_fabrics.h"

#include <algorithm>
#include <numeric>

namespace heddle::routing::shapes {

void Sketch::shuffle(std::uint64_t seed) {
  Random random(seed);
  random.shuffle(cables_);
  random.shuffle(hosts_);
  random.shuffle(guids_);
}

std::shared_ptr<const Fabric> Sketch::build(std::uint8_t lmc) const {
  FabricBuilder builder;
  std::vector<unsigned> need(ports_.size(), 0);
  for (const Cable& c : cables_) {
    ++need[c.a];
    ++need[c.b];
  }
  for (const unsigned at : hosts_) ++need[at];

  std::vector<unsigned> order(ports_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](unsigned x, unsigned y) { return guids_[x] < guids_[y]; });
  std::vector<NodeIndex> nodes(ports_.size());
  std::uint16_t lid = 1;
  for (const unsigned s : order) {
    Node node;
    node.guid = NodeGuid{guids_[s]};
    node.type = NodeType::Switch;
    node.port_count = static_cast<std::uint8_t>(need[s]);
    nodes[s] = builder.add_node(node).value();
    Port port0;
    port0.num = PortNum{0};
    port0.guid = PortGuid{node.guid.raw()};
    port0.lid = Lid{lid++};
    port0.state = PortState::Active;
    (void)builder.set_port(nodes[s], port0);
  }
  std::vector<unsigned> used(ports_.size(), 0);
  const auto next = [&](unsigned s) {
    return LinkEnd{nodes[s], PortNum{static_cast<std::uint8_t>(++used[s])}};
  };
  for (const Cable& c : cables_) {
    const LinkEnd a = next(c.a);
    const LinkEnd b = next(c.b);
    (void)builder.add_link(a, b, LinkWidth::X4, LinkSpeed::Hdr).value();
  }
  const unsigned step = 1U << lmc;
  lid = static_cast<std::uint16_t>((lid + step - 1) / step * step);
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    Node node;
    node.guid = NodeGuid{0x10000000 + h * 2};
    node.port_count = 1;
    const NodeIndex index = builder.add_node(node).value();
    Port port;
    port.num = PortNum{1};
    port.guid = PortGuid{node.guid.raw() + 1};
    port.lid = Lid{lid};
    port.lmc = lmc;
    port.state = PortState::Active;
    (void)builder.set_port(index, port);
    lid = static_cast<std::uint16_t>(lid + step);
    (void)builder.add_link({index, PortNum{1}}, next(hosts_[h]), LinkWidth::X4, LinkSpeed::Hdr).value();
  }
  return builder.build();
}

Sketch two_level_tree(unsigned leaves, unsigned spines, unsigned hosts, unsigned trunk) {
  Sketch sketch(leaves + spines);
  for (unsigned l = 0; l < leaves; ++l) {
    for (unsigned s = 0; s < spines; ++s) sketch.cable(l, leaves + s, trunk);
    sketch.hosts(l, hosts);
  }
  return sketch;
}

Sketch three_level_tree(unsigned k) {
  const unsigned pods = 2 * k;
  const unsigned middles = pods * k;
  const unsigned tops = 2 * pods * k;
  Sketch sketch(tops + k * k);
  for (unsigned p = 0; p < pods; ++p) {
    for (unsigned l = 0; l < k; ++l) {
      for (unsigned m = 0; m < k; ++m) sketch.cable(p * k + l, middles + p * k + m);
      sketch.hosts(p * k + l, k);
    }
    for (unsigned m = 0; m < k; ++m) {
      for (unsigned t = 0; t < k; ++t) sketch.cable(middles + p * k + m, tops + m * k + t);
    }
  }
  return sketch;
}

Sketch torus(unsigned columns, unsigned rows, unsigned hosts, unsigned trunk) {
  Sketch sketch(columns * rows);
  for (unsigned y = 0; y < rows; ++y) {
    for (unsigned x = 0; x < columns; ++x) {
      const unsigned s = y * columns + x;
      sketch.cable(s, y * columns + (x + 1) % columns, trunk);
      sketch.cable(s, (y + 1) % rows * columns + x, trunk);
      sketch.hosts(s, hosts);
    }
  }
  return sketch;
}

Sketch tangle(unsigned switches, unsigned extra, unsigned hosts, std::uint64_t seed) {
  Random random(seed);
  Sketch sketch(switches);
  for (unsigned s = 1; s < switches; ++s) sketch.cable(s, static_cast<unsigned>(random.below(s)));
  for (unsigned i = 0; i < extra && switches > 1; ++i) {
    const auto a = static_cast<unsigned>(random.below(switches));
    const auto b = static_cast<unsigned>(random.below(switches - 1));
    sketch.cable(a, b < a ? b : b + 1);
  }
  for (unsigned h = 0; h < hosts; ++h) sketch.hosts(static_cast<unsigned>(random.below(switches)), 1);
  sketch.shuffle(seed);
  return sketch;
}

}  // namespace heddle::routing::shapes
