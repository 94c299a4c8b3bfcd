// Of Directory: paths, as the forwarding tables in force have them (IBA 15.2.5.16).

#include <algorithm>

#include "sa/directory.h"

namespace heddle::sa {
namespace {

/// More than any path: a circle in the tables ends here.
constexpr int most_hops = 64;
/// Of NumbPath, where nothing is said (IBA 15.2.5.16).
constexpr std::uint8_t all_paths = 127;
/// PacketLifeTime has 6 bits.
constexpr std::uint8_t longest_life = 63;

bool has(std::uint64_t components, std::uint64_t bits) { return (components & bits) == bits; }

/// What a path that can carry `most` is to carry at that wish; 0 if it cannot be had. `rank` puts codes in
/// order; `below` is the greatest code under one.
template <class Rank, class Below>
std::uint8_t chosen(Selected wish, std::uint8_t most, Rank rank, Below below) {
  switch (wish.selector) {
    case Selector::Above:
      return rank(most) > rank(wish.code) ? most : std::uint8_t{0};
    case Selector::Below:
      return rank(most) < rank(wish.code) ? most : below(wish.code);
    case Selector::Exactly:
      return rank(most) >= rank(wish.code) ? wish.code : std::uint8_t{0};
    case Selector::Best:
      return most;
  }
  return 0;
}

std::uint8_t chosen_mtu(Selected wish, std::uint8_t most) {
  return chosen(
      wish, most, [](std::uint8_t code) { return code; },
      [](std::uint8_t code) { return code > 1 ? static_cast<std::uint8_t>(code - 1) : std::uint8_t{0}; });
}

std::uint8_t slower_rate(std::uint8_t code) {
  std::uint8_t best = 0;
  for (std::uint8_t other = 0; rate_of(other) != 0 || other < 2; ++other) {
    if (rate_of(other) < rate_of(code) && rate_of(other) > rate_of(best)) best = other;
  }
  return best;
}

std::uint8_t chosen_rate(Selected wish, std::uint8_t most) {
  if (wish.selector != Selector::Best && rate_of(wish.code) == 0) return 0;
  return chosen(wish, most, rate_of, slower_rate);
}

/// All paths live as long; a longer life may be promised, a shorter one not.
std::optional<std::uint8_t> chosen_life(Selected wish) {
  switch (wish.selector) {
    case Selector::Above:
      if (wish.code == longest_life) return std::nullopt;
      return std::max<std::uint8_t>(packet_life_code, static_cast<std::uint8_t>(wish.code + 1));
    case Selector::Below:
      if (wish.code <= packet_life_code) return std::nullopt;
      return packet_life_code;
    case Selector::Exactly:
      if (wish.code < packet_life_code) return std::nullopt;
      return wish.code;
    case Selector::Best:
      return packet_life_code;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Capacity> Directory::walk(PortIndex from, Lid to) const {
  const Fabric& fabric = *survey_->fabric;
  const PortIndex target = fabric.find_port(to);
  if (target == no_port) return std::nullopt;
  const NodeIndex target_node = fabric.port(target).node;
  if (from == target) return capacity(from);
  PortIndex in = from;
  Capacity least = capacity(from);
  for (int hop = 0; hop < most_hops; ++hop) {
    const Port& at = fabric.port(in);
    const routing::SwitchIndex sw = switches_[at.node.raw()];
    PortIndex out = in;
    if (sw != routing::no_switch) {
      if (at.node == target_node) break;
      const PortNum port = tables_->port(sw, to);
      if (port == PortNum{0} || port.raw() > fabric.node(at.node).port_count) return std::nullopt;
      out = fabric.port_index(at.node, port);
    } else if (hop > 0) {
      // Channel adapters pass nothing on.
      if (in != target) return std::nullopt;
      break;
    }
    const Step& step = steps_[out.raw()];
    if (step.peer == no_port) return std::nullopt;
    least.mtu = std::min(least.mtu, step.capacity.mtu);
    if (rate_of(step.capacity.rate) < rate_of(least.rate)) least.rate = step.capacity.rate;
    in = step.peer;
    if (hop + 1 == most_hops) return std::nullopt;
  }
  const Capacity end = capacity(target);
  least.mtu = std::min(least.mtu, end.mtu);
  if (rate_of(end.rate) < rate_of(least.rate)) least.rate = end.rate;
  return least;
}

std::optional<PathRecord> Directory::path(PortIndex from, PortIndex to, Lid slid, Lid dlid,
                                          const PathRecord& query, std::uint64_t components) const {
  const auto capacity = walk(from, dlid);
  if (!capacity) return std::nullopt;
  const auto wish = [&](std::uint64_t bits, Selected selected) {
    return has(components, bits) ? selected : Selected{Selector::Best, 0};
  };
  const auto life = chosen_life(wish(PathRecord::has_life, query.life));
  PathRecord path;
  path.mtu.code = chosen_mtu(wish(PathRecord::has_mtu, query.mtu), capacity->mtu);
  path.rate.code = chosen_rate(wish(PathRecord::has_rate, query.rate), capacity->rate);
  if (!life || path.mtu.code == 0 || path.rate.code == 0) return std::nullopt;
  path.life.code = *life;
  path.service = query.service;
  path.dgid = has(components, PathRecord::has_dgid) ? query.dgid : gid(to);
  path.sgid = has(components, PathRecord::has_sgid) ? query.sgid : gid(from);
  path.dlid = dlid;
  path.slid = slid;
  path.pkey = has(components, PathRecord::has_pkey) ? query.pkey : default_pkey;
  // The map from SL to VL is the same on every link (daemon/vlarb), so any SL arrives.
  if (has(components, PathRecord::has_sl)) path.sl = query.sl;
  return path;
}

void Directory::add_paths(PortIndex from, PortIndex to, const PathRecord& query, std::uint64_t components,
                          std::size_t most, std::vector<PathRecord>& found) const {
  const Port& source = survey_->fabric->port(from);
  const Port& target = survey_->fabric->port(to);
  const unsigned count = 1U << std::max(source.lmc, target.lmc);
  for (unsigned turn = 0; turn < 2; ++turn) {
    for (unsigned i = 0; i < count && found.size() < most; ++i) {
      const bool idle = idle_plane_ && planes_ > 1 && i % planes_ == *idle_plane_;
      if (idle != (turn == 1)) continue;
      const auto lid_of = [&](const Port& port) {
        return Lid{static_cast<std::uint16_t>(port.lid.raw() + (i & ((1U << port.lmc) - 1U)))};
      };
      const Lid slid = has(components, PathRecord::has_slid) ? query.slid : lid_of(source);
      const Lid dlid = has(components, PathRecord::has_dlid) ? query.dlid : lid_of(target);
      if (const auto one = path(from, to, slid, dlid, query, components)) found.push_back(*one);
      // Both named: there is one such pair.
      if (has(components, PathRecord::has_slid | PathRecord::has_dlid)) return;
    }
  }
}

PathAnswer Directory::paths(const PathRecord& query, std::uint64_t components, std::size_t most) const {
  PathAnswer answer;
  const auto refuse = [&](std::uint16_t status) {
    answer.status = status;
    return answer;
  };
  const auto end = [&](std::uint64_t gid_bit, const Gid& gid, std::uint64_t lid_bit,
                       Lid lid) -> std::optional<PortIndex> {
    const bool by_gid = has(components, gid_bit);
    const bool by_lid = has(components, lid_bit);
    if (!by_gid && !by_lid) return std::nullopt;
    const PortIndex port = by_gid ? find(gid) : find(lid);
    if (by_gid && by_lid && find(lid) != port) return no_port;
    return port;
  };
  const auto from = end(PathRecord::has_sgid, query.sgid, PathRecord::has_slid, query.slid);
  const auto to = end(PathRecord::has_dgid, query.dgid, PathRecord::has_dlid, query.dlid);
  // All pairs of a fabric are too many to tell.
  if (!from && !to) return refuse(status::insufficient_components);
  const auto is_unknown_gid = [&](std::uint64_t bit, const std::optional<PortIndex>& port) {
    return has(components, bit) && port == no_port;
  };
  if (is_unknown_gid(PathRecord::has_sgid, from) || is_unknown_gid(PathRecord::has_dgid, to)) {
    return refuse(status::invalid_gid);
  }
  constexpr std::uint16_t key = 0x7fff;
  const bool foreign = has(components, PathRecord::has_pkey) && (query.pkey & key) != (default_pkey & key);
  if (from == no_port || to == no_port || foreign) return refuse(status::no_records);

  const std::uint8_t wanted = has(components, PathRecord::has_count) ? query.count & all_paths : all_paths;
  const auto add = [&](PortIndex a, PortIndex b) {
    const std::size_t limit = std::min(most, answer.paths.size() + std::max<std::size_t>(wanted, 1));
    add_paths(a, b, query, components, limit, answer.paths);
  };
  if (from && to) {
    add(*from, *to);
    return answer;
  }
  const std::span<const Port> ports = survey_->fabric->ports();
  for (std::uint32_t i = 0; i < ports.size() && answer.paths.size() < most; ++i) {
    if (ports[i].lid == no_lid) continue;
    from ? add(*from, PortIndex{i}) : add(PortIndex{i}, *to);
  }
  return answer;
}

}  // namespace heddle::sa
