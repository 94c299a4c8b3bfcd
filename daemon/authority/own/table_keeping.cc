// What a TableWriter leaves as it stands though other entries are wanted: those of nodes that nobody knows,
// and those that work and would be taken away for nothing, or for a circle.

#include <algorithm>
#include <utility>

#include "authority/own/table_writer.h"

namespace heddle::provision {

/// A cable that is in use, and nobody known at its other end; or a port that did not say whether it is.
bool TableWriter::is_unknown_behind(LinkEnd end) const {
  const std::vector<SurveyPort>& ports = survey_->node(end.node).ports;
  if (end.port == PortNum{0} || end.port.raw() >= ports.size()) return false;
  const Port& port = survey_->fabric->port(end);
  return port.link == no_link && (port.state == PortState::Active || !ports[end.port.raw()].known);
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

/// Whoever did not answer the sweep is in no survey, and goes on sending and receiving by the tables that
/// stand: entries of LIDs that nobody is known to have stay as they are, and so do ways to them of which
/// nothing better is known.
void TableWriter::keep_lids_of_the_unknown() {
  if (!somebody_is_unknown()) return;
  const routing::ForwardingTables& wanted = routes_->tables;
  std::vector<char> is_known(wanted.stride(), 0);
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    const auto row = wanted.row(routing::SwitchIndex{s});
    for (std::size_t lid = 0; lid < row.size(); ++lid) is_known[lid] |= row[lid] != no_path.raw() ? 1 : 0;
  }
  auto kept = std::make_shared<Routes>(*routes_);
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    if (tables_[s] == nullptr) continue;
    const Table& table = *tables_[s];
    const auto row = kept->tables.row(routing::SwitchIndex{s});
    for (std::size_t lid = 1; lid < row.size(); ++lid) {
      if (is_known[lid] == 0 && table.known[lid / routing::lids_per_block]) row[lid] = table.bytes[lid];
      if (is_known[lid] == 0 || row[lid] != no_path.raw() || !routes_->order) continue;
      const Lid known{static_cast<std::uint16_t>(lid)};
      for (const routing::SwitchIndex on : way_to_the_unknown(routing::SwitchIndex{s}, known))
        kept->tables.set(on, known, standing(on, lid));
    }
  }
  routes_ = std::move(kept);
}

/// No packet is dropped for want of a path by the order that would have arrived by the tables that stand.
void TableWriter::keep_ways_that_work(routing::Keep which) {
  kept_.clear();
  const auto ways = routing::ways_to_keep(update_order(), working_, routes_->tables, differing_,
                                          routes_->in_all_planes, which);
  if (ways.empty()) return;
  auto kept = std::make_shared<Routes>(*routes_);
  for (const routing::KeptWay& way : ways) {
    kept->tables.set(way.sw, way.lid, way.port);
    kept_.push_back(way.lid);
  }
  routes_ = std::move(kept);
}

/// What is wanted of LIDs for which it would close a circle is what the plan leaves them.
void TableWriter::let_stay(const routing::SafeUpdate& update) {
  routing::ForwardingTables left = working_;
  for (const auto& stage : update.plan.stages) (void)routing::apply(stage, left);
  auto kept = std::make_shared<Routes>(*routes_);
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    const routing::SwitchIndex sw{s};
    for (const Lid lid : update.staying) kept->tables.set(sw, lid, left.port(sw, lid));
  }
  routes_ = std::move(kept);
}

/// All ways that work are kept, and what would close a circle with them does not change. Where that cannot
/// be, those are kept that suit what is wanted, with other ways for the rest if there are any.
routing::SafeUpdate TableWriter::safe_update() {
  routing::SafeUpdate update;
  const std::shared_ptr<const Routes> wanted = routes_;
  for (const routing::Keep which : {routing::Keep::All, routing::Keep::OrOthers, routing::Keep::ThatSuit}) {
    routes_ = wanted;
    if (which == routing::Keep::ThatSuit) find_differing();
    keep_ways_that_work(which);
    // Other ways differ in blocks that are as they were to be.
    if (which == routing::Keep::OrOthers) find_differing();
    update = routing::plan_safe_update(update_order(), working_, routes_->tables, differing_,
                                       {&recent_, kept_, routing::MayStay::Yes});
    if (update.circular.empty() && !update.is_uncertain) break;
  }
  staying_ = update.staying;
  std::sort(staying_.begin(), staying_.end());
  if (!staying_.empty()) let_stay(update);
  return update;
}

}  // namespace heddle::provision
