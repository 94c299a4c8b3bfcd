// What is told of it: names, the log of decisions, problems.

#include "regulate/regulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/printable.h"
#include "base/text.h"
#include "fabric/links.h"
#include "fabric/unique_names.h"
#include "regulate/disabled_ports.h"

namespace heddle::regulate {
namespace {

constexpr std::size_t most_names = 8;
constexpr std::size_t most_hosts = 20;

}  // namespace

bool Regulator::has_faults() const {
  return !governor_.lost_switches().empty() || !governor_.links_in(regulation::LinkState::Lost).empty();
}

/// Who has no path, and why nothing that is off can give them one; empty if nobody.
std::string Regulator::cut_off_hosts() const {
  const regulation::CutOff cut = governor_.cut_off();
  if (cut.hosts.empty()) return {};
  std::string gone;
  for (const NodeGuid guid : cut.lost_switches) {
    gone += (gone.empty() ? "; gone: " : ", ") + name(guid);
  }
  const std::string spares =
      cut.coming > 0 ? fmt::format("{} being turned on that may lead there",
                                   cut.coming == 1 ? "1 link is" : fmt::format("{} links are", cut.coming))
                     : "no link that can be turned on from here leads there: look at its cables and power";
  return fmt::format("{} {} no path to the others: {}{}. {}", cut.hosts.size(),
                     cut.hosts.size() == 1 ? "host port has" : "host ports have",
                     list_of(cut.hosts, most_hosts, [this](const auto& host) { return name(host); }), gone,
                     spares);
}

std::string Regulator::name(NodeGuid node) const {
  const NodeIndex index = known_.reference ? known_.reference->find_node(node) : no_node;
  if (index != no_node) return unique_name(*known_.reference, index);
  const std::string before = cables_.name_of(node);
  return before.empty() ? to_string(node) : before;
}

std::string Regulator::name(const PortRef& port) const {
  return fmt::format("{}/{}", name(port.node), port.port.raw());
}

std::string Regulator::names(const std::vector<NodeGuid>& nodes) const {
  return list_of(nodes, most_names, [this](NodeGuid node) { return name(node); });
}

std::string Regulator::names(const std::vector<LinkRef>& links) const {
  return list_of(links, most_names,
                 [this](const LinkRef& link) { return name(link.a) + " -- " + name(link.b); });
}

std::string Regulator::names(const std::vector<PortRef>& ports) const {
  return list_of(ports, most_names, [this](const PortRef& port) { return name(port); });
}

std::vector<DrainShown> Regulator::drains() const {
  std::vector<DrainShown> shown;
  if (!restarted_) {
    // They stand, and nobody has looked yet.
    for (const auto& [what, drain] : journal_.memory().drains)
      shown.push_back({{drain, 0, drain.links.size()}});
    return shown;
  }
  for (regulation::DrainStatus& status : governor_.drains()) {
    DrainShown one{std::move(status)};
    for (const LinkRef& link : one.status.drain.links) {
      const PortIndex port = known_.reference ? known_.reference->find_port(link.a) : no_port;
      const LinkIndex index = port == no_port ? no_link : known_.reference->port(port).link;
      if (index != no_link && known_.up.contains(index)) ++one.still_up;
    }
    one.safe = one.status.open == 0 && one.still_up == 0;
    shown.push_back(std::move(one));
  }
  return shown;
}

void Regulator::perform(const regulation::Report& report, Instant now) {
  log(report.kind, names(report.links), report.reason, now);
}

void Regulator::log(regulation::ReportKind kind, const std::string& links, const std::string& text,
                    Instant now) {
  const journal::Event event{0, options_.calendar.to_wall(now), std::string(to_string(kind)), links, text};
  // Whoever tells it to others has it on the way to disk first: what is in the journal has been told, or will
  // be.
  log_(event);
  journal_.append(event, [this](const Result<void>& stored) { heed(stored); });
}

Problems Regulator::problems() const {
  Problems problems;
  const auto add = [&](ProblemKind kind, std::string text) { problems.push_back({kind, std::move(text)}); };
  std::string journal = journal_trouble_;
  if (const auto there = journal_.check(); !there) journal = there.error().message;
  if (!journal.empty()) {
    add(ProblemKind::Journal, journal + ". No link is turned off until it can be written again");
  }
  if (journal_.wait() > options_.slow_disk) {
    add(ProblemKind::Journal,
        fmt::format(
            "the disk has taken nothing of the journal for {:.0f} s: until it does, no link is turned "
            "off, and no command is answered; see what keeps the disk of state.directory busy",
            seconds(journal_.wait())));
  }
  for (const std::string& pattern : unmatched_pins_) {
    add(ProblemKind::Pins,
        fmt::format("regulation.pin: no link between switches is called \"{}\"; 'heddle links' lists their "
                    "names",
                    pattern));
  }
  if (const auto unknown = unknown_switches(); !unknown.empty()) {
    add(ProblemKind::PowerUnknown,
        fmt::format("nobody knows what {} {} draw{}: {}: their energy is not counted, and where links are "
                    "chosen theirs weigh as those of the SFS7000D; say it with [[power.model]] or "
                    "power.measured, or let power.unknown be \"sfs7000d\"",
                    unknown.size(), unknown.size() == 1 ? "switch" : "switches",
                    unknown.size() == 1 ? "s" : "", names(unknown)));
  }
  for (const std::string& name : unmatched_readings_) {
    add(ProblemKind::PowerUnknown,
        fmt::format(
            "power.measured: the fabric has no switch called \"{}\"; 'heddle nodes' lists their names",
            printable(name)));
  }
  if (!governor_.trouble().empty()) {
    add(governor_.reference() ? ProblemKind::Tables : ProblemKind::NotRegulated, governor_.trouble());
  }
  if (known_.reference) add_problems_of_links(problems);
  return problems;
}

void Regulator::add_problems_of_links(Problems& problems) const {
  if (!cut_off_.empty()) {
    problems.push_back({ProblemKind::CutOff, cut_off_});
  } else if (const auto parted = governor_.parted()) {
    problems.push_back(
        {ProblemKind::CutOff,
         *parted + ": nothing is turned off, and what is off comes back, until they have one"});
  }
  const auto add = [&](ProblemKind kind, const auto& which, std::string_view one, std::string_view several,
                       std::string_view advice) {
    if (which.empty()) return;
    problems.push_back({kind, fmt::format("{} {}: {}: {}", which.size(), which.size() == 1 ? one : several,
                                          names(which), advice)});
  };
  const Gone gone = this->gone();
  add(ProblemKind::LostLinks, std::vector(gone.switches.begin(), gone.switches.end()), "switch is gone",
      "switches are gone", "see their power, and the cables there; `heddle fabric forget` if for good");
  add(ProblemKind::LostLinks, std::vector(gone.cables.begin(), gone.cables.end()),
      "link is down, and nobody ordered it", "links are down, and nobody ordered it",
      "see the cables; `heddle fabric forget` if gone for good");
  add(ProblemKind::DisabledPorts, not_ours(known_.disabled, governor_), "port is disabled and not by us",
      "ports are disabled and not by us",
      "an operator may have done that, or a journal that is lost had it; `heddle restore --adopt` enables "
      "them");
  add(ProblemKind::LinksNotBack, governor_.not_back(), "link was ordered on and did not come",
      "links were ordered on and did not come", "see the cables; each is ordered again and again");
  const Fabric& fabric = *known_.reference;
  const std::vector<LinkRef> forced = governor_.forced();
  for (const auto& [link, off] : governor_.memory().off) {
    const PortIndex port = fabric.find_port(off.port);
    const PortRef& other = off.port == link.a ? link.b : link.a;
    const bool is_hidden =
        governor_.lost_switches().contains(other.node) && std::ranges::find(forced, link) != forced.end();
    const bool is_unseen = fabric.find_port(other) == no_port || is_hidden;
    if (port == no_port || !is_unseen || governor_.is_drained(link)) continue;
    const std::string end = name(off.port);
    problems.push_back(
        {ProblemKind::OffUnseen,
         fmt::format(
             "{} is off ({}), and what is behind it is not seen; `heddle link auto \"{}\"` brings it back",
             end, printable(off.reason), end)});
  }
}

Gone Regulator::gone() const {
  const Fabric& fabric = *known_.reference;
  Gone gone{governor_.lost_switches(), {known_.left.begin(), known_.left.end()}};
  for (const LinkRef& link : governor_.links_in(regulation::LinkState::Lost)) gone.cables.insert(link);
  add_those_of_before(gone);
  std::erase_if(gone.switches, [this](NodeGuid node) {
    return governor_.is_drained(node) || cables_.forgotten().switches.contains(node);
  });
  // Hosts come and go, and say so themselves.
  const auto is_switch_there = [&](const PortRef& port) {
    const NodeIndex node = fabric.find_node(port.node);
    return node != no_node && fabric.node(node).type == NodeType::Switch &&
           !gone.switches.contains(port.node) && !cables_.forgotten().switches.contains(port.node);
  };
  const std::vector<PortRef> disabled = not_ours(known_.disabled, governor_);
  const auto is_disabled = [&](const PortRef& port) {
    return std::find(disabled.begin(), disabled.end(), port) != disabled.end();
  };
  std::erase_if(gone.cables, [&](const LinkRef& link) {
    return governor_.is_drained(link) || cables_.forgotten().cables.contains(link) ||
           !is_switch_there(link.a) || !is_switch_there(link.b) || is_disabled(link.a) || is_disabled(link.b);
  });
  return gone;
}

/// Those that have been seen since the start are in the reference, and the governor knows of them.
void Regulator::add_those_of_before(Gone& gone) const {
  const Fabric& fabric = *known_.reference;
  for (const journal::Cable& cable : cables_.away()) {
    if (is_cabled(fabric, cable.link.a) || is_cabled(fabric, cable.link.b) ||
        governor_.memory().off.contains(cable.link))
      continue;
    gone.cables.insert(cable.link);
    for (const NodeGuid node : {cable.link.a.node, cable.link.b.node}) {
      if (fabric.find_node(node) == no_node) gone.switches.insert(node);
    }
  }
}

}  // namespace heddle::regulate
