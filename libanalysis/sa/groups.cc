#include "sa/groups.h"

#include <algorithm>
#include <utility>

#include "sa/components.h"

namespace heddle::sa {
namespace {

constexpr std::uint16_t first_mlid = 0xc000;
constexpr std::uint16_t key_bits = 0x7fff;
/// Of groups that say nothing else: what OpenSM takes, and every adapter can do.
constexpr std::uint8_t default_mtu = 4;   // 2048 bytes
constexpr std::uint8_t default_rate = 3;  // 10 Gb/s
constexpr std::uint32_t ipoib_qkey = 0x0b1b;
constexpr std::uint8_t full_states = join::full | join::send_only_full;
/// Without which no group is made (IBA 15.2.5.17.2).
constexpr std::uint64_t to_create = McMemberRecord::has_qkey | McMemberRecord::has_traffic_class |
                                    McMemberRecord::has_pkey | McMemberRecord::has_sl |
                                    McMemberRecord::has_flow_label;
/// A prefix for MGIDs that are left to us: transient, of this subnet, and of no protocol known (IBA 4.1.1).
constexpr std::uint64_t made_prefix = 0xff12a01bfe800000;

bool group_has(std::uint64_t components, std::uint64_t bits) { return (components & bits) == bits; }

std::uint8_t scope_of(const Gid& mgid) { return static_cast<std::uint8_t>(mgid.prefix >> 48U & 0xfU); }

bool is_multicast(const Gid& gid) { return gid.prefix >> 56U == 0xff; }

template <class Rank>
bool fits(Selected wish, std::uint8_t is, Rank rank) {
  switch (wish.selector) {
    case Selector::Above:
      return rank(is) > rank(wish.code);
    case Selector::Below:
      return rank(is) < rank(wish.code);
    case Selector::Exactly:
      return rank(is) == rank(wish.code);
    case Selector::Best:
      return true;
  }
  return false;
}
unsigned mtu_rank(std::uint8_t code) { return code; }

/// The settings that were named are those of the group.
bool agrees(const McMemberRecord& wish, std::uint64_t components, const McMemberRecord& is) {
  using R = McMemberRecord;
  const auto differs = [&](std::uint64_t bits, bool same) { return group_has(components, bits) && !same; };
  return !(differs(R::has_qkey, wish.qkey == is.qkey) ||
           differs(R::has_pkey, (wish.pkey & key_bits) == (is.pkey & key_bits)) ||
           differs(R::has_traffic_class, wish.traffic_class == is.traffic_class) ||
           differs(R::has_sl, wish.sl == is.sl) ||
           differs(R::has_flow_label, wish.flow_label == is.flow_label) ||
           differs(R::has_mtu, fits(wish.mtu, is.mtu.code, mtu_rank)) ||
           differs(R::has_rate, fits(wish.rate, is.rate.code, rate_of)));
}

/// The MTU or rate of a group that is made: the default where that fits, else what is asked for; 0 where that
/// cannot be had.
template <class Rank>
std::uint8_t setting(bool named, Selected wish, std::uint8_t usual, std::uint8_t most, Rank rank) {
  if (named && wish.selector == Selector::Exactly) return wish.code;
  if (named && wish.selector == Selector::Best) return most;
  const std::uint8_t value = rank(usual) <= rank(most) ? usual : most;
  if (!named || fits(wish, value, rank)) return value;
  return wish.selector == Selector::Above && fits(wish, most, rank) ? most : std::uint8_t{0};
}

std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 33U;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33U;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33U);
}

}  // namespace

Groups::Groups(const Limits& limits) : limits_{limits} {
  Group broadcast;
  broadcast.permanent = true;
  McMemberRecord& settings = broadcast.settings;
  settings.mgid = ipoib_broadcast;
  settings.qkey = ipoib_qkey;
  settings.mlid = Lid{first_mlid};
  settings.mtu.code = default_mtu;
  settings.rate.code = default_rate;
  settings.life.code = packet_life_code;
  settings.pkey = default_pkey;
  settings.scope = scope_of(ipoib_broadcast);
  mlids_.emplace(settings.mlid, ipoib_broadcast);
  groups_.emplace(ipoib_broadcast, std::move(broadcast));
}

/// The same group gets the same MLID after a restart, as far as that goes: members that have not registered
/// anew yet go on hearing it.
std::optional<Lid> Groups::free_mlid(const Gid& mgid) const {
  if (mlids_.size() >= limits_.groups) return std::nullopt;
  std::uint64_t at = mixed(mgid.prefix ^ mixed(mgid.id)) % limits_.groups;
  while (mlids_.contains(Lid{static_cast<std::uint16_t>(first_mlid + at)})) at = (at + 1) % limits_.groups;
  return Lid{static_cast<std::uint16_t>(first_mlid + at)};
}

