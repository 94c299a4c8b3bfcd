// What a TableWriter leaves as it stands though other entries are wanted: those of nodes that nobody knows,
// and those that work and would be taken away for nothing, or for a circle.

#include <utility>

#include "authority/own/table_writer.h"

namespace heddle::provision {

/// A cable that is in use, and nobody known at its other end; or a port that did not say whether it is.
bool TableWriter::somebody_is_unknown() const {
  for (const NodeIndex node : switches_) {
    if (node == no_node) continue;
    const std::vector<SurveyPort>& ports = survey_->node(node).ports;
    const std::uint32_t first = survey_->fabric->node(node).first_port.raw();
    for (std::uint32_t p = 1; p < ports.size(); ++p) {
      const Port& port = survey_->fabric->port(PortIndex{first + p});
      if (port.link == no_link && (port.state == PortState::Active || !ports[p].known)) return true;
    }
  }
  return false;
}

/// Whoever did not answer the sweep is in no survey, and goes on sending and receiving by the tables that
/// stand: entries of LIDs that nobody is known to have stay as they are.
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
/// be, those are kept that suit what is wanted.
routing::SafeUpdate TableWriter::safe_update() {
  routing::SafeUpdate update;
  const std::shared_ptr<const Routes> wanted = routes_;
  for (const routing::Keep which : {routing::Keep::All, routing::Keep::ThatSuit}) {
    routes_ = wanted;
    keep_ways_that_work(which);
    update = routing::plan_safe_update(update_order(), working_, routes_->tables, differing_,
                                       {&recent_, kept_, routing::MayStay::Yes});
    if (update.circular.empty() && !update.is_uncertain) break;
  }
  if (!update.staying.empty()) let_stay(update);
  return update;
}

}  // namespace heddle::provision
