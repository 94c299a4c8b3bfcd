#include "health/error_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "fabric/links.h"
#include "health/poisson.h"

namespace heddle::health {
namespace {

using load::Counter;

/// So rare that nobody need think of chance.
constexpr double surely_no_chance = 1e-3;
/// One event is no pattern.
constexpr std::uint64_t least_events = 2;
/// A count that is so many times what is borne leaves no doubt.
constexpr std::uint64_t beyond_doubt = 3;
/// A node is to blame where so many of its ports, and at least half of those that are up, count errors.
constexpr std::size_t ports_of_a_bad_node = 3;

std::string in_minutes(FabricClock::duration time) { return fmt::format("{:.3g} min", seconds(time) / 60); }

/// An end of a link where something was counted.
struct End {
  PortRef at;
  PortRef peer;
  const Windows* windows;
  const Link* link;
  bool between_switches;
};

struct Symbols {
  std::uint64_t count = 0;  ///< 0: as few as there may be
  FabricClock::duration window{};
  Sureness sureness = Sureness::Likely;
  double ber = 0;
};

/// In the window that leaves least doubt.
Symbols symbols_of(const End& end, const Options& options) {
  const double rate = data_rate(end.link->width, end.link->speed).value();
  // IBA volume 2, 5.7: below FDR there is no FEC. Above, what is counted is what it could not mend.
  const bool corrects = end.link->speed >= LinkSpeed::Fdr;
  struct Limit {
    std::uint64_t count;
    FabricClock::duration window;
    double ber;
  };
  const std::array limits{Limit{end.windows->recent(Counter::SymbolErrors), options.window,
                                corrects ? options.effective_ber : options.raw_ber},
                          Limit{end.windows->all(Counter::SymbolErrors), options.long_window,
                                corrects ? options.effective_ber_long : options.raw_ber}};
  Symbols worst;
  for (const Limit& limit : limits) {
    const double bits = rate * seconds(limit.window);
    const double borne = bits * limit.ber;
    if (limit.count < least_events || static_cast<double>(limit.count) <= borne) continue;
    const bool sure = chance_of(limit.count, borne) < surely_no_chance;
    if (worst.count > 0 && (worst.sureness == Sureness::Sure || !sure)) continue;
    worst = {limit.count, limit.window, sure ? Sureness::Sure : Sureness::Likely,
             static_cast<double>(limit.count) / bits};
  }
  return worst;
}

/// Whose fault errors are that come in at one end only: what many ports have in common, else who sends.
class Blame {
 public:
  Blame(const Fabric& fabric, const std::vector<End>& ends, const Options& options) : fabric_{fabric} {
    for (const End& end : ends) {
      if (symbols_of(end, options).count == 0) continue;
      ++receiving_[end.at.node];
      ++sending_[end.peer.node];
      counting_.insert(end.at);
    }
  }

  struct Verdict {
    std::optional<PortRef> end;
    std::string advice;
  };
  [[nodiscard]] Verdict of(const End& end) const {
    if (const std::size_t ports = ports_of(receiving_, end.at.node); is_bad(ports, end.at.node)) {
      return {
          PortRef{end.at.node, PortNum{0}},
          fmt::format("{} ports of that node count errors: look at the node, its temperature and its power, "
                      "before its cables",
                      ports)};
    }
    if (const std::size_t ports = ports_of(sending_, end.peer.node); is_bad(ports, end.peer.node)) {
      return {
          PortRef{end.peer.node, PortNum{0}},
          fmt::format("what that node sends arrives bad at {} ports: look at the node, its temperature and "
                      "its power, before its cables",
                      ports)};
    }
    if (counting_.contains(end.peer)) {
      return {std::nullopt,
              "errors come in at both ends: clean and reseat both plugs, then change the cable"};
    }
    return {
        end.peer,
        "errors come in at one end only: clean and reseat the plug at the end that sends, then change the "
        "cable, then the port that sends"};
  }

 private:
  using Counts = std::map<NodeGuid, std::size_t>;
  static std::size_t ports_of(const Counts& counts, NodeGuid node) {
    const auto it = counts.find(node);
    return it == counts.end() ? 0 : it->second;
  }
  [[nodiscard]] bool is_bad(std::size_t ports, NodeGuid guid) const {
    if (ports < ports_of_a_bad_node) return false;
    const Node& node = fabric_.node(fabric_.find_node(guid));
    std::size_t active = 0;
    for (std::uint32_t p = 1; p <= node.port_count; ++p) {
      const Port& port = fabric_.port(PortIndex{node.first_port.raw() + p});
      active += port.state == PortState::Active ? 1 : 0;
    }
    return 2 * ports >= active;
  }

