// What a TableWriter leaves as it stands though other entries are wanted: those of nodes that nobody knows,
// and those that work and would be taken away for nothing, or for a circle.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "authority/own/table_writer.h"
#include "routing/strangers.h"

namespace heddle::provision {
namespace {

constexpr std::size_t ports = 256;

// Where an entry leads, besides to a switch.
constexpr std::uint32_t nowhere = 0xffffffffU;
constexpr std::uint32_t the_unknown = nowhere - 1;
constexpr std::uint32_t out_of_the_switches = nowhere - 2;  ///< to a host, or to the switch itself

}  // namespace

/// A cable that is in use, and nobody known at its other end; or a port that did not say whether it is.
bool TableWriter::is_unknown_behind(LinkEnd end) const {
  const std::vector<SurveyPort>& said = survey_->node(end.node).ports;
  if (end.port == PortNum{0} || end.port.raw() >= said.size()) return false;
  // The snapshot's states are those of the sweep, and may be earlier.
  const SurveyPort& port = said[end.port.raw()];
  return survey_->fabric->port(end).link == no_link && (!port.known || port.info.state == PortState::Active);
}

bool TableWriter::somebody_is_unknown() const {
  for (const NodeIndex node : switches_) {
    if (node == no_node) continue;
    for (std::size_t p = 1; p < survey_->node(node).ports.size(); ++p) {
      if (is_unknown_behind({node, PortNum{static_cast<std::uint8_t>(p)}})) return true;
    }
  }
  return false;
}

PortNum TableWriter::standing(routing::SwitchIndex sw, std::size_t lid) const {
  const Table* const table = tables_[sw.raw()];
  if (table == nullptr || lid >= table->bytes.size() || !table->known[lid / routing::lids_per_block])
    return no_path;
  return PortNum{table->bytes[lid]};
}

/// The switches that a packet passes by the tables that stand, from one that shall have no path to where
/// nobody is known; none where it comes to no such place, or to a switch that shall have a path.
std::vector<routing::SwitchIndex> TableWriter::way_to_the_unknown(routing::SwitchIndex sw, Lid lid) const {
  std::vector<routing::SwitchIndex> way;
  while (way.size() < switches_.size() && routes_->tables.port(sw, lid) == no_path) {
    const PortNum out = standing(sw, lid.raw());
    if (out == no_path || switches_[sw.raw()] == no_node) return {};
    way.push_back(sw);
    if (is_unknown_behind({switches_[sw.raw()], out})) return way;
    const auto next = hop(sw, out);
    if (!next || !routes_->up.contains(next->link)) return {};
    sw = next->peer;
  }
  return {};
}

/// By LID, whether some switch is to have an entry for it.
std::vector<char> TableWriter::lids_that_are_known() const {
  const routing::ForwardingTables& wanted = routes_->tables;
  std::vector<char> is_known(wanted.stride(), 0);
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    const auto row = wanted.row(routing::SwitchIndex{s});
    for (std::size_t lid = 0; lid < row.size(); ++lid) is_known[lid] |= row[lid] != no_path.raw() ? 1 : 0;
  }
  return is_known;
}

bool TableWriter::is_unheard(LinkIndex link) const {
  return routes_->unheard.universe() != 0 && routes_->unheard.contains(link);
}

/// To whoever is at its other end, be it somebody whom nobody has heard.
bool TableWriter::carries_packets(LinkIndex link) const {
  return routes_->up.contains(link) || is_unheard(link);
}

/// From a way down to another switch, which the order does not allow there.
bool TableWriter::turns_back_up(routing::SwitchIndex from, routing::SwitchIndex over, PortNum out) const {
  const routing::UpDownRouter& order = *routes_->order;
  const auto next = hop(over, out);
  return next && order.ranks().above(from, over) && !order.ranks().above(over, next->peer) &&
         !order.mends().turns(from, over, next->peer);
}

