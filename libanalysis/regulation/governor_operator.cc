// What operators say.

#include <fmt/format.h>

#include <algorithm>

#include "regulation/governor_impl.h"

namespace heddle::regulation {

using routing::LinkSet;

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

void Governor::Impl::handle(const SetOverride& event) {
  const auto index = find(event.link);
  const Override& value = event.value;
  if (!network || !index) {
    return refuse(event.command, ErrorCode::NotFound,
                  fmt::format("no link {} in the fabric", name(event.link)));
  }
  if (value.wish == Wish::Off && event.force == Force::No) {
    const Link& cable = network->fabric().link(*index);
    LinkSet without = available();
    without.erase(*index);
    std::vector<std::string> hosts;
    for (const LinkEnd end : {cable.a, cable.b}) {
      const Node& node = network->fabric().node(end.node);
      if (node.type != NodeType::Switch)
        hosts.push_back(fmt::format("{}/{}", node.description, end.port.raw()));
    }
    if (network->trunk_of(*index) != Network::no_trunk) {
      const auto before = cut_off_hosts(*network, available());
      for (const PortRef& port : cut_off_hosts(*network, without)) {
        if (std::find(before.begin(), before.end(), port) != before.end()) continue;
        const Node& node = network->fabric().node(network->fabric().find_node(port.node));
        hosts.push_back(fmt::format("{}/{}", node.description, port.port.raw()));
      }
    }
    const auto rule = broken_rule(*network, without);
    if (!hosts.empty() || (rule && rules_hold(available()))) {
      std::string list;
      for (std::size_t i = 0; i < hosts.size() && i < 20; ++i) list += (i == 0 ? "" : ", ") + hosts[i];
      if (hosts.size() > 20) list += fmt::format(" and {} more", hosts.size() - 20);
      return refuse(
          event.command, ErrorCode::Refused,
          hosts.empty()
              ? fmt::format("without {}: {}; force it to do so all the same", name(*index), *rule)
              : fmt::format("without {} these hosts are cut off: {}; force it to do so all the same",
                            name(*index), list));
    }
  }
  const Wish before = wish(event.link);
  record(OverrideRecord{event.link, value});
  LinkRecord& link = at(*index);
  link.forced = value.wish == Wish::Off && event.force == Force::CutHostsOff;
  refresh_exemptions();
  std::string text = fmt::format("{}: {}", name(*index), to_string(value.wish));
  if (!value.reason.empty()) text += ", " + value.reason;
  if (before != Wish::Auto && before != value.wish)
    text += fmt::format(" (in place of {})", to_string(before));
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

void Governor::Impl::handle(const Stopping&) {
  is_stopping_ = true;
  bring_back(Whose::Regulation, "the daemon stops");
}

}  // namespace heddle::regulation
