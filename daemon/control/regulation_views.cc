#include "control/regulation_views.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <map>

#include "base/printable.h"
#include "fabric/link_name.h"
#include "fabric/unique_names.h"
#include "load/glob.h"

namespace heddle::control {
namespace {

namespace json = boost::json;
using core::RegulationState;

/// Names of links; of one that the fabric has no more, its ports.
class LinkNames {
 public:
  explicit LinkNames(std::shared_ptr<const Fabric> fabric) : fabric_{std::move(fabric)}, names_{fabric_} {}
  [[nodiscard]] std::string of(const LinkRef& ref) const {
    const PortIndex port = fabric_->find_port(ref.a);
    if (port == no_port || fabric_->port(port).link == no_link) {
      return fmt::format("{} -- {}", to_string(ref.a), to_string(ref.b));
    }
    return names_.link(fabric_->port(port).link);
  }
  /// By the names that are shown, or by bare descriptions.
  [[nodiscard]] bool fit(const LinkRef& ref, std::string_view pattern) const {
    const auto plain = [&](const PortRef& port) {
      const NodeIndex node = fabric_->find_node(port.node);
      return fmt::format("{}/{}", node == no_node ? to_string(port.node) : plain_name(fabric_->node(node)),
                         port.port.raw());
    };
    return load::glob_matches(pattern, of(ref)) ||
           load::glob_matches(pattern, fmt::format("{} -- {}", plain(ref.a), plain(ref.b)));
  }
  [[nodiscard]] std::string of(NodeGuid node) const {
    const NodeIndex index = fabric_->find_node(node);
    return index == no_node ? to_string(node) : names_.node(index);
  }

