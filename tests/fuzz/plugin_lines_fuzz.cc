// Lines between the daemon and OpenSM's plugin, both ways, and the plugin's options. What the daemon read is
// written and read as the same again; what the plugin writes, of any values and any text, is one line that
// the daemon understands.

#include <algorithm>

#include "authority/opensm/plugin_event.h"
#include "core/events.h"
#include "core/options.h"
#include "fuzz/fuzz_target.h"

namespace {

using namespace heddle;
using opensm::PluginEvent;
using Kind = PluginEvent::Kind;

constexpr std::size_t longest_line = std::size_t{64} << 10U;
constexpr std::size_t most_staying = 4096;

PluginEvent heard(const std::string& line) {
  fuzz::require(line.ends_with('\n') && line.find('\n') + 1 == line.size(), "what is said is one line");
  fuzz::require(line.size() <= longest_line, "a line is as short as the daemon takes it");
  const auto event = opensm::parse_plugin_event(line);
  fuzz::require(event.has_value(), "the daemon understands what the plugin says");
  return *event;
}

/// A routing with the values of what was read.
plugin::Confirmation confirmation_of(const PluginEvent& event) {
  plugin::Confirmation done{event.epoch,   event.reroute, event.switches_behind, event.unconnected,
                            event.relaxed, event.errors,  event.stages,          event.groups,
                            event.blocks,  event.staying, event.packet_life};
  // More of them than a line may have.
  if (!done.staying.empty() && event.unconnected > 0) done.staying.resize(2 * most_staying, Lid{49151});
  done.stages.resize(std::min<std::size_t>(done.stages.size(), 64));
  return done;
}

void same_routing(const plugin::Confirmation& done, const PluginEvent& event) {
  fuzz::require(event.epoch == done.epoch && event.reroute == done.reroute &&
                    event.switches_behind == done.switches_behind && event.unconnected == done.unconnected &&
                    event.relaxed == done.relaxed && event.errors == done.errors &&
                    event.stages == done.stages && event.groups == done.groups &&
                    event.blocks == done.blocks && event.packet_life == done.packet_life,
                "a routing is heard as it is said");
  auto staying = done.staying;
  staying.resize(std::min(staying.size(), most_staying));
  fuzz::require(event.staying == staying, "who keeps routes is heard");
}

void say_of(const PluginEvent& event) {
  const plugin::Confirmation done = confirmation_of(event);
  const PluginEvent routing = heard(plugin::routing_line(done));
  fuzz::require(routing.kind == Kind::RoutingDone, "a routing is one");
  same_routing(done, routing);
  const PluginEvent hello = heard(plugin::hello_line({"3.3", "", event.state, 0, event.window}, done));
  fuzz::require(hello.kind == Kind::Hello && hello.window == event.window && hello.staying == routing.staying,
                "a greeting is heard as it is said");
  const PluginEvent trees = heard(plugin::multicast_line(event.epoch, event.errors));
  fuzz::require(
      trees.kind == Kind::MulticastDone && trees.epoch == event.epoch && trees.errors == event.errors,
      "trees are heard as they are said");
  const PluginEvent up = heard(plugin::subnet_up_line(event.errors, event.epoch));
  fuzz::require(up.kind == Kind::SubnetUp && up.epoch == event.epoch && up.errors == event.errors,
                "a subnet that is up is heard as it is said");
  (void)heard(plugin::trap_line(event.errors ? 1 : 0, static_cast<unsigned>(event.blocks), 1));
}

/// Of paths and reasons, which hold what operators and other programs write.
void say(std::string_view text) {
  const std::string word{text};
  fuzz::require(heard(plugin::hello_line({word, word, "master", 1, true}, {})).state == "master",
                "a greeting says the state");
  fuzz::require(heard(plugin::state_line(text)).kind == Kind::SmState, "a state is one");
  const PluginEvent plan = heard(plugin::plan_line(text.size(), true, text));
  fuzz::require(plan.kind == Kind::Plan && plan.taken && plan.epoch == text.size(), "a plan's news are one");
  fuzz::require(heard(plugin::plain_line("heavy_sweep_start")).kind == Kind::HeavySweepStart &&
                    heard(plugin::plain_line("heavy_sweep_done")).kind == Kind::HeavySweepDone,
                "a heavy sweep is one");
  plugin::Timings timings;
  timings.add(plugin::Callback::Report, std::chrono::nanoseconds{text.size()});
  fuzz::require(heard(plugin::timings_line(timings)).kind == Kind::Other, "timings are nothing to act on");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text(data, size);
  const auto event = opensm::parse_plugin_event(text);
  if (event) {
    const std::string line = opensm::to_line(*event);
    const auto again = opensm::parse_plugin_event(line);
    fuzz::require(again.has_value() && opensm::to_line(*again) == line, "an event is written as read");
    say_of(*event);
  } else {
    fuzz::require(!event.error().message.empty(), "a refusal says why");
  }
  if (size <= 1000) say(text);
  (void)plugin::parse_command(text);
  const auto options = plugin::parse_options(text);
  fuzz::require(options.has_value() || !options.error().message.empty(), "a refusal says why");
  return 0;
}