  const Fabric& fabric_;
  Counts receiving_;
  Counts sending_;
  std::set<PortRef> counting_;
};

Finding at_end(const End& end, Rule rule, Sureness sureness) {
  Finding finding;
  finding.rule = rule;
  finding.sureness = sureness;
  finding.at = end.at;
  finding.peer = end.peer;
  return finding;
}

void judge_symbols(const End& end, const Blame& blame, const Options& options, std::vector<Finding>& found) {
  const Symbols symbols = symbols_of(end, options);
  if (symbols.count == 0) return;
  Finding finding = at_end(end, Rule::SymbolErrors, symbols.sureness);
  finding.what = fmt::format("{} symbol errors came in within {}: a bit error rate of {:.1e}", symbols.count,
                             in_minutes(symbols.window), symbols.ber);
  auto verdict = blame.of(end);
  finding.blame = verdict.end;
  finding.advice = std::move(verdict.advice);
  found.push_back(std::move(finding));
}

/// What is borne, and whether it was borne.
struct Bound {
  std::uint64_t count;
  std::uint64_t limit;
  [[nodiscard]] bool broken() const { return limit > 0 && count >= limit; }
  [[nodiscard]] Sureness sureness() const {
    return count >= beyond_doubt * limit ? Sureness::Sure : Sureness::Likely;
  }
};

/// What is more than half of what is known of.
bool is_most(std::uint64_t count, std::uint64_t of) { return count > 0 && 2 * count > of; }

/// Where an agent tells why, that says more than where else errors were counted.
void explain(const ReceiveKinds& kinds, Finding& finding) {
  const std::uint64_t all = kinds.physical + kinds.malformed + kinds.overruns;
  if (all == 0) return;
  finding.what += fmt::format("; {} broken on the way, {} malformed, {} more than there was room for",
                              kinds.physical, kinds.malformed, kinds.overruns);
  if (is_most(kinds.malformed, all)) {
    finding.blame = finding.peer;
    finding.advice =
        "the other end sends what is no packet: update its firmware, then replace it; the cable is well";
  } else if (is_most(kinds.overruns, all)) {
    finding.blame = finding.peer;
    finding.advice = "the other end does not keep to its credits: update its firmware, then replace it";
  }
}

void explain(const DiscardKinds& kinds, Finding& finding) {
  const std::uint64_t all = kinds.inactive + kinds.too_large + kinds.too_old;
  if (all == 0) return;
  finding.what +=
      fmt::format("; {} waited too long, {} were led to a link that was down, {} were larger than the MTU",
                  kinds.too_old, kinds.inactive, kinds.too_large);
  if (is_most(kinds.inactive, all)) {
    finding.blame.reset();
    finding.advice =
        "tables led packets to a link that was down: look when it fell, and whether the subnet manager has "
        "routed "
        "around it";
  } else if (is_most(kinds.too_large, all)) {
    finding.blame.reset();
    finding.advice =
        "somebody sends larger packets than the other end takes: compare the MTUs of hosts, partitions and "
        "multicast groups with those of the switches";
  }
}

void judge_receiving(const End& end, const Blame& blame, const ErrorDetails& details, const Options& options,
                     std::vector<Finding>& found) {
  const Bound errors{end.windows->recent(Counter::RcvErrors), options.receive_errors};
  if (!errors.broken()) return;
  Finding finding = at_end(end, Rule::ReceiveErrors, errors.sureness());
  finding.what = fmt::format("{} packets came in broken within {} (PortRcvErrors)", errors.count,
                             in_minutes(options.window));
  auto verdict = blame.of(end);
  finding.blame = verdict.end;
  finding.advice = std::move(verdict.advice);
  if (const auto kinds = details.received(end.at)) explain(*kinds, finding);
  found.push_back(std::move(finding));
}

void judge_integrity(const End& end, const Options& options, std::vector<Finding>& found) {
  const std::uint64_t integrity = end.windows->all(Counter::LocalLinkIntegrityErrors);
  const std::uint64_t overruns = end.windows->all(Counter::ExcessiveBufferOverrunErrors);
  const Bound errors{integrity + overruns, options.integrity_errors};
  if (!errors.broken()) return;
  Finding finding = at_end(end, Rule::LinkIntegrity, errors.sureness());
  finding.what =
      fmt::format("{} times too many errors in a row, {} times more sent than there was room for, within {}",
                  integrity, overruns, in_minutes(options.long_window));
  finding.advice =
      overruns > integrity
          ? "the end that sends does not keep to its credits: update its firmware, then replace it"
          : "reseat both plugs, then change the cable";
  if (overruns > integrity) finding.blame = end.peer;
  found.push_back(std::move(finding));
}

void judge_recovery(const End& end, const Options& options, std::vector<Finding>& found) {
  const Bound recoveries{end.windows->all(Counter::LinkRecovers), options.recoveries};
  if (!recoveries.broken()) return;
  Finding finding = at_end(end, Rule::LinkRecovery, recoveries.sureness());
  finding.what = fmt::format("lost its lock and found it again {} times within {}", recoveries.count,
                             in_minutes(options.long_window));
  finding.advice = "reseat both plugs, then change the cable";
  found.push_back(std::move(finding));
}

void judge_discards(const End& end, const Growth& growth, const ErrorDetails& details, const Options& options,
                    std::vector<Finding>& found) {
  // A link that went down threw away what was led to it: that it went down is told already.
  const Windows* other = growth.of(end.peer);
  if (end.windows->recent(Counter::LinkDowned) > 0 ||
      (other != nullptr && other->recent(Counter::LinkDowned) > 0)) {
    return;
  }
  const Bound discards{end.windows->recent(Counter::XmitDiscards), options.discards};
  if (!discards.broken()) return;
  Finding finding = at_end(end, Rule::XmitDiscards, discards.sureness());
  finding.blame = end.peer;
  finding.what = fmt::format("threw away {} packets that it could not send, within {}", discards.count,
                             in_minutes(options.window));
  finding.advice =
      "the other end does not take packets in time, or the link was down: look at that end, and whether it "
      "waits for others ('heddle links --sort congestion')";
  if (const auto kinds = details.discarded(end.at)) explain(*kinds, finding);
  found.push_back(std::move(finding));
}

struct Falls {
  std::uint64_t recent = 0;
  std::uint64_t all = 0;
  const End* shown = nullptr;  ///< an end that counted, if any
  bool between_switches = false;
};

/// Both ends of a link count the same falls.
void judge_falls(const std::map<LinkRef, Falls>& falls, const Options& options, std::vector<Finding>& found) {
  for (const auto& [link, fall] : falls) {
    Finding finding;
    finding.at = link.a;
    finding.peer = link.b;
    finding.advice =
        "reseat both plugs, then change the cable; what it carries is better led elsewhere until then "
        "('heddle link off')";
    if (options.flaps > 0 && fall.recent >= options.flaps) {
      finding.rule = Rule::LinkFlaps;
      finding.sureness = Sureness::Sure;
      finding.what = fmt::format("went down {} times within {}, and nobody ordered it", fall.recent,
                                 in_minutes(options.window));
    } else if (fall.between_switches && options.downs > 0 && fall.all >= options.downs) {
      finding.rule = Rule::LinkDowned;
      finding.sureness = fall.all >= beyond_doubt ? Sureness::Sure : Sureness::Likely;
      finding.what = fmt::format("went down {} within {}, and nobody ordered it",
                                 fall.all == 1 ? "once" : fmt::format("{} times", fall.all),
                                 in_minutes(options.long_window));
    } else {
      continue;
    }
    found.push_back(std::move(finding));
  }
}

void judge_full(const Fabric& fabric, const Growth& growth, std::vector<Finding>& found) {
  for (const auto& [port, counters] : growth.full()) {
    // A port whose cable was pulled under load has thrown away as much as fits its counter, and nothing is to
    // be seen there until it is plugged in again.
    const PortIndex index = fabric.find_port(port);
    if (index == no_port || fabric.port(index).link == no_link) continue;
    std::string names;
    for (const Counter counter : judged) {
      if ((counters & load::mask(counter)) == 0) continue;
      names += fmt::format("{}{}", names.empty() ? "" : ", ", load::to_string(counter));
    }
    Finding finding;
    finding.rule = Rule::FullCounters;
    finding.sureness = Sureness::Sure;
    finding.at = port;
    finding.what = fmt::format("stands at its largest value: {}; errors beyond that are not seen", names);
    finding.advice = "set it to zero (perfquery -R LID PORT)";
    found.push_back(std::move(finding));
  }
}

}  // namespace

std::vector<Finding> judge_errors(const Fabric& fabric, const Growth& growth, const DropWatch& drops,
                                  const ErrorDetails& details, const Options& options) {
  std::vector<Finding> found;
  std::vector<End> ends;
  std::map<LinkRef, Falls> falls;
  for (const auto& [ref, windows] : growth.troubled()) {
    const PortIndex port = fabric.find_port(ref);
    if (port == no_port) continue;
    // A link that is down has no end in this snapshot; when it comes back, its counters tell.
    if (fabric.port(port).link == no_link) continue;
    const Link& link = fabric.link(fabric.port(port).link);
    const LinkRef name = link_ref(fabric, link);
    const bool between_switches = joins_switches(fabric, link);
    ends.push_back({ref, name.a == ref ? name.b : name.a, &windows, &link, between_switches});
    Falls& fall = falls[name];
    fall.between_switches = between_switches;
    fall.recent = std::max(fall.recent, windows.recent(Counter::LinkDowned));
    fall.all = std::max(fall.all, windows.all(Counter::LinkDowned));
  }
  for (auto& [link, fall] : falls) fall.recent = std::max<std::uint64_t>(fall.recent, drops.count(link));
  const Blame blame{fabric, ends, options};
  for (const End& end : ends) {
    judge_symbols(end, blame, options, found);
    judge_receiving(end, blame, details, options, found);
    judge_integrity(end, options, found);
    judge_recovery(end, options, found);
    judge_discards(end, growth, details, options, found);
  }
  judge_falls(falls, options, found);
  judge_full(fabric, growth, found);
  return found;
}

}  // namespace heddle::health