 private:
  std::shared_ptr<const Fabric> fabric_;
  FabricNames names_;
};

std::string_view turn_name(regulation::Turn turn) {
  switch (turn) {
    case regulation::Turn::Off:
      return "off";
    case regulation::Turn::On:
      return "on";
    case regulation::Turn::Reduce:
      return "reduce";
    case regulation::Turn::Widen:
      return "widen";
  }
  return "unknown";
}

std::string_view source_name(regulation::WakeSource source) {
  switch (source) {
    case regulation::WakeSource::Configured:
      return "configured";
    case regulation::WakeSource::Kind:
      return "kind";
    case regulation::WakeSource::Link:
      return "link";
  }
  return "unknown";
}

json::object power_link(const regulation::LinkStatus& link, const LinkNames& names, Instant now) {
  return {{"name", names.of(link.link)},
          {"state", to_string(link.state)},
          {"mode", power::to_string(link.mode)},
          {"full", power::to_string(link.full)},
          {"exempt", to_string(link.exempt)},
          {"wish", to_string(link.wish)},
          {"for_seconds", seconds(now - link.since)},
          {"transitions", link.transitions},
          {"wake", json::object{{"expected_seconds", seconds(link.wake.wake)},
                                {"from", source_name(link.wake.source)},
                                {"seen", link.wake.seen},
                                {"longest_seconds", seconds(link.wake.longest)}}},
          {"reason", printable(link.reason)}};
}

json::array measured_view(const std::vector<power::Compared>& measured, const LinkNames& names) {
  json::array view;
  for (const power::Compared& each : measured) {
    view.push_back(json::object{{"switch", names.of(each.node)},
                                {"measured_watts", each.measured.value()},
                                {"modelled_watts", each.modelled.value()},
                                {"calibrated_watts", each.calibrated.value()}});
  }
  return view;
}

std::vector<SlowLink> slow_links(const RegulationState& state) {
  std::vector<SlowLink> slow;
  for (const auto& link : state.links) {
    if (link.exempt == regulation::Exempt::SlowWake) slow.push_back({link.link, link.wake.longest});
  }
  return slow;
}

json::array idle_view(const std::vector<regulation::IdleSwitch>& idle, const LinkNames& names) {
  json::array view;
  for (const regulation::IdleSwitch& each : idle) {
    json::object row{{"switch", names.of(each.node)}, {"links_on", each.links_on}, {"base_watts", nullptr}};
    if (each.base) row["base_watts"] = each.base->value();
    view.push_back(std::move(row));
  }
  return view;
}

json::array slow_view(const std::vector<SlowLink>& slow, const LinkNames& names) {
  json::array view;
  for (const SlowLink& each : slow)
    view.push_back(json::object{{"link", names.of(each.link)}, {"took_seconds", seconds(each.took)}});
  return view;
}

}  // namespace

json::value regulation_view(const RegulationState& state) {
  json::object states;
  if (state.reference) {
    std::map<std::string_view, std::int64_t> counts;
    for (const auto& link : state.links) ++counts[to_string(link.state)];
    for (const auto& [name, count] : counts) states[name] = count;
  }
  json::array problems;
  for (const auto& problem : state.problems) problems.emplace_back(problem.text);
  json::object view{{"mode", to_string(state.mode)},
                    {"stage", to_string(state.stage)},
                    {"plane", state.plane},
                    {"links", std::move(states)},
                    {"power_watts", state.power.value()},
                    {"saving_watts", state.saving.value()},
                    {"transitions", json::object{{"off", state.transitions.off},
                                                 {"on", state.transitions.on},
                                                 {"reduced", state.transitions.reduced},
                                                 {"failed", state.transitions.failed}}},
                    {"problems", std::move(problems)}};
  if (const auto slow = slow_links(state); !slow.empty())
    view["slow"] = slow_view(slow, LinkNames{state.reference});
  for (auto& member : totals_view(state.total)) view[member.key()] = member.value();
  view["account"] = account_view(account(state));
  return view;
}

json::value host_agents_view(const HostAgentsShown& shown) {
  json::array in_plane(shown.in_plane.begin(), shown.in_plane.end());
  json::array hosts;
  for (const std::string& host : shown.immovable_hosts) hosts.emplace_back(host);
  return json::object{{"hosts", shown.hosts},
                      {"agents", shown.agents},
                      {"able", shown.able},
                      {"by_planes", shown.by_planes},
                      {"connections", shown.connections},
                      {"in_plane", std::move(in_plane)},
                      {"armed", shown.armed},
                      {"failed", shown.failed},
                      {"unable", shown.unable},
                      {"others", shown.others},
                      {"immovable_share", shown.immovable ? json::value(shown.immovable->value()) : nullptr},
                      {"immovable_hosts", std::move(hosts)},
                      {"moves", shown.moves},
                      {"failed_moves", shown.failed_moves},
                      {"trouble", shown.trouble}};
}

namespace {

json::array held_view(const std::vector<regulation::Holding>& held, const Fabric& reference,
                      const FabricNames& names) {
  json::array view;
  for (const regulation::Holding& each : held) {
    if (each.example.raw() >= reference.links().size()) continue;
    view.push_back(json::object{{"rule", each.rule},
                                {"links", each.links},
                                {"watts", each.watts.value()},
                                {"example", names.link(each.example)},
                                {"busiest", each.busiest.value()}});
  }
  return view;
}

}  // namespace

PlanShown plan(const RegulationState& state, core::RegulationPlan planned, Instant now) {
  return {state.mode,        std::move(planned.plan), state.reference,
          slow_links(state), std::move(planned.idle), now};
}

void write_plan(const PlanShown& shown, const TextSink& out) {
  json::object view{{"mode", to_string(shown.mode)}, {"plan", nullptr}};
  if (!shown.slow.empty()) view["slow"] = slow_view(shown.slow, LinkNames{shown.reference});
  if (shown.plan && shown.reference) {
    const regulation::Plan& plan = *shown.plan;
    const FabricNames names{shown.reference};
    json::array changes;
    for (const auto& decision : plan.decisions) {
      if (decision.link.raw() >= shown.reference->links().size()) continue;
      changes.push_back(json::object{{"link", names.link(decision.link)},
                                     {"turn", turn_name(decision.turn)},
                                     {"mode", power::to_string(decision.mode)},
                                     {"reason", printable(decision.reason)}});
    }
    view["plan"] = json::object{{"age_seconds", seconds(shown.now - plan.at)},
                                {"off", plan.off.size()},
                                {"on", plan.on.size()},
                                {"changes", std::move(changes)},
                                {"busiest", plan.busiest.value()},
                                {"watts_now", plan.watts_now.value()},
                                {"watts_then", plan.watts_then.value()},
                                {"watts_least", plan.watts_least.value()},
                                {"note", plan.note},
                                {"held", held_view(plan.held, *shown.reference, names)},
                                {"idle_switches", idle_view(shown.idle, LinkNames{shown.reference})}};
  }
  out(json::serialize(view) + "\n");
}

PowerLinks power_links(RegulationState state, std::string match, std::uint64_t most, Instant now) {
  return {std::move(state.links), std::move(state.reference), std::move(match), most, now};
}

void write_power_links(const PowerLinks& links, const TextSink& out) {
  out("{\"links\":[");
  if (links.reference) {
    const LinkNames names{links.reference};
    std::uint64_t written = 0;
    for (const auto& link : links.links) {
      if (written >= links.most) break;
      if (!links.match.empty() && !names.fit(link.link, links.match)) continue;
      if (written++ > 0) out(",");
      out(json::serialize(power_link(link, names, links.now)));
    }
  }
  out("]}\n");
}

json::value power_link_view(const RegulationState& state, const LinkRef& link, Instant now) {
  if (!state.reference) return nullptr;
  const LinkNames names{state.reference};
  for (const auto& status : state.links) {
    if (status.link == link) return power_link(status, names, now);
  }
  return nullptr;
}

Energy energy(const RegulationState& state, power::EnergyRecord record) {
  return {state.reference, std::move(record), state.power, state.saving, account(state), state.measured};
}

void write_energy(const Energy& energy, const TextSink& out) {
  std::string head = json::serialize(json::object{{"power_watts", energy.power.value()},
                                                  {"saving_watts", energy.saving.value()},
                                                  {"total", totals_view(energy.record.total)},
                                                  {"account", account_view(energy.account)}});
  head.pop_back();
  out(head);
  const auto rows = [&](std::string_view name, const auto& list, const LinkNames& names) {
    out(fmt::format(",\"{}\":[", name));
    std::string_view comma;
    for (const auto& [of, totals] : list) {
      json::object row{{"name", names.of(of)}};
      for (auto& member : totals_view(totals)) row[member.key()] = member.value();
      out(comma);
      out(json::serialize(row));
      comma = ",";
    }
    out("]");
  };
  if (energy.reference) {
    const LinkNames names{energy.reference};
    if (!energy.measured.empty())
      out(",\"measured\":" + json::serialize(measured_view(energy.measured, names)));
    rows("switches", energy.record.switches, names);
    rows("links", energy.record.links, names);
  } else {
    out(",\"switches\":[],\"links\":[]");
  }
  out("}\n");
}

json::value events_view(const std::vector<journal::Event>& events, std::uint64_t after) {
  json::array list;
  for (const auto& event : events) {
    const auto at = std::chrono::time_point_cast<std::chrono::seconds>(event.at);
    list.push_back(
        json::object{{"id", event.id},
                     {"at", fmt::format("{:%FT%TZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(
                                                         std::chrono::system_clock::time_point{at})))},
                     {"kind", event.kind},
                     {"links", printable(event.links)},
                     {"text", printable(event.text)}});
  }
  return json::object{{"last", events.empty() ? after : events.back().id}, {"events", std::move(list)}};
}

}  // namespace heddle::control
