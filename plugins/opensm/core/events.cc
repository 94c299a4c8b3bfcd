#include "core/events.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/printable.h"

namespace heddle::plugin {
namespace {

namespace json = boost::json;

json::string_view view(std::string_view text) { return {text.data(), text.size()}; }

std::string line(const json::object& object) { return json::serialize(object) + '\n'; }

json::object confirmation(const Confirmation& done) {
  json::array stages;
  for (const std::uint32_t stage : done.stages) stages.push_back(stage);
  json::object said{
      {"epoch", done.epoch},
      {"kind", done.reroute ? "reroute" : "heavy_sweep"},
      {"confirmed", done.confirmed()},
      {"switches_behind", done.switches_behind},
      {"unconnected", done.unconnected},
      {"relaxed", done.relaxed},
      {"errors", done.errors},
      {"stages", std::move(stages)},
      {"multicast_groups", done.groups},
      {"lft_blocks", done.blocks},
      {"packet_life_us", std::chrono::ceil<std::chrono::microseconds>(done.packet_life).count()}};
  if (done.staying.empty()) return said;
  constexpr std::size_t most = 4096;  // of a line's 64 KB, which is what the daemon takes
  json::array& staying = said["staying"].emplace_array();
  for (std::size_t i = 0; i < std::min(done.staying.size(), most); ++i)
    staying.push_back(done.staying[i].raw());
  return said;
}

}  // namespace

std::string hello_line(const Hello& hello, const Confirmation& last) {
  return line({{"event", "hello"},
               {"protocol", protocol},
               {"opensm", printable(hello.opensm)},
               {"plan", printable(hello.plan)},
               {"state", printable(hello.state)},
               {"dropped", hello.dropped},
               {"window", hello.window},
               {"last", confirmation(last)}});
}

std::string routing_line(const Confirmation& done) {
  json::object object = confirmation(done);
  object["event"] = "routing_done";
  return line(object);
}

std::string multicast_line(std::uint64_t epoch, bool errors) {
  return line({{"event", "multicast_done"}, {"epoch", epoch}, {"errors", errors}});
}

std::string subnet_up_line(bool errors, std::uint64_t epoch) {
  return line({{"event", "subnet_up"}, {"errors", errors}, {"epoch", epoch}});
}

std::string plain_line(std::string_view event) { return line({{"event", view(event)}}); }

std::string state_line(std::string_view state) {
  return line({{"event", "sm_state"}, {"state", printable(state)}});
}

std::string trap_line(unsigned type, unsigned number, unsigned issuer_lid) {
  return line({{"event", "trap"}, {"type", type}, {"number", number}, {"lid", issuer_lid}});
}

std::string plan_line(std::uint64_t epoch, bool taken, std::string_view message) {
  return line({{"event", "plan"}, {"epoch", epoch}, {"taken", taken}, {"message", printable(message)}});
}

std::string timings_line(const Timings& timings) {
  json::object callbacks;
  for (unsigned i = 0; i < callback_count; ++i) {
    const auto callback = static_cast<Callback>(i);
    const Timings::Figures& figures = timings.of(callback);
    callbacks[view(to_string(callback))] = json::object{{"calls", figures.calls.load()},
                                                        {"total_ns", figures.total_ns.load()},
                                                        {"longest_ns", figures.longest_ns.load()}};
  }
  return line({{"event", "timings"}, {"callbacks", std::move(callbacks)}});
}

Command parse_command(std::string_view text) {
  json::error_code code;
  const json::value value = json::parse(view(text), code);
  const json::object* object = code ? nullptr : value.if_object();
  const json::value* command = object != nullptr ? object->if_contains("command") : nullptr;
  const json::string* word = command != nullptr ? command->if_string() : nullptr;
  if (word == nullptr) return Command::None;
  if (*word == "new_plan") return Command::NewPlan;
  if (*word == "heavy_sweep") return Command::HeavySweep;
  if (*word == "status") return Command::Status;
  return Command::None;
}

}  // namespace heddle::plugin
