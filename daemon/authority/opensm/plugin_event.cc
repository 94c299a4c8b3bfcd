#include "authority/opensm/plugin_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "base/printable.h"

namespace heddle::opensm {
namespace {

namespace json = boost::json;
using Kind = PluginEvent::Kind;

constexpr std::uint64_t protocol = 1;

std::uint64_t number(const json::object& object, const char* key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr) return 0;
  if (value->is_uint64()) return value->get_uint64();
  return value->is_int64() && value->get_int64() > 0 ? static_cast<std::uint64_t>(value->get_int64()) : 0;
}

bool flag(const json::object& object, const char* key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

std::string text(const json::object& object, const char* key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

constexpr std::array<std::pair<std::string_view, Kind>, 8> kinds{
    {{"hello", Kind::Hello},
     {"plan", Kind::Plan},
     {"routing_done", Kind::RoutingDone},
     {"multicast_done", Kind::MulticastDone},
     {"subnet_up", Kind::SubnetUp},
     {"heavy_sweep_start", Kind::HeavySweepStart},
     {"heavy_sweep_done", Kind::HeavySweepDone},
     {"sm_state", Kind::SmState}}};

Kind kind_of(std::string_view word) {
  for (const auto& [name, kind] : kinds) {
    if (word == name) return kind;
  }
  return Kind::Other;
}

std::string_view word_of(Kind kind) {
  for (const auto& [name, each] : kinds) {
    if (kind == each) return name;
  }
  return "other";
}

json::string_view view(std::string_view word) { return {word.data(), word.size()}; }

std::vector<Lid> lids_that_stay(const json::object& routing) {
  std::vector<Lid> lids;
  const json::value* staying = routing.if_contains("staying");
  if (staying == nullptr || !staying->is_array()) return lids;
  for (const json::value& lid : staying->get_array()) {
    if (lid.is_int64() && lid.get_int64() > 0 && lid.get_int64() <= last_unicast_lid.raw())
      lids.emplace_back(static_cast<std::uint16_t>(lid.get_int64()));
  }
  return lids;
}

}  // namespace

Result<PluginEvent> parse_plugin_event(std::string_view line) {
  json::error_code code;
  const json::value value = json::parse(json::string_view{line.data(), line.size()}, code);
  const json::object* object = code ? nullptr : value.if_object();
  if (object == nullptr || text(*object, "event").empty()) {
    return fail(ErrorCode::Invalid,
                fmt::format("OpenSM's plugin said {}, which is no event", in_quotes(line)));
  }
  PluginEvent event;
  event.kind = kind_of(text(*object, "event"));
  if (event.kind == Kind::Hello && number(*object, "protocol") != protocol) {
    return fail(
        ErrorCode::Unsupported,
        fmt::format("OpenSM's plugin speaks protocol {}, and this daemon {}; install both from one build",
                    number(*object, "protocol"), protocol));
  }
  event.epoch = number(*object, "epoch");
  event.reroute = text(*object, "kind") == "reroute";
  event.switches_behind = number(*object, "switches_behind");
  event.unconnected = number(*object, "unconnected");
  event.relaxed = flag(*object, "relaxed");
  event.errors = flag(*object, "errors");
  event.groups = number(*object, "multicast_groups");
  event.blocks = number(*object, "lft_blocks");
  constexpr std::uint64_t longest_us = 60'000'000;
  event.packet_life = std::chrono::microseconds{std::min(number(*object, "packet_life_us"), longest_us)};
  event.window = flag(*object, "window");
  event.state = text(*object, "state");
  event.message = text(*object, "message");
  event.taken = flag(*object, "taken");
  const json::value* stages = object->if_contains("stages");
  if (stages != nullptr && stages->is_array()) {
    for (const json::value& stage : stages->get_array()) {
      event.stages.push_back(stage.is_int64() ? static_cast<std::uint32_t>(stage.get_int64()) : 0);
    }
  }
  const json::value* last = object->if_contains("last");  // the routing before a greeting
  event.staying = lids_that_stay(last != nullptr && last->is_object() ? last->get_object() : *object);
  return event;
}

std::string to_line(const PluginEvent& event) {
  json::array stages;
  for (const std::uint32_t stage : event.stages) stages.push_back(stage);
  json::array staying;
  for (const Lid lid : event.staying) staying.push_back(lid.raw());
  return json::serialize(json::object{{"event", view(word_of(event.kind))},
                                      {"protocol", protocol},
                                      {"epoch", event.epoch},
                                      {"kind", event.reroute ? "reroute" : "heavy_sweep"},
                                      {"switches_behind", event.switches_behind},
                                      {"unconnected", event.unconnected},
                                      {"relaxed", event.relaxed},
                                      {"errors", event.errors},
                                      {"stages", std::move(stages)},
                                      {"multicast_groups", event.groups},
                                      {"lft_blocks", event.blocks},
                                      {"staying", std::move(staying)},
                                      {"packet_life_us", event.packet_life.count()},
                                      {"window", event.window},
                                      {"state", event.state},
                                      {"message", event.message},
                                      {"taken", event.taken}});
}

}  // namespace heddle::opensm
