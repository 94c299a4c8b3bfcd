#include "sim/links.h"

#include <algorithm>

#include "sim/training.h"

namespace heddle::sim {
namespace {

/// The highest bit that both have, of masks whose bits grow with the rate.
std::uint8_t best(std::uint8_t a, std::uint8_t b) {
  const unsigned both = a & b;
  unsigned bit = 0x80;
  while (bit != 0 && (both & bit) == 0) bit >>= 1U;
  return static_cast<std::uint8_t>(bit);
}

/// LinkWidth bits by their lanes: 2x is bit 4, below 4x.
std::uint8_t best_width(std::uint8_t a, std::uint8_t b) {
  for (const unsigned bit : {8U, 4U, 2U, 16U, 1U}) {
    if ((a & b & bit) != 0) return static_cast<std::uint8_t>(bit);
  }
  return 0;
}

/// Of a mask of LinkWidth*, what so many lanes can carry.
std::uint8_t no_wider(std::uint8_t mask, LinkWidth most) {
  if (most == LinkWidth::None) return mask;
  unsigned left = mask;
  const auto take = [&](unsigned bit, LinkWidth width) {
    if (lanes(width) > lanes(most)) left &= ~bit;
  };
  take(1, LinkWidth::X1);
  take(16, LinkWidth::X2);
  take(2, LinkWidth::X4);
  take(4, LinkWidth::X8);
  take(8, LinkWidth::X12);
  return static_cast<std::uint8_t>(left);
}

/// Of a mask of speeds whose lowest bit is `first`, those up to `most`.
std::uint8_t no_faster(std::uint8_t mask, LinkSpeed first, LinkSpeed most) {
  if (most == LinkSpeed::None) return mask;
  if (most < first) return 0;
  const unsigned steps = static_cast<unsigned>(most) - static_cast<unsigned>(first) + 1;
  return static_cast<std::uint8_t>(mask & ((1U << steps) - 1));
}

}  // namespace

LinkState* Links::link_of(PortIndex port, LinkIndex& index) {
  index = model_.fabric->port(port).link;
  return index == no_link ? nullptr : &model_.links[index.raw()];
}

bool Links::wants_up(PortIndex port) const {
  const PhysState physical = model_.info(port).physical;
  return model_.node_of(port).alive && physical != PhysState::Disabled && physical != PhysState::Sleep;
}

void Links::drop(LinkState& link, PortIndex by_set, Picoseconds now) {
  if (link.phase == LinkState::Phase::Down) return;
  const bool was_up = link.phase == LinkState::Phase::Up;
  link.phase = LinkState::Phase::Down;
  ++link.epoch;
  for (const PortIndex port : {link.a, link.b}) {
    const mad::PortInfo& info = model_.info(port);
    PhysState to = info.physical;
    if (to != PhysState::Disabled && to != PhysState::Sleep) {
      to = info.link_down_default == 1 ? PhysState::Sleep : PhysState::Polling;
    }
    model_.set_states(port, PortState::Down, to, now);
    if (was_up) downed_(port);
  }
  if (!was_up) return;
  for (const PortIndex port : {link.a, link.b}) {
    const bool own_doing = port == by_set && !model_.options.trap_own_set;
    if (!own_doing && model_.node_of(port).alive) noticed_(port, now);
  }
}

void Links::train_if_possible(LinkIndex index, Picoseconds now) {
  LinkState& link = model_.links[index.raw()];
  if (link.phase != LinkState::Phase::Down || link.cut || !wants_up(link.a) || !wants_up(link.b)) return;
  const mad::PortInfo& a = model_.info(link.a);
  const mad::PortInfo& b = model_.info(link.b);
  const bool fits = best_width(a.link_width_enabled, b.link_width_enabled) != 0 &&
                    best(a.link_speed_enabled, b.link_speed_enabled) != 0;
  if (!fits) return;
  link.phase = LinkState::Phase::Training;
  ++link.epoch;
  const Options& options = model_.options;
  const Picoseconds time =
      link.draws_training
          ? training_time({options.seed, options.training_delay, options.longest_training}, index, link.epoch)
          : link.training_delay;
  if (time <= Picoseconds{0}) {
    trained(index, link.epoch, now);
    return;
  }
  for (const PortIndex port : {link.a, link.b}) {
    model_.set_states(port, PortState::Down, PhysState::Training, now);
  }
  schedule_.add(now + time, Event::Kind::Trained, index.raw(), link.epoch);
}

void Links::negotiate(const LinkState& link) {
  mad::PortInfo& a = model_.info(link.a);
  mad::PortInfo& b = model_.info(link.b);
  const std::uint8_t width =
      best_width(no_wider(a.link_width_enabled, link.limit.width), b.link_width_enabled);
  // Every cable carries SDR.
  const std::uint8_t speed =
      best(no_faster(a.link_speed_enabled, LinkSpeed::Sdr, std::min(link.limit.speed, LinkSpeed::Qdr)),
           b.link_speed_enabled);
  // What the ports could do besides, their cable cannot.
  const bool extended =
      std::min(model_.fabric->port(link.a).speed, model_.fabric->port(link.b).speed) >= LinkSpeed::Fdr;
  const std::uint8_t ext2 = extended
                                ? best(no_faster(a.link_speed_ext2_enabled, LinkSpeed::Xdr, link.limit.speed),
                                       b.link_speed_ext2_enabled)
                                : std::uint8_t{0};
  const std::uint8_t ext = extended && ext2 == 0
                               ? best(no_faster(a.link_speed_ext_enabled, LinkSpeed::Fdr, link.limit.speed),
                                      b.link_speed_ext_enabled)
                               : std::uint8_t{0};
  for (mad::PortInfo* info : {&a, &b}) {
    info->link_width_active = width;
    info->link_speed_active = speed;
    info->link_speed_ext_active = ext;
    info->link_speed_ext2_active = ext2;
  }
}

void Links::trained(LinkIndex index, std::uint32_t epoch, Picoseconds now) {
  LinkState& link = model_.links[index.raw()];
  if (link.epoch != epoch || link.phase != LinkState::Phase::Training) return;
  link.phase = LinkState::Phase::Up;
  ++link.epoch;
  negotiate(link);
  for (const PortIndex port : {link.a, link.b}) {
    model_.set_states(port, PortState::Init, PhysState::LinkUp, now);
  }
  for (const PortIndex port : {link.a, link.b}) noticed_(port, now);
}

void Links::disable(PortIndex port, PhysState to, Picoseconds now) {
  LinkIndex index;
  LinkState* link = link_of(port, index);
  model_.set_states(port, PortState::Down, to, now);
  if (link != nullptr) drop(*link, port, now);
}

void Links::poll(PortIndex port, Picoseconds now) {
  LinkIndex index;
  LinkState* link = link_of(port, index);
  if (link != nullptr) drop(*link, port, now);
  model_.set_states(port, PortState::Down, PhysState::Polling, now);
  if (link != nullptr) train_if_possible(index, now);
}

void Links::bounce(PortIndex port, Picoseconds now) {
  LinkIndex index;
  LinkState* link = link_of(port, index);
  if (link == nullptr) return;
  drop(*link, port, now);
  train_if_possible(index, now);
}

void Links::cut(LinkIndex index, Picoseconds now) {
  LinkState& link = model_.links[index.raw()];
  link.cut = true;
  drop(link, no_port, now);
}

void Links::mend(LinkIndex index, Picoseconds now) {
  model_.links[index.raw()].cut = false;
  train_if_possible(index, now);
}

void Links::limit(LinkIndex index, const CableLimit& limit, Picoseconds now) {
  LinkState& link = model_.links[index.raw()];
  link.limit = limit;
  drop(link, no_port, now);
  train_if_possible(index, now);
}

void Links::kill(NodeIndex index, Picoseconds now) {
  NodeState& node = model_.nodes[index.raw()];
  if (!node.alive) return;
  node.alive = false;
  for (unsigned p = 1; p <= node.port_count; ++p) {
    LinkIndex link_index;
    if (LinkState* link = link_of(PortIndex{node.first_port.raw() + p}, link_index))
      drop(*link, no_port, now);
  }
  model_.power_off(index, now);
}

void Links::revive(NodeIndex index, Picoseconds now) {
  NodeState& node = model_.nodes[index.raw()];
  if (node.alive) return;
  node.alive = true;
  model_.changed(Change::Kind::PortState, index, no_port, now);
  for (unsigned p = 1; p <= node.port_count; ++p) {
    const PortIndex port{node.first_port.raw() + p};
    model_.set_states(port, PortState::Down, PhysState::Polling, now);
    LinkIndex link_index;
    if (link_of(port, link_index) != nullptr) train_if_possible(link_index, now);
  }
}

void Links::flap(LinkIndex link, const Flap& flap, Picoseconds now) {
  if (flap.times == 0) return;
  flaps_.push_back({link, flap});
  flap_due(static_cast<std::uint32_t>(flaps_.size() - 1), now);
}

void Links::flap_due(std::uint32_t index, Picoseconds now) {
  Flapping& flapping = flaps_[index];
  flapping.down = !flapping.down;
  if (flapping.down) {
    cut(flapping.link, now);
    schedule_.add(now + flapping.flap.down, Event::Kind::Flap, index);
    return;
  }
  mend(flapping.link, now);
  if (--flapping.flap.times > 0) schedule_.add(now + flapping.flap.up, Event::Kind::Flap, index);
}

}  // namespace heddle::sim
