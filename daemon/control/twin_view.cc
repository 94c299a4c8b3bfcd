#include "control/twin_view.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <span>
#include <string_view>

#include "control/view_parts.h"
#include "fabric/change.h"
#include "fabric/ibnetdiscover.h"
#include "fabric/links.h"

namespace heddle::control {
namespace {

namespace json = boost::json;

/// Two digits a port number.
std::string hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4U];
    text += digits[byte & 0xfU];
  }
  return text;
}

json::array name_of(const Fabric& fabric, LinkEnd end) {
  return {to_string(fabric.node(end.node).guid), end.port.raw()};
}

/// Links that carry nothing at present, by one end.
json::array links_down(const TwinParts& parts) {
  json::array down;
  const Fabric& fabric = *parts.fabric;
  const routing::LinkSet active = active_links(parts);
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    if (!active.contains(LinkIndex{i})) down.emplace_back(name_of(fabric, fabric.link(LinkIndex{i}).a));
  }
  return down;
}

void write_tables(const TwinParts& parts, const TextSink& out) {
  const discovery::TablesRead& read = *parts.tables;
  json::array unread;
  for (const NodeGuid guid : read.unread) unread.emplace_back(to_string(guid));
  out(json::serialize(json::object{{"age_seconds", seconds(parts.now - read.ended)},
                                   {"took_seconds", seconds(read.ended - read.began)},
                                   {"unread", std::move(unread)},
                                   {"outdated", tables_outdated(parts)}}));
  out(",\"rows\":[");
  for (std::uint32_t s = 0; s < read.tables.switch_count(); ++s) {
    const std::string row = hex(read.tables.row(routing::SwitchIndex{s}));
    out(json::serialize(json::array{to_string(read.tables.switches()[s]), row}));
    if (s + 1 < read.tables.switch_count()) out(",");
  }
  out("]");
}

/// Of each cabled port of the sample: bytes per second that leave it.
json::array rates(const load::Sample& sample) {
  json::array all;
  const Fabric& fabric = *sample.fabric;
  for (std::uint32_t i = 0; i < fabric.ports().size(); ++i) {
    const Port& port = fabric.port(PortIndex{i});
    if (port.link == no_link) continue;
    json::array each = name_of(fabric, {port.node, port.num});
    each.push_back(number(load::leaving(fabric, sample.ports, PortIndex{i})));
    all.push_back(std::move(each));
  }
  return all;
}

json::value order_view(const TwinParts& parts) {
  if (parts.ranks.empty()) return nullptr;
  json::array ranks;
  for (const auto& [guid, rank] : parts.ranks) ranks.push_back(json::array{to_string(guid), rank});
  json::array turns;
  for (const routing::KeptTurn& turn : parts.turns)
    turns.push_back(json::array{to_string(turn.from), to_string(turn.over), to_string(turn.to)});
  json::array managers;
  for (const Lid lid : parts.managers) managers.push_back(lid.raw());
  return json::object{{"planes", parts.planes},
                      {"ranks", std::move(ranks)},
                      {"turns", std::move(turns)},
                      {"managers", std::move(managers)}};
}

/// What a port draws while its link is on, with its share of the module.
double port_watts(const power::PowerModel& power, const Node& node, power::LinkMode mode) {
  const power::DeviceModel* model = power.find(node);
  if (model == nullptr) return 0;
  return power.port(node, mode).watts.value() +
         power.module(node).value() / static_cast<double>(std::max(1U, model->ports_a_cage));
}

/// Of links between switches, while they are on.
json::object watts_view(const TwinParts& parts) {
  const Fabric& fabric = *parts.fabric;
  json::array links;
  for (const Link& link : fabric.links()) {
    if (!joins_switches(fabric, link)) continue;
    json::array each = name_of(fabric, link.a);
    each.push_back(link_watts(*parts.power, fabric, link));
    links.push_back(std::move(each));
  }
  return {{"all_on", watts(*parts.power, fabric, power::all_on(fabric)).value()},
          {"links", std::move(links)}};
}

/// As the regulation chooses links.
json::object regulation_view(const TwinParts& parts) {
  const auto& models = parts.power->models();
  const bool has_default = !models.empty() && power::is_default(models.back());
  json::array kept;
  for (const LinkRef& link : parts.kept)
    kept.push_back(json::array{to_string(link.a.node), link.a.port.raw()});
  return {
      {"u_off", parts.thresholds.u_off.value()},         {"u_on", parts.thresholds.u_on.value()},
      {"models", power::write_models(models)},           {"unmatched", has_default ? "sfs7000d" : "unknown"},
      {"cable", power::to_string(parts.power->cable())}, {"kept", std::move(kept)}};
}

}  // namespace

routing::LinkSet active_links(const TwinParts& parts) {
  routing::LinkSet active = routing::LinkSet::all(*parts.fabric);
  const auto is_active = [&](LinkEnd end) {
    const PortIndex port = parts.seen->find_port(parts.fabric->ref(end));
    return port != no_port && parts.seen->port(port).state == PortState::Active;
  };
  for (std::uint32_t i = 0; i < parts.fabric->links().size(); ++i) {
    const Link& link = parts.fabric->links()[i];
    if (!is_active(link.a) || !is_active(link.b)) active.erase(LinkIndex{i});
  }
  return active;
}

double link_watts(const power::PowerModel& power, const Fabric& fabric, const Link& link) {
  if (!joins_switches(fabric, link)) return 0;
  return port_watts(power, fabric.node(link.a.node), power::mode_of(link)) +
         port_watts(power, fabric.node(link.b.node), power::mode_of(link));
}

bool tables_outdated(const TwinParts& parts) {
  return parts.tables->before == nullptr || parts.seen == nullptr ||
         parts.tables->before->epoch() != parts.seen->epoch();
}

void write_twin(const TwinParts& parts, const TextSink& out) {
  out("{\"fabric\":" + json::serialize(json::string(write_ibnetdiscover(*parts.fabric))));
  out(",\"down\":" + json::serialize(links_down(parts)));
  out(",\"order\":" + json::serialize(order_view(parts)));
  out(",\"plane\":" + std::to_string(parts.plane));
  out(",\"next_plane\":" + std::to_string(parts.next_plane));
  out(",\"watts\":" + (parts.power ? json::serialize(watts_view(parts)) : "null"));
  out(",\"regulation\":" + (parts.power ? json::serialize(regulation_view(parts)) : "null"));
  if (parts.sample) {
    out(",\"loads\":" +
        json::serialize(json::object{{"age_seconds", seconds(parts.now - parts.sample->ended)},
                                     {"ports", rates(*parts.sample)}}));
  } else {
    out(",\"loads\":null");
  }
  out(",\"tables\":");
  parts.tables ? write_tables(parts, out) : out("null");
  out("}");
}

}  // namespace heddle::control
