#include "heddle/twin_source.h"

#include <boost/json/array.hpp>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/json_access.h"
#include "fabric/generators.h"
#include "heddle/client.h"
#include "heddle/fabric_source.h"
#include "heddle/route_inputs.h"
#include "routing/switch_graph.h"

namespace heddle::cli {
namespace {

namespace json = boost::json;

constexpr double nobody_knows = std::numeric_limits<double>::quiet_NaN();

NodeGuid guid_of(const json::value& value) {
  const auto* text = value.if_string();
  std::uint64_t guid = 0;
  if (text != nullptr && text->starts_with("0x"))
    (void)std::from_chars(text->data() + 2, text->data() + text->size(), guid, 16);
  return NodeGuid{guid};
}

/// Of what is not a number from 0 to `most`: none.
std::optional<std::uint16_t> whole(const json::value& value, std::int64_t most) {
  const auto* number = value.if_int64();
  if (number == nullptr || *number < 0 || *number > most) return std::nullopt;
  return static_cast<std::uint16_t>(*number);
}

/// [GUID, port, ...]; no_port for what the fabric has not.
PortIndex port_of(const Fabric& fabric, const json::value& value) {
  const auto* row = value.if_array();
  const auto port = row != nullptr && row->size() > 1 ? whole((*row)[1], 254) : std::nullopt;
  if (!port) return no_port;
  return fabric.find_port(PortRef{guid_of((*row)[0]), PortNum{static_cast<std::uint8_t>(*port)}});
}

double third_of(const json::value& value) {
  const auto* row = value.if_array();
  return row != nullptr && row->size() > 2 && (*row)[2].is_number() ? (*row)[2].to_number<double>()
                                                                    : nobody_knows;
}

void take_down(const json::value& answer, twin::Source& twin) {
  twin.active = routing::LinkSet::all(*twin.fabric);
  for (const json::value& each : array_at(answer, "down")) {
    const PortIndex port = port_of(*twin.fabric, each);
    if (port != no_port && twin.fabric->port(port).link != no_link)
      twin.active.erase(twin.fabric->port(port).link);
  }
}

void take_order(const json::value& answer, twin::Source& twin) {
  twin.plane = static_cast<unsigned>(count_at(answer, "plane"));
  twin.next_plane = static_cast<unsigned>(count_at(answer, "next_plane"));
  const json::value& order = at_path(answer, "order");
  if (!order.is_object()) return;
  twin.order.planes = static_cast<unsigned>(count_at(order, "planes"));
  for (const json::value& each : array_at(order, "ranks")) {
    const auto* row = each.if_array();
    const auto rank = row != nullptr && row->size() == 2 ? whole((*row)[1], 0xffff) : std::nullopt;
    if (rank) twin.order.ranks.emplace_back(guid_of((*row)[0]), *rank);
  }
  for (const json::value& each : array_at(order, "managers")) {
    if (const auto lid = whole(each, last_unicast_lid.raw())) twin.order.managers.emplace_back(*lid);
  }
  for (const json::value& each : array_at(order, "turns")) {
    const auto* row = each.if_array();
    if (row == nullptr || row->size() != 3) continue;
    twin.order.turns.push_back({guid_of((*row)[0]), guid_of((*row)[1]), guid_of((*row)[2])});
  }
}

void take_loads(const json::value& answer, twin::Source& twin) {
  if (!at_path(answer, "loads").is_object()) return;
  twin.loads_age = number_at(answer, "loads.age_seconds");
  twin.leaving.assign(twin.fabric->ports().size(), nobody_knows);
  for (const json::value& each : array_at(answer, "loads.ports")) {
    const PortIndex port = port_of(*twin.fabric, each);
    if (port != no_port) twin.leaving[port.raw()] = 8 * third_of(each);
  }
}

void take_watts(const json::value& answer, twin::Source& twin) {
  if (!at_path(answer, "watts").is_object()) return;
  twin.watts_all_on = number_at(answer, "watts.all_on");
  twin.watts.assign(twin.fabric->links().size(), 0);
  for (const json::value& each : array_at(answer, "watts.links")) {
    const PortIndex port = port_of(*twin.fabric, each);
    if (port != no_port && twin.fabric->port(port).link != no_link)
      twin.watts[twin.fabric->port(port).link.raw()] = third_of(each);
  }
}

/// How heddled chooses links. Errors: of the models' text.
Result<void> take_regulation(const json::value& answer, twin::Source& twin) {
  const json::value& said = at_path(answer, "regulation");
  if (!said.is_object()) return {};
  twin.thresholds = {Ratio{number_at(said, "u_off")}, Ratio{number_at(said, "u_on")}};
  auto models = power::read_models(text_at(said, "models"), "the daemon's power models");
  if (!models) return fail(models.error());
  const bool has_default = text_at(said, "unmatched") == "sfs7000d";
  twin.power = power::PowerModel{*std::move(models),
                                 has_default ? power::Unmatched::Sfs7000d : power::Unmatched::Unknown,
                                 power::cable_from(text_at(said, "cable")).value_or(power::Cable::Copper)};
  for (const json::value& each : array_at(said, "kept")) {
    const PortIndex port = port_of(*twin.fabric, each);
    if (port != no_port) twin.kept.push_back(twin.fabric->ref(port));
  }
  return {};
}

std::uint8_t hex_digit(char c) { return static_cast<std::uint8_t>(c >= 'a' ? c - 'a' + 10 : c - '0'); }

Result<void> take_tables(const json::value& answer, twin::Source& twin) {
  if (!at_path(answer, "tables").is_object()) return {};
  const auto graph = routing::SwitchGraph::make(*twin.fabric);
  if (!graph) return fail(graph.error());
  twin.tables_age = number_at(answer, "tables.age_seconds");
  twin.unread = array_at(answer, "tables.unread").size();
  twin.outdated = truth_at(answer, "tables.outdated");
  twin.tables.emplace(*graph);
  for (const json::value& each : array_at(answer, "rows")) {
    const auto* row = each.if_array();
    if (row == nullptr || row->size() != 2 || !(*row)[1].is_string()) continue;
    const NodeIndex node = twin.fabric->find_node(guid_of((*row)[0]));
    if (node == no_node || graph->find(node) == routing::no_switch) continue;
    const json::string& text = (*row)[1].get_string();
    const auto to = twin.tables->row(graph->find(node));
    for (std::size_t i = 0; i < std::min(to.size(), text.size() / 2); ++i)
      to[i] = static_cast<std::uint8_t>(hex_digit(text[2 * i]) << 4U | hex_digit(text[2 * i + 1]));
  }
  return {};
}

Result<twin::Source> running_twin(const Context& context) {
  const auto answer = Client{context.socket}.get("/v1/twin");
  if (!answer) return fail(answer.error());
  auto fabric = read_fabric_text(text_at(*answer, "fabric"), "the running fabric", context);
  if (!fabric) return fail(fabric.error());
  twin::Source twin;
  twin.fabric = *std::move(fabric);
  take_down(*answer, twin);
  take_order(*answer, twin);
  take_loads(*answer, twin);
  take_watts(*answer, twin);
  if (const auto taken = take_regulation(*answer, twin); !taken) return fail(taken.error());
  if (const auto taken = take_tables(*answer, twin); !taken) return fail(taken.error());
  return twin;
}

}  // namespace

Result<twin::Source> obtain_twin(const std::string& source, const Context& context) {
  if (source.empty()) return running_twin(context);
  auto read = obtain_fabric(source, context);
  if (!read) return fail(read.error());
  auto fabric = has_lids(**read) ? read : assign_lids(**read, 0);
  if (!fabric) return fail(fabric.error());
  twin::Source twin;
  twin.fabric = *std::move(fabric);
  twin.active = routing::LinkSet::all(*twin.fabric);
  return twin;
}

}  // namespace heddle::cli
