// What operators say.

#include <fmt/format.h>

#include <algorithm>

#include "regulation/governor_impl.h"

namespace heddle::regulation {

using routing::LinkSet;

namespace {

constexpr std::size_t most_hosts = 20;

std::string list(const std::vector<std::string>& hosts) {
  std::string text;
  for (std::size_t i = 0; i < hosts.size() && i < most_hosts; ++i) text += (i == 0 ? "" : ", ") + hosts[i];
  if (hosts.size() > most_hosts) text += fmt::format(" and {} more", hosts.size() - most_hosts);
  return text;
}

}  // namespace

void Governor::Impl::handle(const SetMode& event) {
  record(ModeRecord{event.mode, event.by});
  mode = event.mode;
  report(ReportKind::Operator, {}, fmt::format("regulation is set to {} by {}", to_string(mode), event.by));
  std::string text = fmt::format("regulation: {}", to_string(mode));
  if (mode != Mode::Enforce) {
    bring_back(Whose::Regulation, fmt::format("regulation is set to {}", to_string(mode)));
    text += "; what it turned off comes back";
  }
  advised_.clear();
  planned_at_.reset();
  answer(event.command, std::move(text));
}

/// Hosts that have their legal paths only with this link.
std::vector<std::string> Governor::Impl::cut_off_without(LinkIndex index) const {
  const Fabric& fabric = network->fabric();
  const Link& cable = fabric.link(index);
  std::vector<std::string> hosts;
  for (const LinkEnd end : {cable.a, cable.b}) {
    const Node& node = fabric.node(end.node);
    if (node.type != NodeType::Switch) hosts.push_back(fmt::format("{}/{}", name(end.node), end.port.raw()));
  }
  if (network->trunk_of(index) == Network::no_trunk) return hosts;
  LinkSet without = available();
  without.erase(index);
  const auto before = cut_off_hosts(*network, available());
  for (const PortRef& port : cut_off_hosts(*network, without)) {
    if (std::find(before.begin(), before.end(), port) != before.end()) continue;
    hosts.push_back(fmt::format("{}/{}", name(fabric.find_node(port.node)), port.port.raw()));
  }
  return hosts;
}

/// Why the link cannot go without force, if so.
std::optional<std::string> Governor::Impl::objection(LinkIndex index,
                                                     const std::vector<std::string>& hosts) const {
  if (!hosts.empty()) {
    return fmt::format("without {} these hosts are cut off: {}; force it to do so all the same", name(index),
                       list(hosts));
  }
  LinkSet without = available();
  without.erase(index);
  const auto rule = broken_rule(*network, without);
  if (!rule || !rules_hold(available())) return std::nullopt;
  return fmt::format("without {}: {}; force it to do so all the same", name(index), *rule);
}

void Governor::Impl::handle(const SetOverride& event) {
  const auto index = find(event.link);
  Override value = event.value;
  if (network && is_stranger(event.link) && value.wish != Wish::Off) {
    record(OverrideRecord{event.link, value});
    strangers_.insert(event.link);
    report(ReportKind::Operator, {event.link},
           fmt::format("{}: {}, by {}", name(event.link), to_string(value.wish), value.by));
    return answer(event.command, fmt::format("{}: {}", name(event.link), to_string(value.wish)));
  }
  if (!network || !index) {
    return refuse(event.command, ErrorCode::NotFound,
                  fmt::format("no link {} in the fabric", name(event.link)));
  }
  std::vector<std::string> hosts;
  if (value.wish == Wish::Off) {
    hosts = cut_off_without(*index);
    const auto against = event.force == Force::No ? objection(*index, hosts) : std::nullopt;
    if (against) return refuse(event.command, ErrorCode::Refused, *against);
    value.forced = event.force == Force::CutHostsOff;
  }
  const Wish before = wish(event.link);
  record(OverrideRecord{event.link, value});
  LinkRecord& link = at(*index);
  refresh_exemptions();
  std::string text = fmt::format("{}: {}", name(*index), to_string(value.wish));
  if (!value.reason.empty()) text += ", " + value.reason;
  if (before != Wish::Auto && before != value.wish)
    text += fmt::format(" (in place of {})", to_string(before));
  if (!hosts.empty()) text += "; cuts off " + list(hosts);
  report(ReportKind::Operator, {event.link}, fmt::format("{}, by {}", text, value.by));
  const std::string why = fmt::format("by {}: {}{}", value.by, to_string(value.wish),
                                      value.reason.empty() ? "" : ", " + value.reason);
  if (value.wish == Wish::On || value.wish == Wish::Pin ||
      (value.wish == Wish::Auto && before == Wish::Off)) {
    if (link.state == LinkState::Leaving || link.state == LinkState::Draining) call_off(why);
    want(*index, why);
  }
  answer(event.command, std::move(text));
}

void Governor::Impl::handle(const Restore& event) {
  std::vector<LinkRef> taken;
  for (const auto& [link, override] : memory.overrides) {
    if (override.wish == Wish::Off) taken.push_back(link);
  }
  for (const LinkRef& link : taken) record(OverrideRecord{link, {Wish::Auto, "restore", event.by, {}}});
  record(ModeRecord{Mode::Advise, event.by});
  mode = Mode::Advise;
  advised_.clear();
  refresh_exemptions();
  report(ReportKind::Operator, taken, fmt::format("everything comes back on, by {}", event.by));
  bring_back(Whose::Everybody, "restore by " + event.by);
  answer(event.command,
         fmt::format("everything comes back on; {} links were off by operators; regulation: advise",
                     taken.size()));
}

void Governor::Impl::handle(const Stopping& event) {
  is_stopping_ = true;
  if (event.links == Stopping::Links::ComeBack) {
    bring_back(Whose::Regulation, "the daemon stops");
  } else {
    call_off("the daemon stops");
  }
}

}  // namespace heddle::regulation