Groups::Answer Groups::create(const McMemberRecord& wish, std::uint64_t components, PortGuid port,
                              Capacity capacity) {
  if ((wish.join_state & full_states) == 0) return {status::request_invalid, {}};
  if (!group_has(components, to_create)) return {status::insufficient_components, {}};
  if ((wish.pkey & key_bits) != (default_pkey & key_bits)) return {status::request_invalid, {}};
  Group group;
  McMemberRecord& is = group.settings;
  is = wish;
  if (wish.mgid == Gid{}) is.mgid = {made_prefix, mixed(port.raw()) + ++made_};
  is.scope = scope_of(is.mgid);
  is.mtu = {Selector::Exactly, setting(group_has(components, McMemberRecord::has_mtu), wish.mtu, default_mtu,
                                       capacity.mtu, mtu_rank)};
  is.rate = {Selector::Exactly, setting(group_has(components, McMemberRecord::has_rate), wish.rate,
                                        default_rate, capacity.rate, rate_of)};
  is.life = {Selector::Exactly, packet_life_code};
  is.port = {};
  is.join_state = 0;
  is.proxy_join = false;
  if (is.mtu.code == 0 || is.mtu.code > capacity.mtu || rate_of(is.rate.code) == 0 ||
      rate_of(is.rate.code) > rate_of(capacity.rate)) {
    return {status::request_invalid, {}};
  }
  const auto mlid = free_mlid(is.mgid);
  if (!mlid || groups_.contains(is.mgid)) return {status::no_resources, {}};
  is.mlid = *mlid;
  const Answer answer{mad::status::ok, is};
  mlids_.emplace(*mlid, is.mgid);
  events_.emplace_back(Event::Created, is.mgid);
  groups_.emplace(is.mgid, std::move(group));
  return answer;
}

Groups::Answer Groups::join(const McMemberRecord& wish, std::uint64_t components, PortGuid port,
                            Capacity capacity) {
  if (!group_has(components, McMemberRecord::has_port_gid | McMemberRecord::has_join_state)) {
    return {status::insufficient_components, {}};
  }
  const bool named = group_has(components, McMemberRecord::has_mgid) && wish.mgid != Gid{};
  if (wish.join_state == 0 || (named && !is_multicast(wish.mgid))) return {status::request_invalid, {}};
  const auto count = joined_.find(port);
  auto found = named ? groups_.find(wish.mgid) : groups_.end();
  const bool is_member = found != groups_.end() && found->second.members.contains(port);
  if (!is_member && count != joined_.end() && count->second >= limits_.per_port) {
    return {status::no_resources, {}};
  }
  if (found == groups_.end()) {
    McMemberRecord asked = wish;
    if (!named) asked.mgid = {};
    const Answer made = create(asked, components, port, capacity);
    if (made.status != mad::status::ok) return made;
    found = groups_.find(made.record.mgid);
  } else {
    const McMemberRecord& is = found->second.settings;
    const bool too_slow = capacity.mtu < is.mtu.code || rate_of(capacity.rate) < rate_of(is.rate.code);
    if (!agrees(wish, components, is) || too_slow) return {status::request_invalid, {}};
  }
  Group& group = found->second;
  const auto [member, is_new] = group.members.try_emplace(port);
  if (is_new) ++joined_[port];
  const std::uint8_t before = member->second.join_state;
  const std::uint8_t states = before | wish.join_state;
  member->second = group.settings;
  member->second.port = wish.port;
  member->second.join_state = states;
  if (states != before) ++revision_;
  return {mad::status::ok, member->second};
}

Groups::Answer Groups::leave(const McMemberRecord& wish, std::uint64_t components, PortGuid port) {
  if (!group_has(components,
                 McMemberRecord::has_mgid | McMemberRecord::has_port_gid | McMemberRecord::has_join_state)) {
    return {status::insufficient_components, {}};
  }
  const auto found = groups_.find(wish.mgid);
  if (found == groups_.end()) return {status::request_invalid, {}};
  Group& group = found->second;
  const auto member = group.members.find(port);
  if (member == group.members.end() || wish.join_state == 0 ||
      (member->second.join_state & wish.join_state) != wish.join_state) {
    return {status::request_invalid, {}};
  }
  ++revision_;
  Answer answer{mad::status::ok, member->second};
  member->second.join_state =
      static_cast<std::uint8_t>(member->second.join_state & ~unsigned{wish.join_state});
  answer.record.join_state = member->second.join_state;
  const auto forget_one = [&](PortGuid whose) {
    if (const auto count = joined_.find(whose); count != joined_.end() && --count->second == 0) {
      joined_.erase(count);
    }
  };
  if (member->second.join_state == 0) {
    group.members.erase(member);
    forget_one(port);
  }
  const bool lives =
      group.permanent || std::any_of(group.members.begin(), group.members.end(),
                                     [](const auto& m) { return (m.second.join_state & full_states) != 0; });
  if (!lives) {
    for (const auto& [whose, record] : group.members) forget_one(whose);
    mlids_.erase(group.settings.mlid);
    events_.emplace_back(Event::Deleted, found->first);
    groups_.erase(found);
  }
  return answer;
}

std::vector<Groups::Record> Groups::records(std::span<const std::uint8_t> query, std::uint64_t components,
                                            Trust trust) const {
  std::vector<Record> found;
  // What an untrusted query cannot be told, it cannot ask for either.
  constexpr std::uint64_t secrets = McMemberRecord::has_port_gid | McMemberRecord::has_join_state;
  if (trust == Trust::No) components &= ~secrets;
  const auto add = [&](const McMemberRecord& record) {
    Record bytes{};
    encode(record, bytes);
    if (matches(member_record_fields(), components, query, bytes)) found.push_back(bytes);
  };
  for (const auto& [mgid, group] : groups_) {
    if (trust == Trust::No || group.members.empty()) {
      add(group.settings);
      continue;
    }
    for (const auto& [port, record] : group.members) add(record);
  }
  return found;
}

Groups::Members Groups::members() const {
  Members all;
  for (const auto& [mgid, group] : groups_) {
    for (const auto& [port, record] : group.members) all[group.settings.mlid][port] = record.join_state;
  }
  return all;
}

}  // namespace heddle::sa
