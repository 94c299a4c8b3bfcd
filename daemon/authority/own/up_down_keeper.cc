#include "authority/own/up_down_keeper.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "authority/own/remembered_fabric.h"
#include "authority/own/survey_change.h"
#include "fabric/links.h"
#include "routing/kept_ways.h"
#include "routing/safe_update.h"

namespace heddle::provision {
namespace {

/// The node of `fabric` in `other`, if it is the same there: ports and LIDs.
std::optional<NodeIndex> same_node(const Fabric& fabric, const Node& node, const Fabric& other) {
  const NodeIndex index = other.find_node(node.guid);
  if (index == no_node) return std::nullopt;
  const Node& twin = other.node(index);
  if (twin.type != node.type || twin.port_count != node.port_count) return std::nullopt;
  for (unsigned p = 0; p <= node.port_count; ++p) {
    const Port& here = fabric.port(PortIndex{node.first_port.raw() + p});
    const Port& there = other.port(PortIndex{twin.first_port.raw() + p});
    if (here.lid != no_lid && (here.lid != there.lid || here.lmc != there.lmc)) return std::nullopt;
  }
  return index;
}

}  // namespace

std::optional<routing::LinkSet> UpDownKeeper::links_up(const Fabric& fabric) const {
  if (!full_) return std::nullopt;
  std::vector<NodeIndex> in_full;
  in_full.reserve(fabric.nodes().size());
  for (const Node& node : fabric.nodes()) {
    const auto twin = same_node(fabric, node, *full_);
    if (!twin) return std::nullopt;
    in_full.push_back(*twin);
  }
  auto up = routing::LinkSet::none(*full_);
  for (const Link& link : fabric.links()) {
    const LinkEnd a{in_full[link.a.node.raw()], link.a.port};
    const LinkEnd b{in_full[link.b.node.raw()], link.b.port};
    if (full_->peer(a) != b) return std::nullopt;
    // What it runs at was not known.
    if (!unseen_.empty() && unseen_.contains(link_ref(fabric, link))) return std::nullopt;
    const bool counts = counts_ == Counts::Active ? is_active(fabric, link) : is_up(fabric, link);
    if (counts) up.insert(full_->port(a).link);
  }
  return up;
}

void UpDownKeeper::remember(authority::Remembered before) {
  remember(before.ranks);
  remembered_ = std::move(before);
}

/// What somebody has seen since is kept as long as the others are.
std::shared_ptr<const Fabric> UpDownKeeper::with_all_that_may_return(const Fabric& seen) {
  auto kept = full_ ? with_mute_nodes(*full_, up_, seen) : std::make_shared<const Fabric>(seen);
  std::erase_if(remembered_.cables, [&](const authority::SeenCable& cable) {
    const LinkRef& link = cable.known.link;
    return find_link(seen, link) != no_link || std::ranges::find(left_, link) != left_.end();
  });
  std::erase_if(unheard_, [&](NodeGuid node) { return kept->find_node(node) == no_node; });
  unseen_.clear();
  const auto is_known = [this](const Node& node) {
    return node.type == NodeType::Switch && ranks_.contains(node.guid);
  };
  const auto known = static_cast<std::size_t>(std::ranges::count_if(seen.nodes(), is_known));
  if (remembered_.cables.empty() || 2 * known < seen.switch_count()) return kept;
  for (const authority::SeenCable& cable : remembered_.cables) unseen_.insert(cable.known.link);
  auto all = with_remembered(kept, remembered_.cables, remembered_.lids);
  for (const Node& node : all->nodes())
    if (kept->find_node(node.guid) == no_node) unheard_.insert(node.guid);
  return all;
}

Result<void> UpDownKeeper::begin(const Fabric& seen) {
  const auto kept = with_all_that_may_return(seen);
  // Those of the links whose ends are both mute that forwarded: by the snapshot that goes.
  std::vector<LinkRef> forwarding;
  if (full_) {
    for (const LinkIndex link : mute_nodes(*full_, up_, seen).links)
      forwarding.push_back(link_ref(*full_, full_->link(link)));
  }
  const Fabric& fabric = *kept;
  std::size_t known = 0;
  for (const Node& node : fabric.nodes()) {
    if (node.type == NodeType::Switch && ranks_.contains(node.guid)) ++known;
  }
  routing::UpDownOptions options;
  options.planes = planes();
  if (known < fabric.switch_count() || known == 0) {
    auto fresh = routing::UpDownRouter::make(fabric, options);
    if (!fresh) return fail(fresh.error());
    if (2 * known < fabric.switch_count()) ranks_.clear();
    for (std::uint32_t s = 0; s < fresh->graph().size(); ++s) {
      const routing::SwitchIndex sw{s};
      ranks_.emplace(fresh->graph().guid(sw), fresh->ranks().rank(sw));
    }
    if (known == 0) router_ = std::make_shared<routing::UpDownRouter>(*std::move(fresh));
  }
  if (known > 0) {
    options.ranks = ranks();
    auto router = routing::UpDownRouter::make(fabric, options);
    if (!router) return fail(router.error());
    router_ = std::make_shared<routing::UpDownRouter>(*std::move(router));
  }
  ++beginnings_;
  turns_.clear();
  full_ = kept;
  if (ranks_.size() > full_->switch_count() + most_gone) {
    std::erase_if(ranks_, [this](const auto& rank) { return full_->find_node(rank.first) == no_node; });
  }
  up_ = routing::LinkSet::none(*full_);
  for (const LinkRef& ref : forwarding) {
    const PortIndex port = full_->find_port(ref.a);
    if (port != no_port && full_->port(port).link != no_link) up_.insert(full_->port(port).link);
  }
  return {};
}

bool UpDownKeeper::is_unheard(const Link& link) const {
  return unheard_.contains(full_->node(link.a.node).guid) || unheard_.contains(full_->node(link.b.node).guid);
}

bool UpDownKeeper::allow(const std::vector<routing::KeptTurn>& turns) {
  if (!router_ || turns.empty() || turns == turns_) return false;
  const auto is_foreign = [&](const routing::Turn& turn) {
    return !router_->mends().turns(turn.from, turn.over, turn.to);
  };
  const auto standing = routing::turns_of(router_->graph(), turns);
  if (std::none_of(standing.begin(), standing.end(), is_foreign)) return false;
  routing::UpDownOptions options;
  options.planes = planes();
  options.ranks = ranks();
  options.turns = turns;
  auto router = routing::UpDownRouter::make(*full_, options);
  if (!router) return false;
  router_ = std::make_shared<routing::UpDownRouter>(*std::move(router));
  turns_ = turns;
  // Whoever knows the order by its topology has to make his own anew.
  full_ = std::make_shared<const Fabric>(*full_);
  return true;
}

OtherRoutes UpDownKeeper::leave_lost(const std::function<bool(const PortRef&)>& may_use) {
  if (!apart_in_) return OtherRoutes::None;
  const auto is_in_use = [&](const LinkRef& link) { return may_use(link.a) || may_use(link.b); };
  if (std::ranges::any_of(in_the_way_, is_in_use)) return OtherRoutes::Later;
  auto other = in_the_way_.empty() ? std::nullopt : begun_without_lost(ranks_);
  if (may_take_another_order_ && (!other || !other->router_->apart().empty())) {
    auto reordered = begun_without_lost({});
    const bool joins_more =
        reordered && (!other || reordered->router_->apart().size() < other->router_->apart().size());
    if (joins_more) other = std::move(reordered);
  }
  const bool helps = other.has_value();
  if (helps) *this = *std::move(other);
  in_the_way_.clear();
  apart_in_.reset();
  has_left_lost_ = true;
  return helps ? OtherRoutes::Now : OtherRoutes::None;
}

/// Without the cables that are in the way; none where that does not join some and part none.
std::optional<UpDownKeeper> UpDownKeeper::begun_without_lost(std::map<NodeGuid, std::uint16_t> ranks) const {
  UpDownKeeper trial = *this;
  trial.left_.insert(trial.left_.end(), in_the_way_.begin(), in_the_way_.end());
  trial.ranks_ = std::move(ranks);
  if (!trial.begin(*apart_in_) || !trial.route(*apart_in_)) return std::nullopt;
  const auto before = router_->apart();
  const auto after = trial.router_->apart();
  if (after.size() >= before.size() || !std::ranges::includes(before, after)) return std::nullopt;
  return trial;
}

routing::LinkSet UpDownKeeper::without(const std::vector<LinkRef>& links, routing::LinkSet set) const {
  for (const LinkRef& ref : links) {
    const PortIndex port = full_->find_port(ref.a);
    if (port == no_port || full_->port(port).link == no_link) continue;
    const LinkIndex link = full_->port(port).link;
    if (link_ref(*full_, full_->link(link)) == ref) set.erase(link);
  }
  return set;
}

Result<Routes> UpDownKeeper::route(const Fabric& fabric) {
  auto up = links_up(fabric);
  if (!up) {
    if (auto begun = begin(fabric); !begun) return fail(begun.error());
    forget_found(fabric);
    up = links_up(fabric);
  }
  mute_.clear();
  std::erase_if(unheard_, [&](NodeGuid node) { return fabric.find_node(node) != no_node; });
  const MuteNodes mute = mute_nodes(*full_, up_, fabric);
  auto unheard = routing::LinkSet::none(*full_);
  for (const LinkIndex link : mute.links) (is_unheard(full_->link(link)) ? unheard : *up).insert(link);
  for (const NodeIndex index : mute.nodes) {
    const Node& node = full_->node(index);
    if (node.type == NodeType::Switch && !unheard_.contains(node.guid)) mute_.push_back(node.guid);
  }
  has_left_lost_ = has_left_lost_ && up_ == *up;
  up_ = *up;
  const routing::LinkSet open = route_planes(up_);
  find_in_the_way(fabric, mute);
  Routes routes{router_->tables(), router_};
  routes.may_be_used = open;
  routes.may_stay = still_open(up_);
  routes.up = up_;
  routes.unheard = std::move(unheard);
  routes.planes = planes();
  routes.idle_plane = idle_plane_;
  routes.in_all_planes = open;
  for (unsigned plane = 0; plane < planes(); ++plane) {
    const routing::LinkSet& active = router_->active(plane);
    routes.by_plane.push_back(active);
    routing::LinkSet::for_each_difference(open, active, [&](LinkIndex link) {
      if (!active.contains(link)) routes.in_all_planes.erase(link);
    });
  }
  return routes;
}

routing::LinkSet UpDownKeeper::route_planes(const routing::LinkSet& up) {
  const auto route_over = [this](const routing::LinkSet& open) {
    overridden_ = false;
    for (unsigned plane = 0; plane < planes(); ++plane) route_plane(plane, open);
    return apart();
  };
  routing::LinkSet open = without(closed_, up);
  const std::size_t parted = route_over(open);
  if (going_.empty() || parted == 0) return open;
  const routing::LinkSet spared = without(withheld_, still_open(up));
  routing::LinkSet more = open;
  routing::LinkSet::for_each_difference(up, open, [&](LinkIndex link) {
    if (spared.contains(link)) more.insert(link);
  });
  if (more == open) return open;
  bool loses = false;
  for (unsigned plane = 0; plane < planes(); ++plane) loses = loses || loses_a_way(plane, open, more);
  if (route_over(more) < parted || loses) {
    overridden_ = true;
    return more;
  }
  route_over(open);
  return open;
}

/// Those that are not off yet, and not forced off.
routing::LinkSet UpDownKeeper::still_open(const routing::LinkSet& up) const {
  std::vector<LinkRef> gone;
  std::ranges::set_difference(closed_, going_, std::back_inserter(gone));
  return without(gone, without(forced_, up));
}

/// Pairs of switches without a path: of those with hosts, and of the manager's with any. Who is drained
/// misses nobody.
std::size_t UpDownKeeper::apart() const {
  std::size_t count = 0;
  for (unsigned plane = 0; plane < planes(); ++plane) count += parted(plane).size() + unmanaged(plane);
  return count;
}

/// Of switches with hosts.
std::vector<UpDownKeeper::Pair> UpDownKeeper::parted(unsigned plane) const {
  auto pairs = router_->unconnected(plane);
  std::erase_if(pairs, [&](const Pair& pair) { return is_drained(pair.first) || is_drained(pair.second); });
  return pairs;
}

/// Precondition: the plane has just been routed over `to`.
bool UpDownKeeper::loses_a_way(unsigned plane, const routing::LinkSet& to,
                               const routing::LinkSet& open) const {
  if (!held_) return false;
  const auto apart = parted(plane);
  if (apart.empty()) return false;
  const routing::SwitchGraph& graph = router_->graph();
  return routing::lose_a_way(graph, {plane, planes()}, apart, held_(graph, router_->tables().top()), to,
                             without(forced_, open));
}

bool UpDownKeeper::is_drained(routing::SwitchIndex sw) const {
  return std::ranges::binary_search(drained_, router_->graph().guid(sw));
}

/// A switch that is not managed takes links that are to be avoided, and hosts that are apart those that are
/// withheld, too. Whom these do not help a fault cuts off, and not what is avoided.
void UpDownKeeper::route_plane(unsigned plane, const routing::LinkSet& open) {
  const routing::LinkSet ordered = without(withheld_, open);
  const routing::LinkSet wanted = without(avoided_[plane], ordered);
  router_->update(plane, wanted);
  if (wanted == open) return;
  std::size_t apart = router_->unconnected(plane).size();
  const std::size_t unmanaged = this->unmanaged(plane);
  const bool loses_a_way = apart != 0 && this->loses_a_way(plane, wanted, open);
  const auto joins_more = [&](const routing::LinkSet& links) {
    router_->update(plane, links);
    const std::size_t before = std::exchange(apart, std::min(apart, router_->unconnected(plane).size()));
    return apart < before;
  };
  const routing::LinkSet* taken = &wanted;
  if (unmanaged != 0 && wanted != ordered && (joins_more(ordered) || this->unmanaged(plane) < unmanaged))
    taken = &ordered;
  if (apart != 0 && (joins_more(open) || loses_a_way)) taken = &open;
  overridden_ = overridden_ || taken != &wanted;
  router_->update(plane, *taken);
}

/// Switches that the manager has no way to, or that have none to it, counted each way.
std::size_t UpDownKeeper::unmanaged(unsigned plane) const {
  const auto targets = router_->graph().targets();
  const auto manager = std::ranges::find(targets, manager_, &routing::Target::base);
  if (plane != 0 || manager == targets.end()) return 0;  // base LIDs are in this one
  const routing::ForwardingTables& tables = router_->tables();
  std::size_t count = 0;
  for (const routing::Target& target : targets) {
    if (target.kind != routing::TargetKind::Switch || is_drained(target.at)) continue;
    if (tables.port(manager->at, target.base) == no_path) ++count;
    if (tables.port(target.at, manager->base) == no_path) ++count;
  }
  return count;
}

void UpDownKeeper::find_in_the_way(const Fabric& fabric, const MuteNodes& mute) {
  in_the_way_.clear();
  apart_in_.reset();
  if (has_left_lost_ || keeps_off() || router_->apart().empty()) return;
  in_the_way_ = lost(fabric, mute);
  const bool is_whole = mute.nodes.empty() && up_.count() + in_the_way_.size() == full_->links().size();
  may_take_another_order_ = is_whole && has_few_lids();
  if (in_the_way_.empty() && !may_take_another_order_) return;
  apart_in_ = std::make_shared<const Fabric>(fabric);
}

/// Few enough LIDs that tables can come to it step by step.
bool UpDownKeeper::has_few_lids() const {
  std::size_t lids = 0;
  for (const routing::Target& target : router_->graph().targets()) lids += target.lid_count();
  return lids <= routing::most_outward;
}

/// Links that are off, or about to be, may be turned on for whoever is apart.
bool UpDownKeeper::keeps_off() const {
  return !withheld_.empty() || !closed_.empty() ||
         std::ranges::any_of(avoided_, [](const auto& links) { return !links.empty(); });
}

/// Cables between switches that are not in the snapshot; none where a switch is gone with its cables: what it
/// holds for them when it is back is not known.
std::vector<LinkRef> UpDownKeeper::lost(const Fabric& fabric, const MuteNodes& mute) const {
  std::vector<LinkRef> result;
  if (full_->links().size() == fabric.links().size() + mute.links.size()) return result;
  for (const Link& link : full_->links()) {
    if (!joins_switches(*full_, link)) continue;
    const LinkRef ref = link_ref(*full_, link);
    const PortIndex a = fabric.find_port(ref.a);
    if (a == no_port || fabric.find_port(ref.b) == no_port) return {};
    if (fabric.port(a).link == no_link) result.push_back(ref);
  }
  return result;
}

/// Of those that were left, what is back, or whose place another cable has.
void UpDownKeeper::forget_found(const Fabric& fabric) {
  const auto is_free = [&](const PortRef& ref) {
    const PortIndex port = fabric.find_port(ref);
    return port != no_port && fabric.port(port).link == no_link;
  };
  std::erase_if(left_, [&](const LinkRef& link) { return !is_free(link.a) || !is_free(link.b); });
}

std::size_t UpDownKeeper::unconnected() const {
  std::size_t most = 0;
  for (unsigned plane = 0; router_ && plane < planes(); ++plane) {
    most = std::max(most, router_->unconnected(plane).size());
  }
  return most;
}

}  // namespace heddle::provision
