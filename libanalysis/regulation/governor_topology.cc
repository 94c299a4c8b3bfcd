// Another fabric than before: what goes over from the network that was, and whose place another cable has.

#include <algorithm>
#include <utility>

#include "fabric/links.h"
#include "regulation/governor_impl.h"

namespace heddle::regulation {

void Governor::Impl::handle(const TopologyChanged& event) {
  if (!event.ranks.empty()) kept_ranks = event.ranks;
  kept_turns = event.turns;
  options.policy.pinned.insert(event.pinned.begin(), event.pinned.end());
  adopt(event.reference, event.managers);
  forget_replaced();
}

void Governor::Impl::forget_replaced() {
  if (!network) return;
  const Fabric& fabric = network->fabric();
  const auto has_cable = [&](const PortRef& ref) {
    const PortIndex port = fabric.find_port(ref);
    return port != no_port && fabric.port(port).link != no_link && fabric.port(port).state != PortState::Down;
  };
  std::erase_if(peers_of_lost_, [&](const auto& lost) {
    const bool replaced =
        fabric.find_node(lost.first) == no_node && std::ranges::any_of(lost.second, has_cable);
    if (replaced) lost_switches.erase(lost.first);
    return replaced || !lost_switches.contains(lost.first);
  });
  std::vector<LinkRef> replaced;
  for (const auto& [link, off] : memory.off) {
    if (is_stranger(link) && has_cable(off.port)) replaced.push_back(link);
  }
  if (replaced.empty()) return;
  record(Outcome{next_change(), now_, {}, replaced, "another cable is there"});
  report(ReportKind::Back, std::move(replaced), "its port is up, and has another cable");
}

/// Records go over by LinkRef; what is under way is dropped, and the tables are written anew.
void Governor::Impl::adopt(std::shared_ptr<const Fabric> reference, std::vector<Lid> managers) {
  const bool is_first = network == nullptr;
  NetworkOptions make;
  make.planes = options.planes;
  make.managers = std::move(managers);
  make.ranks = kept_ranks;
  make.turns = kept_turns;
  auto made = Network::make(reference, make);
  if (!made && !kept_ranks.empty()) {
    // Switches that the kept order does not name.
    make.ranks.clear();
    made = Network::make(reference, make);
  }
  if (!made) {
    trouble = "this fabric cannot be regulated: " + made.error().message;
    report(ReportKind::Failed, {}, trouble);
    if (!is_first) drop_change("the fabric has changed");
    for (const auto& [step, open] : opening_) actions_.emplace_back(Cancel{step});
    opening_.clear();
    forget_look();
    forget_any();
    network.reset();
    records.clear();
    by_ref_.clear();
    return;
  }
  if (!is_first) drop_change("the fabric has changed");
  std::unordered_map<LinkRef, LinkRecord> before;
  for (LinkRecord& link : records) before.emplace(link.ref, std::move(link));
  forget_look();
  forget_any();
  network = std::move(*made);
  trouble.clear();
  kept_ranks = network->ranks_by_guid();
  const Fabric& fabric = network->fabric();
  records.clear();
  by_ref_.clear();
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const Link& cable = fabric.link(LinkIndex{i});
    const LinkRef ref = link_ref(fabric, cable);
    by_ref_[ref] = i;
    const auto it = before.find(ref);
    if (it != before.end()) {
      LinkRecord& link = records.emplace_back(std::move(it->second));
      // It may be a cable that was only remembered, and whose rate nobody knew until it was back.
      const bool is_back = link.state == LinkState::Lost && is_up(fabric, cable);
      if (is_back && !memory.off.contains(ref)) link.full = link.off.full = power::mode_of(cable);
      continue;
    }
    LinkRecord link;
    link.ref = ref;
    link.full = link.mode = power::mode_of(cable);
    link.since = link.active_since = now_;
    link.off = {ref, ref.a, link.full, power::off_mode, Cause::Regulation, now_, ""};
    const bool down = !is_up(fabric, cable);
    const auto off = memory.off.find(ref);
    if (off != memory.off.end() && (down || !off->second.mode.on())) {
      // Up: it came in sight while it trained, or was turned on behind our back. Ordered on all the same, as
      // whoever writes tables knows it as closed, and so that the journal learns of it. Nor may what an
      // operator has taken back stay off, whose order on did not reach it.
      const bool taken_back = off->second.cause == Cause::Operator;
      link.wanted = (!down || taken_back) && wish(ref) != Wish::Off;
      link.came_up = link.wanted && !down;
      link.state = LinkState::Off;
      link.off = off->second;
      link.off_since = off->second.since;
      link.mode = off->second.mode;
      link.reason = off->second.reason;
      link.went_alone = down;
    } else if (down) {
      link.state = LinkState::Lost;
      link.mode = power::off_mode;
    }
    records.push_back(std::move(link));
  }
  refresh_wakes();
  refresh_exemptions();
  window_.clear();
  planned_at_.reset();
  latest_.reset();
  advised_.clear();
  expected_.clear();
  unavoidable_.clear();
  traffic_.reset();
  for (auto& seen : seen_) seen.reset();
  trust_ = {};
  takes_from_.reset();
  judged_sent_ = 0;
  swaps_.count = 0;
  swaps_.none_until.reset();
  plan.reset();
  confirmed = on_links();
  target_ = confirmed;
  find_unused();
  if (is_first || !is_master_) return;
  mend("the fabric has changed");
}

}  // namespace heddle::regulation
