// What operators take out of service: its links go off as those of `link off` do, together, and nobody misses
// it.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "regulation/governor_impl.h"

namespace heddle::regulation {
namespace {

template <class Item>
bool has(const std::vector<Item>& ascending, const Item& item) {
  return std::binary_search(ascending.begin(), ascending.end(), item);
}

}  // namespace

/// Also a cable that its switches have got since.
bool Governor::Impl::is_part(const LinkRef& link, const Drain& drain) const {
  if (has(drain.links, link)) return true;
  if (has(drain.nodes, link.a.node) == has(drain.nodes, link.b.node)) return false;
  const auto index = network ? find(link) : std::nullopt;
  return index && network->trunk_of(*index) != Network::no_trunk;
}

const Drain* Governor::Impl::drain_of(const LinkRef& link) const {
  const Drain* found = nullptr;
  for (const auto& [what, drain] : memory.drains) {
    if (is_part(link, drain) && (found == nullptr || drain.forced)) found = &drain;
  }
  return found;
}

bool Governor::Impl::is_drained(NodeGuid node) const {
  return std::ranges::any_of(memory.drains, [&](const auto& each) { return has(each.second.nodes, node); });
}

void Governor::Impl::excuse_drained(const std::vector<NodeGuid>& more) {
  std::vector<routing::SwitchIndex> switches;
  const auto add = [&](const std::vector<NodeGuid>& nodes) {
    for (const NodeGuid guid : nodes) {
      const NodeIndex node = network->fabric().find_node(guid);
      const auto s = node == no_node ? routing::no_switch : network->graph().find(node);
      if (s != routing::no_switch) switches.push_back(s);
    }
  };
  for (const auto& [what, drain] : memory.drains) add(drain.nodes);
  add(more);
  network->excuse(switches);
}

/// Why it cannot be, if so, whatever is forced: nobody could bring it back.
std::optional<std::string> Governor::Impl::objection(const Drain& drain) const {
  for (const auto manager : network->manager_switches()) {
    if (!has(drain.nodes, network->graph().guid(manager))) continue;
    return fmt::format(
        "{} is where this daemon, or a subnet manager, is connected: without it nobody manages the "
        "fabric; move them to another switch first",
        name(network->graph().node(manager)));
  }
  return std::nullopt;
}

void Governor::Impl::handle(const SetDrain& event) {
  Drain drain = event.drain;
  drain.since = now_;
  std::ranges::sort(drain.links);
  std::ranges::sort(drain.nodes);
  std::vector<LinkIndex> links;
  for (const LinkRef& ref : drain.links) {
    if (const auto index = network ? find(ref) : std::nullopt) links.push_back(*index);
  }
  if (!network || links.size() < drain.links.size())
    return refuse(event.command, ErrorCode::NotFound, "not all of these links are in the fabric any more");
  if (const auto against = objection(drain)) return refuse(event.command, ErrorCode::Refused, *against);
  const auto before = memory.drains.find(drain.what);
  const bool stands = before != memory.drains.end() && before->second.links == drain.links;
  drain.forced = event.force == Force::CutHostsOff || (stands && before->second.forced);
  std::vector<std::string> hosts;
  if (stands) {
    drain.since = before->second.since;
  } else {
    hosts = cut_off_without(links);
    const auto against = objection(drain.what, links, hosts, "say --with-hosts", drain.nodes);
    if (against && !drain.forced) return refuse(event.command, ErrorCode::Refused, *against);
  }
  record(DrainRecord{drain.what, drain});
  refresh_exemptions();
  std::string text =
      fmt::format("{} is drained: {} of its links go off and stay off", drain.what, links.size());
  if (!hosts.empty()) text += "; cuts off " + list_hosts(hosts);
  if (!drain.reason.empty()) text += "; " + drain.reason;
  report(ReportKind::Operator, drain.links, fmt::format("{}; by {}", text, drain.by));
  answer(event.command, std::move(text));
}

void Governor::Impl::handle(const EndDrain& event) {
  if (!memory.drains.contains(event.what))
    return refuse(event.command, ErrorCode::NotFound, fmt::format("there is no drain of {}", event.what));
  end_drain(event.what, fmt::format("the drain of {} is ended by {}", event.what, event.by));
  answer(event.command, fmt::format("the drain of {} has ended: its links come back", event.what));
}

void Governor::Impl::end_overdue_drains() {
  for (const auto& [what, drain] : std::map{memory.drains}) {
    if (drain.until && *drain.until <= now_)
      end_drain(what, fmt::format("the time of the drain of {} is over", what));
  }
}

/// Also links whose switch has not been seen since the start: their near ends are enabled, and wait for it.
void Governor::Impl::end_drain(const std::string& what, const std::string& why) {
  const Drain drain = memory.drains.at(what);
  std::vector<LinkRef> links = drain.links;
  for (const LinkRecord& link : records) {
    if (is_part(link.ref, drain) && !has(drain.links, link.ref)) links.push_back(link.ref);
  }
  record(DrainRecord{what, std::nullopt});
  refresh_exemptions();
  report(ReportKind::Operator, links, why);
  for (const LinkRef& ref : links) {
    if (wish(ref) == Wish::Off) continue;
    const auto index = find(ref);
    if (is_stranger(ref)) strangers_.insert(ref);
    if (!index) continue;
    const LinkState state = at(*index).state;
    if (state == LinkState::Leaving || state == LinkState::Draining) call_off(why);
    want(*index, why);
  }
}

std::vector<DrainStatus> Governor::Impl::drains() const {
  std::vector<DrainStatus> all;
  for (const auto& [what, drain] : memory.drains) {
    DrainStatus status{drain};
    const auto count = [&](const LinkRecord& link) {
      const bool waits = link.wanted || link.state == LinkState::Closing || link.state == LinkState::Opening;
      if (is_on(link) || waits) ++status.open;
      if (link.state == LinkState::Off && !waits) ++status.closed;
    };
    for (const LinkRecord& link : records) {
      if (is_part(link.ref, drain)) count(link);
    }
    status.closed += static_cast<std::size_t>(
        std::ranges::count_if(drain.links, [this](const LinkRef& link) { return is_stranger(link); }));
    std::ranges::copy_if(drain.nodes, std::back_inserter(status.away), [this](NodeGuid node) {
      return !network || network->fabric().find_node(node) == no_node || lost_switches.contains(node);
    });
    all.push_back(std::move(status));
  }
  return all;
}

}  // namespace heddle::regulation
