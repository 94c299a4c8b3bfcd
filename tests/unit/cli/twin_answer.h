/// What heddled answers of its twin (GET /v1/twin), for a FakeDaemon.
#pragma once

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <string>
#include <utility>
#include <vector>

#include "fabric/ibnetdiscover.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"
#include "unit/cli/fake_daemon.h"

namespace heddle::cli {

/// Tables as they were read back 200 s ago. `load`: bit/s that leave each port, by PortIndex. `unread`: GUIDs
/// of switches.
inline FakeDaemon::Answer twin_answer(const Fabric& fabric, const routing::SwitchGraph& graph,
                                      const routing::ForwardingTables& tables,
                                      const std::vector<double>& load, boost::json::array unread = {},
                                      bool outdated = false) {
  namespace json = boost::json;
  json::array ports;
  json::array rows;
  for (const Link& link : fabric.links()) {
    for (const LinkEnd& end : {link.a, link.b}) {
      ports.push_back(json::array{to_string(fabric.node(end.node).guid), end.port.raw(),
                                  load[fabric.port_index(end).raw()] / 8});
    }
  }
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    std::string row;
    for (const std::uint8_t port : tables.row(routing::SwitchIndex{s})) row += fmt::format("{:02x}", port);
    rows.push_back(json::array{to_string(graph.guid(routing::SwitchIndex{s})), row});
  }
  return {json::serialize(json::object{
      {"fabric", write_ibnetdiscover(fabric)},
      {"down", json::array{}},
      {"order", nullptr},
      {"plane", 0},
      {"next_plane", 0},
      {"watts", nullptr},
      {"loads", json::object{{"age_seconds", 1.5}, {"ports", std::move(ports)}}},
      {"tables",
       json::object{
           {"age_seconds", 200}, {"took_seconds", 1}, {"unread", std::move(unread)}, {"outdated", outdated}}},
      {"rows", std::move(rows)}})};
}

}  // namespace heddle::cli