/// A switch that nobody has heard sends what it has to its neighbours by entries of before, which nobody can
/// change: no neighbour may begin to lead that where the order allows no turn. What would have turned so
/// already does not come from there, as its entries follow the order, too. Nor may anybody begin to lead to a
/// neighbour what that leads there, where there is no such turn.
void TableWriter::leave_out_turns_of_the_unheard() {
  if (!routes_->order || routes_->unheard.count() == 0) return;
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    const routing::SwitchIndex sw{s};
    for (const routing::Hop& hop : routes_->order->graph().hops(sw)) {
      if (is_unheard(hop.link)) {
        leave_out_turns_from_the_unheard(hop.peer, sw);
      } else {
        leave_out_turns_to_the_unheard(sw, hop);
      }
    }
  }
}

void TableWriter::leave_out_turns_from_the_unheard(routing::SwitchIndex unheard, routing::SwitchIndex sw) {
  const auto stands = working_.row(sw);
  const auto wanted = routes_->tables.row(sw);
  for (std::size_t lid = 1; lid < wanted.size(); ++lid) {
    if (stands[lid] == wanted[lid] || !turns_back_up(unheard, sw, PortNum{wanted[lid]})) continue;
    if (!turns_back_up(unheard, sw, PortNum{stands[lid]})) left_out_[lid] = 1;
  }
}

void TableWriter::leave_out_turns_to_the_unheard(routing::SwitchIndex sw, const routing::Hop& to) {
  for (const routing::Hop& on : routes_->order->graph().hops(to.peer)) {
    if (!is_unheard(on.link) || !turns_back_up(sw, to.peer, on.out)) continue;
    const auto stands = working_.row(sw);
    const auto wanted = routes_->tables.row(sw);
    const auto onward = routes_->tables.row(to.peer);
    for (std::size_t lid = 1; lid < wanted.size(); ++lid) {
      if (stands[lid] != wanted[lid] && wanted[lid] == to.out.raw() && onward[lid] == on.out.raw())
        left_out_[lid] = 1;
    }
  }
}

/// What somebody unknown is sent, and sends, goes on by entries that are in no plan.
void TableWriter::leave_out_circles_with_strangers() {
  if (!somebody_is_unknown()) return;
  for (const Lid lid : routing::circles_with_strangers(update_order(), working_, routes_->tables, differing_))
    left_out_[lid.raw()] = 1;
}

/// It leads over a link that is down, be it one of which nobody knows the other end. What it would do when
/// that is up again nobody asks (dead_entries.h).
bool TableWriter::is_dead(routing::SwitchIndex sw, std::size_t lid) const {
  const PortNum out = standing(sw, lid);
  if (const auto next = routes_->order ? hop(sw, out) : std::nullopt) return !carries_packets(next->link);
  const NodeIndex node = switches_[sw.raw()];
  if (node == no_node || out == PortNum{0} || out.raw() >= survey_->node(node).ports.size()) return false;
  const SurveyPort& port = survey_->node(node).ports[out.raw()];
  return port.known && port.info.state != PortState::Active;
}

/// Whoever did not answer the sweep is in no survey, and goes on sending and receiving by the tables that
/// stand: entries of LIDs that nobody is known to have stay as they are, unless they are dead, and so do ways
/// to them of which nothing better is known.
void TableWriter::keep_lids_of_the_unknown() {
  kept_beside_the_unknown_.clear();
  if (!somebody_is_unknown()) return;
  const std::vector<char> is_known = lids_that_are_known();
  auto kept = std::make_shared<Routes>(*routes_);
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    if (tables_[s] == nullptr) continue;
    const Table& table = *tables_[s];
    const auto row = kept->tables.row(routing::SwitchIndex{s});
    for (std::size_t lid = 1; lid < row.size(); ++lid) {
      const bool is_kept = is_known[lid] == 0 && table.known[lid / routing::lids_per_block];
      if (is_kept) row[lid] = is_dead(routing::SwitchIndex{s}, lid) ? no_path.raw() : table.bytes[lid];
      if (is_known[lid] == 0 || row[lid] != no_path.raw() || !routes_->order) continue;
      const Lid known{static_cast<std::uint16_t>(lid)};
      for (const routing::SwitchIndex on : way_to_the_unknown(routing::SwitchIndex{s}, known))
        kept->tables.set(on, known, standing(on, lid));
    }
  }
  if (routes_->order) keep_all_that_may_lead_there(*kept);
  routes_ = std::move(kept);
}

