// heddle sim: serve a simulated fabric to programs that use libibumad, and make things happen on it.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <ostream>
#include <vector>

#include "heddle/command.h"
#include "heddle/sim_packet_commands.h"
#include "heddle/sim_serve.h"
#include "simserve/command_socket.h"

namespace heddle::cli {
namespace {

namespace json = boost::json;

/// What the options fill in; -1 and empty mean not given.
struct Arguments {
  std::string name = "sim";
  std::string node;
  unsigned port = 0;
  std::string action;
  std::string counter;
  std::string from;
  std::string to;
  std::string phase;
  std::string redirect_to;
  double count = 1;
  double down = 1;
  double up = 1;
  double times = 1;
  double delay = 0;
  double lost = 0;
  double duplicated = 0;
  double corrupted = 0;
  double delayed = 0;
  double slow = 0;
  double uncorrectable = 0;
  double share = 1;
  double rate = INFINITY;
  unsigned sl = 0;
  std::int64_t id = -1;
  double set_xmit_data = -1;
  double set_rcv_data = -1;
  bool mute_sma = false;
  bool mute_pma = false;
  bool wrong_tid = false;
  bool wrong_attribute = false;
  bool narrow_counters = false;
  bool no_xmit_wait = false;
  bool stuck_counters = false;
  std::string width;
  std::string speed;
  SimServeOptions serve;
};

using Shared = std::shared_ptr<Arguments>;

void print_flat(const json::object& result, Context& context) {
  for (const auto& [key, value] : result) {
    *context.out << std::string_view{key.data(), key.size()} << ": ";
    if (const auto* text = value.if_string()) {
      *context.out << std::string_view{text->data(), text->size()};
    } else {
      *context.out << json::serialize(value);
    }
    *context.out << '\n';
  }
}

/// Asks the server of the name and prints what it says.
Result<void> tell(const json::object& request, const Shared& arguments, Context& context) {
  const auto result = simserve::command(arguments->name, request);
  if (!result) return fail(result.error());
  if (context.format == Format::Json) {
    print_json(*result, context);
  } else {
    print_flat(*result, context);
  }
  return {};
}

void add_serve(CLI::App& sim, const Shared& arguments, Context& context) {
  SimServeOptions& options = arguments->serve;
  auto* serve = sim.add_subcommand("serve", "Simulate a fabric and serve it to libibumad programs");
  serve->footer("Programs attach with `IBSIM_SOCKNAME=NAME SIM_HOST=NODE ibsim-run PROGRAM`.");
  serve->add_option("fabric", options.source, "Topology file, or a generator as in torus:8x8,hosts=4")
      ->required();
  serve->add_option("--scenario", options.scenario, "Traffic: a scenario file, or demo");
  serve
      ->add_option(
          "--plane", options.plane,
          "flow: rates, on any fabric. packet: every packet, for small fabrics and small time scales")
      ->transform(CLI::CheckedTransformer(std::map<std::string, sim::PlaneKind>{
          {"flow", sim::PlaneKind::Flow}, {"packet", sim::PlaneKind::Packet}}));
  serve->add_option("--time-scale", options.time_scale, "Simulated seconds per second")
      ->check(CLI::Range(1e-6, 1e6));
  serve->add_option("--udp", options.udp_port, "Serve on UDP as well, from this port of loopback upwards");
  serve->add_option("--training-delay", options.training_delay, "Seconds that a link trains")
      ->check(CLI::Range(0.0, 3600.0));
  serve
      ->add_option("--longest-training", options.longest_training,
                   "Each link trains for a time of its own, from --training-delay to so many seconds")
      ->check(CLI::Range(0.0, 3600.0));
  serve->add_option("--seed", options.seed, "Of everything random");
  serve->add_option("--data-vls", options.data_vls, "Data VLs of every port: 1, 2, 4, 8 or 15")
      ->check(CLI::IsMember({1, 2, 4, 8, 15}));
  serve->add_flag("--optimized-sl2vl", options.optimized_sl2vl,
                  "Switches offer to set the SL2VL tables of all their ports at once");
  serve->add_flag(
      "--configured", options.configured,
      "With LIDs, min-hop tables and Active links from the start, as if a subnet manager had run");
  serve
      ->add_option("--kernel", options.kernel,
                   "Hosts that appear as InfiniBand adapters of this Linux (needs the module heddle_vhca)")
      ->delimiter(',');
  Program::on(*serve, [arguments, &context] {
    arguments->serve.name = arguments->name;
    return sim_serve(arguments->serve, context);
  });
}

void add_link(CLI::App& sim, const Shared& a, Context& context) {
  auto* link = sim.add_subcommand("link", "Cut a cable, mend it, let it flap, or limit what it carries");
  link->add_option("node", a->node, "Description or GUID")->required();
  link->add_option("port", a->port)->required();
  link->add_option("action", a->action, "down, up, flap, training (sets --delay), or limit")->required();
  link->add_option("--down", a->down, "flap: seconds down");
  link->add_option("--up", a->up, "flap: seconds up");
  link->add_option("--times", a->times, "flap: how often");
  link->add_option("--delay", a->delay, "training: seconds");
  link->add_option("--width", a->width,
                   "limit: the most that the cable carries, as 1x; without, as the ports can");
  link->add_option("--speed", a->speed, "limit: likewise, as QDR");
  Program::on(*link, [a, &context] {
    json::object request{{"command", "link"}, {"node", a->node}, {"port", a->port},   {"action", a->action},
                         {"down", a->down},   {"up", a->up},     {"times", a->times}, {"delay", a->delay}};
    if (!a->width.empty()) request["width"] = a->width;
    if (!a->speed.empty()) request["speed"] = a->speed;
    return tell(request, a, context);
  });
}

void add_node(CLI::App& sim, const Shared& a, Context& context) {
  auto* node = sim.add_subcommand("node", "Switch a node off or on");
  node->add_option("node", a->node, "Description or GUID")->required();
  node->add_option("action", a->action, "kill or revive")->required();
  Program::on(*node, [a, &context] {
    return tell({{"command", "node"}, {"node", a->node}, {"action", a->action}}, a, context);
  });
}

void add_bit_errors(CLI::App& fault, const Shared& a, Context& context) {
  auto* bits =
      fault.add_subcommand("bits", "Bits go wrong on the way to a port; without options, no more of them");
  bits->add_option("node", a->node, "Description or GUID")->required();
  bits->add_option("port", a->port)->required();
  bits->add_option("--corrected", a->corrupted, "Symbols a second that FEC corrects");
  bits->add_option("--uncorrectable", a->uncorrectable, "Code words a second that it cannot");
  Program::on(*bits, [a, &context] {
    return tell({{"command", "bit_errors"},
                 {"node", a->node},
                 {"port", a->port},
                 {"corrected", a->corrupted},
                 {"uncorrectable", a->uncorrectable}},
                a, context);
  });
}

void add_receiver(CLI::App& fault, const Shared& a, Context& context) {
  auto* receiver = fault.add_subcommand(
      "receiver", "A port takes less than its link brings (flow level); without an option, all of it again");
  receiver->add_option("node", a->node, "Description or GUID")->required();
  receiver->add_option("port", a->port)->required();
  receiver->add_option("--share", a->share, "Of what its link brings, 0 to 1");
  Program::on(*receiver, [a, &context] {
    return tell({{"command", "receiver"}, {"node", a->node}, {"port", a->port}, {"share", a->share}}, a,
                context);
  });
}

void add_fault(CLI::App& sim, const Shared& a, Context& context) {
  auto* fault = sim.add_subcommand("fault", "Lose MADs, break agents, add errors");
  fault->require_subcommand(1);

  auto* mads = fault->add_subcommand("mads", "What happens to all MADs; without options, nothing any more");
  mads->add_option("--lost", a->lost, "Share, 0 to 1");
  mads->add_option("--duplicated", a->duplicated, "Share, 0 to 1");
  mads->add_option("--corrupted", a->corrupted, "Share, 0 to 1: one byte changed");
  mads->add_option("--delayed", a->delayed, "Share, 0 to 1");
  mads->add_option("--delay", a->delay, "Seconds");
  Program::on(*mads, [a, &context] {
    return tell({{"command", "faults"},
                 {"lost", a->lost},
                 {"duplicated", a->duplicated},
                 {"corrupted", a->corrupted},
                 {"delayed", a->delayed},
                 {"delay", a->delay}},
                a, context);
  });

  auto* agent =
      fault->add_subcommand("agent", "What is wrong with a node's agents; without options, nothing");
  agent->add_option("node", a->node, "Description or GUID")->required();
  agent->add_flag("--mute-sma", a->mute_sma, "The subnet management agent does not answer");
  agent->add_flag("--mute-pma", a->mute_pma, "The performance management agent does not answer");
  agent->add_flag("--wrong-tid", a->wrong_tid);
  agent->add_flag("--wrong-attribute", a->wrong_attribute);
  agent->add_flag("--narrow-counters", a->narrow_counters, "No PortCountersExtended");
  agent->add_flag("--no-xmit-wait", a->no_xmit_wait);
  agent->add_flag("--stuck-counters", a->stuck_counters, "Its counters show 0 and never move");
  agent->add_option("--slow", a->slow, "Seconds added to each answer");
  agent->add_option("--redirect-to", a->redirect_to, "The PMA points to this node");
  Program::on(*agent, [a, &context] {
    json::object request{{"command", "agent"},
                         {"node", a->node},
                         {"mute_sma", a->mute_sma},
                         {"mute_pma", a->mute_pma},
                         {"wrong_tid", a->wrong_tid},
                         {"wrong_attribute", a->wrong_attribute},
                         {"narrow_counters", a->narrow_counters},
                         {"no_xmit_wait", a->no_xmit_wait},
                         {"stuck_counters", a->stuck_counters},
                         {"slow", a->slow}};
    if (!a->redirect_to.empty()) request["redirect_to"] = a->redirect_to;
    return tell(request, a, context);
  });

  add_bit_errors(*fault, a, context);
  add_receiver(*fault, a, context);
  auto* errors = fault->add_subcommand("errors", "Add to an error counter of a port");
  errors->add_option("node", a->node, "Description or GUID")->required();
  errors->add_option("port", a->port)->required();
  errors->add_option("counter", a->counter, "symbol, link_recovers, rcv_errors, ...")->required();
  errors->add_option("count", a->count);
  Program::on(*errors, [a, &context] {
    return tell({{"command", "errors"},
                 {"node", a->node},
                 {"port", a->port},
                 {"counter", a->counter},
                 {"count", a->count}},
                a, context);
  });
}

void add_traffic(CLI::App& sim, const Shared& a, Context& context) {
  auto* traffic = sim.add_subcommand("traffic", "Add and remove traffic");
  traffic->require_subcommand(1);

  auto* add = traffic->add_subcommand("add", "One flow between two hosts");
  add->add_option("from", a->from, "Description or GUID")->required();
  add->add_option("to", a->to, "Description or GUID")->required();
  add->add_option("--rate", a->rate, "Bits per second; as much as there is if left out");
  add->add_option("--sl", a->sl)->check(CLI::Range(0, 15));
  Program::on(*add, [a, &context] {
    json::object request{
        {"command", "traffic"}, {"action", "add"}, {"from", a->from}, {"to", a->to}, {"sl", a->sl}};
    if (std::isfinite(a->rate)) request["rate"] = a->rate;
    return tell(request, a, context);
  });

  auto* remove = traffic->add_subcommand("remove", "Take a flow away");
  remove->add_option("flow", a->id, "The number that `add` printed")->required();
  Program::on(*remove, [a, &context] {
    return tell({{"command", "traffic"}, {"action", "remove"}, {"flow", a->id}}, a, context);
  });

  auto* start = traffic->add_subcommand("start", "A phase as in scenario files");
  start->add_option("phase", a->phase, "TOML, as in 'pattern = \"uniform\"; load = 0.5' with lines for ;")
      ->required();
  Program::on(*start, [a, &context] {
    return tell({{"command", "traffic"}, {"action", "start"}, {"phase", a->phase}}, a, context);
  });

  auto* stop = traffic->add_subcommand("stop", "End a phase");
  stop->add_option("phase", a->id, "The number that `start` printed")->required();
  Program::on(*stop, [a, &context] {
    return tell({{"command", "traffic"}, {"action", "stop"}, {"phase", a->id}}, a, context);
  });

  auto* list = traffic->add_subcommand("list", "Flows and phases");
  Program::on(*list, [a, &context] {
    return tell({{"command", "traffic"}, {"action", "list"}}, a, context);
  });
}

void add_counters(CLI::App& sim, const Shared& a, Context& context) {
  auto* counters = sim.add_subcommand("counters", "Counters of a port, read or set");
  counters->add_option("node", a->node, "Description or GUID")->required();
  counters->add_option("port", a->port)->required();
  counters->add_option("--set-xmit-data", a->set_xmit_data, "To this many units of 4 bytes");
  counters->add_option("--set-rcv-data", a->set_rcv_data, "To this many units of 4 bytes");
  Program::on(*counters, [a, &context] {
    json::object request{{"command", "counters"}, {"node", a->node}, {"port", a->port}};
    if (a->set_xmit_data >= 0) request["set_xmit_data"] = a->set_xmit_data;
    if (a->set_rcv_data >= 0) request["set_rcv_data"] = a->set_rcv_data;
    return tell(request, a, context);
  });
}

}  // namespace

void add_sim_commands(Program& program) {
  Context& context = program.context();
  const auto arguments = std::make_shared<Arguments>();
  auto* sim = program.app().add_subcommand(
      "sim", "Simulated fabrics for libibumad programs and for scripts, and experiments packet by packet");
  sim->require_subcommand(1);
  sim->add_option("--name", arguments->name, "Name of the simulator, as in IBSIM_SOCKNAME")
      ->capture_default_str();
  add_serve(*sim, arguments, context);
  add_link(*sim, arguments, context);
  add_node(*sim, arguments, context);
  add_fault(*sim, arguments, context);
  add_traffic(*sim, arguments, context);
  add_counters(*sim, arguments, context);
  auto* status = sim->add_subcommand("status", "Time and MADs of a served fabric");
  Program::on(*status, [arguments, &context] { return tell({{"command", "status"}}, arguments, context); });
  add_sim_packet_commands(*sim, program);
}

}  // namespace heddle::cli
