#include "support/fabric_watch.h"

#include <fmt/format.h>

#include <set>

namespace heddle::test {

void FabricWatch::begin() {
  watching_ = true;
  lids_may_differ_ = true;
  learn_lids();
  routes_.reload();
  routes_.find_left();
  faults_seen_ = 0;
  settled();
}

void FabricWatch::settled() {
  watched_.faults.close();
  wrongs_.clear();
  check();
  multicast_.forget_members();
  for (const std::string& text : multicast_.check(Everybody::GetsIt)) violation(text);
  circles_.rest();
}

void FabricWatch::cut(LinkIndex link, Picoseconds at) {
  watched_.faults.cut(link);
  watched_.faults.open();
  fabric_.cut(link, at);
}

void FabricWatch::mend(LinkIndex link, Picoseconds at) {
  // What comes with it has not been seen yet.
  const Link& cable = fabric_.description().link(link);
  const auto is_apart = [&](LinkEnd end) { return !watched_.joined().contains(end.node); };
  if (watching_ && (is_apart(cable.a) || is_apart(cable.b))) watched_.faults.open();
  fabric_.mend(link, at);
  watched_.faults.mend(link);
}

void FabricWatch::kill(NodeIndex node, Picoseconds at) {
  watched_.faults.kill(node);
  watched_.faults.open();
  lids_may_differ_ = true;
  fabric_.kill(node, at);
}

void FabricWatch::revive(NodeIndex node, Picoseconds at) {
  fabric_.revive(node, at);
  watched_.faults.revive(node);
  watched_.faults.open();  // its tables are empty
  lids_may_differ_ = true;
}

void FabricWatch::changed(const sim::Change& change, Picoseconds at) {
  if (next_ != nullptr) next_->changed(change, at);
  if (!watching_) return;
  at_ = at;
  circles_.pass_to(at);
  ++instants_;
  wrongs_.clear();
  watched_.faults.forget_what_is_back();
  const bool whole_node = change.block == sim::Change::every_block;
  switch (change.kind) {
    case sim::Change::Kind::ForwardingTable:
      read_entries(change.node, change.block);
      if (!whole_node) break;
      groups_may_differ_ = true;  // a node that loses its power loses these, too
      multicast_.forget_members();
      break;
    case sim::Change::Kind::MulticastTable:
      groups_may_differ_ = true;
      multicast_.forget_members();
      break;
    case sim::Change::Kind::Lid:
      lids_may_differ_ = true;
      break;
    case sim::Change::Kind::PortState:
      if (change.port != no_port) {
        read_states(change.port);
        break;
      }
      for (unsigned p = 0; p <= fabric_.description().node(change.node).port_count; ++p)
        read_states(PortIndex{fabric_.description().node(change.node).first_port.raw() + p});
      break;
    case sim::Change::Kind::SlToVl:
    case sim::Change::Kind::VlArbitration:
      break;
  }
  check();
}

void FabricWatch::violation(const std::string& text) {
  if (violations_.size() >= most_violations) return;
  violations_.push_back(
      fmt::format("{} at {:.6f} s: {}", context_, static_cast<double>(at_.count()) * 1e-12, text));
}

void FabricWatch::learn_lids() {
  if (!std::exchange(lids_may_differ_, false)) return;
  const auto others = watched_.learn_lids();
  if (!others) return violation(others.error().message);
  if (!*others) return;
  tables_.load(watched_);
  under_way_.forget();
  circles_.reload();
  faults_seen_ = 0;
}

void FabricWatch::read_entries(NodeIndex node, std::uint32_t block) {
  const routing::SwitchIndex at = watched_.graph().find(node);
  if (at == routing::no_switch) return;
  const std::uint32_t s = at.raw();
  for (const TableColumns::Change& change : tables_.changes(watched_, s, block)) {
    const Column k = tables_.column_of(change.lid);
    const bool known = k != TableColumns::no_column;
    if (known) circles_.before_change(k, s);
    tables_.set(s, change.lid, change.after);
    if (known) circles_.after_change(k, s);
    if (known) routes_.changed(k, s);
    if (auto text = under_way_.written(s, change, at_); !text.empty()) wrongs_.push_back(std::move(text));
  }
}

/// Whether data passes is a matter of both ends.
void FabricWatch::read_states(PortIndex port) {
  reach_may_differ_ = groups_may_differ_ = true;
  const Fabric& plain = fabric_.description();
  const Port& own = plain.port(port);
  routes_.changed(port);
  if (const auto peer = plain.peer({own.node, own.num}); own.link != no_link && peer)
    routes_.changed(plain.port_index(peer->node, peer->port));
}

void FabricWatch::check() {
  learn_lids();
  if (std::exchange(faults_seen_, watched_.faults.version()) != watched_.faults.version()) {
    routes_.reload();
    multicast_.forget_members();
    reach_may_differ_ = groups_may_differ_ = true;
  }
  if (std::exchange(reach_may_differ_, false)) out_of_reach_ = watched_.out_of_reach();
  if (std::exchange(groups_may_differ_, false)) group_wrongs_ = multicast_.check(Everybody::MayMissIt);

  const std::vector<std::string> written = std::exchange(wrongs_, circles_.findings());
  for (const auto& [k, texts] : routes_.wrong()) wrongs_.insert(wrongs_.end(), texts.begin(), texts.end());
  wrongs_.insert(wrongs_.end(), out_of_reach_.begin(), out_of_reach_.end());
  wrongs_.insert(wrongs_.end(), written.begin(), written.end());
  for (std::string& text : under_way_.astray(routes_.take_touched(), at_)) wrongs_.push_back(std::move(text));
  for (const std::string& text : wrongs_) violation(text);
  for (const std::string& text : group_wrongs_) violation(text);
}

std::vector<std::string> FabricWatch::apart(const std::vector<PortIndex>& hosts) const {
  std::vector<std::string> result;
  const routing::SwitchGraph& graph = watched_.graph();
  const Fabric& fabric = watched_.fabric();
  const std::set<PortIndex> wanted(hosts.begin(), hosts.end());
  const auto arrives = [&](routing::SwitchIndex at, const TableColumns::Entry& to) {
    for (std::size_t hops = 0; hops <= graph.size(); ++hops) {
      const PortNum port{tables_.column(tables_.column_of(to.lid))[at.raw()]};
      const LinkEnd out{graph.node(at), port};
      if (watched_.faults.is_dead(out.node) || port == no_path || port == PortNum{0}) return false;
      const auto peer = fabric.peer(out);
      if (!peer || is_faulty(fabric.port(out).link) || !fabric_.forwards(fabric.port_index(out.node, port)))
        return false;
      if (at == to.target->at && port == to.target->out) return true;
      if (!watched_.is_switch(peer->node)) return false;
      at = graph.find(peer->node);
    }
    return false;
  };
  for (const PortIndex host : hosts) {
    const Port& port = fabric.port(host);
    const auto seat = fabric.peer({port.node, port.num});
    if (!seat || !watched_.is_switch(seat->node)) continue;
    for (const TableColumns::Entry& to : tables_.lids()) {
      if (to.target->port == host || !wanted.contains(to.target->port)) continue;
      if (arrives(graph.find(seat->node), to)) continue;
      result.push_back(fmt::format("{} does not reach LID {} of {}", watched_.name(port.node), to.lid.raw(),
                                   watched_.name(fabric.port(to.target->port).node)));
    }
  }
  return result;
}

}  // namespace heddle::test
