// What operators say.

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "regulation/governor_impl.h"

namespace heddle::regulation {

using routing::LinkSet;

namespace {

constexpr std::size_t most_hosts = 20;

}  // namespace

std::string list_hosts(const std::vector<std::string>& hosts) {
  return list_of(hosts, most_hosts, std::identity{});
}

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

Governor::Impl::OffOrder Governor::Impl::off_order(const LinkRef& link) const {
  if (const Drain* drain = drain_of(link)) {
    const std::string reason = drain->reason.empty() ? "" : ", " + drain->reason;
    return {drain->by, fmt::format("drain of {}{}", drain->what, reason), drain->forced};
  }
  const Override& override = memory.overrides.at(link);
  return {override.by, override.reason, override.forced};
}

/// Hosts that have their legal paths only with these links.
std::vector<std::string> Governor::Impl::cut_off_without(const std::vector<LinkIndex>& links) const {
  const Fabric& fabric = network->fabric();
  std::vector<std::string> hosts;
  LinkSet without = available();
  bool has_trunk = false;
  for (const LinkIndex index : links) {
    const Link& cable = fabric.link(index);
    for (const LinkEnd end : {cable.a, cable.b}) {
      if (fabric.node(end.node).type == NodeType::Switch) continue;
      hosts.push_back(fmt::format("{}/{}", name(end.node), end.port.raw()));
    }
    if (network->trunk_of(index) == Network::no_trunk) continue;
    has_trunk = true;
    without.erase(index);
  }
  if (!has_trunk) return hosts;
  const auto before = cut_off_hosts(*network, available());
  for (const PortRef& port : cut_off_hosts(*network, without)) {
    if (std::find(before.begin(), before.end(), port) != before.end()) continue;
    hosts.push_back(fmt::format("{}/{}", name(fabric.find_node(port.node)), port.port.raw()));
  }
  return hosts;
}

/// Why the links cannot go without force, if so: for those that are there, and for switches that are gone,
/// once they come back. `going`: switches that go with them.
std::optional<std::string> Governor::Impl::objection(const std::string& what,
                                                     const std::vector<LinkIndex>& links,
                                                     const std::vector<std::string>& hosts,
                                                     std::string_view otherwise,
                                                     const std::vector<NodeGuid>& going) {
  if (!hosts.empty()) {
    return fmt::format("without {} these hosts are cut off: {}; {} to do so all the same", what,
                       list_hosts(hosts), otherwise);
  }
  const auto broken_by_them = [&](const LinkSet& all) -> std::optional<std::string> {
    LinkSet without = all;
    for (const LinkIndex index : links) without.erase(index);
    auto rule = broken_rule(*network, without);
    return rule && rules_hold(all) ? rule : std::nullopt;
  };
  std::vector<NodeGuid> excused = going;
  excused.insert(excused.end(), lost_switches.begin(), lost_switches.end());
  excuse_drained(excused);
  auto rule = broken_by_them(available());
  excuse_drained(going);
  if (!rule) {
    rule =
        broken_by_them(links_where([this](const LinkRecord& link) { return wish(link.ref) != Wish::Off; }));
  }
  excuse_drained({});
  if (!rule) return std::nullopt;
  return fmt::format("without {}: {}; {} to do so all the same", what, *rule, otherwise);
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
  if (const Drain* drain = drain_of(event.link); drain != nullptr && value.wish != Wish::Off) {
    return refuse(event.command, ErrorCode::Conflict,
                  fmt::format("{} is part of the drain of {}; `heddle drain --end \"{}\"` gives it back",
                              name(event.link), drain->what, drain->what));
  }
  std::vector<std::string> hosts;
  if (value.wish == Wish::Off) {
    hosts = cut_off_without({*index});
    const auto against =
        event.force == Force::No ? objection(name(*index), {*index}, hosts, "force it", {}) : std::nullopt;
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
  if (!hosts.empty()) text += "; cuts off " + list_hosts(hosts);
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
  for (const auto& [what, drain] : std::map{memory.drains}) record(DrainRecord{what, std::nullopt});
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

void Governor::Impl::handle(const KeepBaseline& event) {
  Baseline baseline = event.baseline;
  baseline.since = now_;
  record(BaselineRecord{baseline});
  std::string text = fmt::format("{} is kept as the baseline", baseline.name);
  report(ReportKind::Operator, {}, fmt::format("{}, by {}", text, baseline.by));
  answer(event.command, std::move(text));
}

void Governor::Impl::handle(const ForgetBaseline& event) {
  if (!memory.baseline) return refuse(event.command, ErrorCode::NotFound, "no baseline is kept");
  std::string text = fmt::format("the baseline ({}) is forgotten", memory.baseline->name);
  record(BaselineRecord{});
  report(ReportKind::Operator, {}, fmt::format("{}, by {}", text, event.by));
  answer(event.command, std::move(text));
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