/// Somebody whom the order knows, and to whom the link is up (mute_nodes.h).
bool TableWriter::is_mute_behind(routing::SwitchIndex sw, PortNum out) const {
  if (const auto next = hop(sw, out)) return routes_->up.contains(next->link);
  const routing::SwitchGraph& graph = routes_->order->graph();
  return std::ranges::any_of(graph.targets_at(sw), [&](std::uint32_t position) {
    const routing::Target& target = graph.targets()[position];
    return target.link != no_link && target.out == out && routes_->up.contains(target.link);
  });
}

/// Out of a port behind which nobody is known, and is not only mute.
bool TableWriter::leads_to_the_unknown(routing::SwitchIndex sw, PortNum out) const {
  const NodeIndex node = switches_[sw.raw()];
  return node != no_node && out != no_path && is_unknown_behind({node, out}) && !is_mute_behind(sw, out);
}

/// By switch and port: the switch that it leads to, or one of those above.
std::vector<std::uint32_t> TableWriter::onward() const {
  std::vector<std::uint32_t> result(switches_.size() * ports, nowhere);
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    const routing::SwitchIndex sw{s};
    for (unsigned p = 0; p < no_path.raw(); ++p) {
      const PortNum out{static_cast<std::uint8_t>(p)};
      result[s * ports + p] = leads_to_the_unknown(sw, out) ? the_unknown : out_of_the_switches;
    }
    for (const routing::Hop& hop : routes_->order->graph().hops(sw)) {
      std::uint32_t& next = result[s * ports + hop.out.raw()];
      if (next != the_unknown) next = routes_->up.contains(hop.link) ? hop.peer.raw() : nowhere;
    }
  }
  return result;
}

/// Switches that lead there by one of their ports.
std::vector<std::uint32_t> TableWriter::beside_the_unknown(const std::vector<std::uint32_t>& onward) const {
  std::vector<std::uint32_t> result;
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    const auto first = onward.begin() + static_cast<std::ptrdiff_t>(s * ports);
    if (std::find(first, first + ports, the_unknown) != first + ports) result.push_back(s);
  }
  return result;
}

/// What is known to be elsewhere is sent by one of these to where nobody is known: a switch is there, or a
/// cable, and packets turn there as nobody can say.
bool TableWriter::unknown_pass_packets(std::span<const std::uint32_t> beside,
                                       const std::vector<char>& is_known,
                                       const std::vector<std::uint32_t>& onward) const {
  return std::any_of(beside.begin(), beside.end(), [&](std::uint32_t s) {
    for (std::size_t lid = 1; lid < is_known.size(); ++lid) {
      const PortNum out = standing(routing::SwitchIndex{s}, lid);
      if (is_known[lid] != 0 && onward[s * ports + out.raw()] == the_unknown) return true;
    }
    return false;
  });
}

/// By the tables that stand: there, or to the unknown.
bool TableWriter::may_lead_there(std::uint32_t s, Lid lid, const std::vector<std::uint32_t>& onward) const {
  for (std::size_t hops = 0; hops <= switches_.size(); ++hops) {
    const PortNum out = standing(routing::SwitchIndex{s}, lid.raw());
    const std::uint32_t next = onward[s * ports + out.raw()];
    if (next == the_unknown) return true;
    if (next == out_of_the_switches) return out == routes_->tables.port(routing::SwitchIndex{s}, lid);
    if (next == nowhere) return false;
    s = next;
  }
  return false;
}

/// What leads over a link that is to be avoided is not as it is to be, and tried again.
void TableWriter::keep(std::uint32_t s, Lid lid, Routes& kept) {
  const routing::SwitchIndex sw{s};
  const PortNum out = standing(sw, lid.raw());
  const auto next = hop(sw, out);
  if (next && !is_unheard(next->link) && !routes_->in_all_planes.contains(next->link))
    report_.left_out = true;
  if (kept.tables.port(sw, lid) != out) kept_beside_the_unknown_.push_back(lid);
  kept.tables.set(sw, lid, out);
}

