#include "authority/opensm/plugin_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

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

Kind kind_of(const std::string& word) {
  if (word == "hello") return Kind::Hello;
  if (word == "plan") return Kind::Plan;
  if (word == "routing_done") return Kind::RoutingDone;
  if (word == "multicast_done") return Kind::MulticastDone;
  if (word == "subnet_up") return Kind::SubnetUp;
  if (word == "heavy_sweep_start") return Kind::HeavySweepStart;
  if (word == "heavy_sweep_done") return Kind::HeavySweepDone;
  if (word == "sm_state") return Kind::SmState;
  return Kind::Other;
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
  return event;
}

}  // namespace heddle::opensm