/// Whoever is unknown sends packets, too: for what its neighbour is to have no path, that leads on as it
/// does.
void TableWriter::keep_way_on(std::uint32_t from, Lid lid, const std::vector<std::uint32_t>& onward,
                              Routes& kept) {
  if (!may_lead_there(from, lid, onward)) return;
  for (std::uint32_t s = from; s < switches_.size();) {
    const routing::SwitchIndex sw{s};
    if (kept.tables.port(sw, lid) != no_path) return;
    keep(s, lid, kept);
    s = onward[s * ports + standing(sw, lid.raw()).raw()];
  }
}

/// Where unknown ones pass packets, any change might close a circle with turns that nobody knows.
void TableWriter::keep_all_that_may_lead_there(Routes& kept) {
  const std::vector<std::uint32_t> onward = this->onward();
  const std::vector<std::uint32_t> beside = beside_the_unknown(onward);
  if (beside.empty()) return;
  const std::vector<char> is_known = lids_that_are_known();
  const bool pass_packets = unknown_pass_packets(beside, is_known, onward);
  for (std::size_t lid = 1; lid < is_known.size(); ++lid) {
    const Lid each{static_cast<std::uint16_t>(lid)};
    if (is_known[lid] == 0) continue;
    for (std::uint32_t s = 0; pass_packets && s < switches_.size(); ++s) {
      if (may_lead_there(s, each, onward)) keep(s, each, kept);
    }
    for (std::size_t i = 0; !pass_packets && i < beside.size(); ++i)
      keep_way_on(beside[i], each, onward, kept);
  }
}

/// No packet is dropped for want of a path by the order that would have arrived by the tables that stand.
void TableWriter::keep_ways_that_work(routing::Keep which) {
  kept_ = kept_beside_the_unknown_;
  routing::UpdateOrder order = update_order();
  order.by_plane = routes_->by_plane;
  const auto ways = routing::ways_to_keep(order, working_, routes_->tables, differing_, which);
  if (ways.empty()) return;
  auto kept = std::make_shared<Routes>(*routes_);
  for (const routing::KeptWay& way : ways) {
    kept->tables.set(way.sw, way.lid, way.port);
    kept_.push_back(way.lid);
  }
  routes_ = std::move(kept);
}

/// What is wanted of LIDs for which it would close a circle is what the plan leaves them, but for what leads
/// over links that are down.
void TableWriter::let_stay(const routing::SafeUpdate& update) {
  routing::ForwardingTables left = working_;
  for (const auto& stage : update.plan.stages) (void)routing::apply(stage, left);
  auto kept = std::make_shared<Routes>(*routes_);
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    const routing::SwitchIndex sw{s};
    for (const Lid lid : update.staying) {
      const auto next = hop(sw, left.port(sw, lid));
      const bool is_dead = next && !carries_packets(next->link);
      kept->tables.set(sw, lid, is_dead ? no_path : left.port(sw, lid));
    }
  }
  routes_ = std::move(kept);
}

/// All ways that work are kept, and what would close a circle with them does not change. Where that cannot
/// be, those are kept that suit what is wanted, with other ways for the rest if there are any. With entries
/// of a switch that nobody has heard, only what follows the order closes none.
routing::SafeUpdate TableWriter::safe_update() {
  using routing::Keep;
  constexpr std::array any{Keep::All, Keep::OrOthers, Keep::ThatSuit};
  constexpr std::array in_order{Keep::InOrder};
  routing::SafeUpdate update;
  const std::shared_ptr<const Routes> wanted = routes_;
  const bool knows_all = routes_->unheard.count() == 0;
  for (const Keep which : knows_all ? std::span<const Keep>{any} : std::span<const Keep>{in_order}) {
    routes_ = wanted;
    if (which == Keep::ThatSuit) find_differing();
    keep_ways_that_work(which);
    // Other ways differ in blocks that are as they were to be.
    if (which == Keep::OrOthers) find_differing();
    update = routing::plan_safe_update(
        update_order(), working_, routes_->tables, differing_,
        {.recent = &recent_, .kept = kept_, .may_stay = routing::MayStay::Yes, .returns_wait = true});
    if (update.circular.empty() && !update.is_uncertain) break;
  }
  staying_ = update.staying;
  std::sort(staying_.begin(), staying_.end());
  if (!staying_.empty()) let_stay(update);
  return update;
}

}  // namespace heddle::provision
