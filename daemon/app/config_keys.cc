#include <algorithm>
#include <iterator>
#include <limits>

#include "app/config_values.h"

namespace heddle::app {

namespace {

std::vector<Key> first_keys() {
  return {
      {"fabric.backend", "\"umad\": the fabric behind a port of this host. \"sim\": a simulated one.",
       "\"umad\"",
       choice_key<BackendKind>([](Config& c) -> BackendKind& { return c.fabric.backend; },
                               std::array{Choice<BackendKind>{"umad", BackendKind::Umad},
                                          Choice<BackendKind>{"sim", BackendKind::Sim}})},
      {"fabric.device",
       "umad: the port to use, as \"mlx5_0:1\" or a port GUID; empty for the first active one.\n"
       "Several, separated by commas, are tried in turn.",
       "\"\"", string_key([](Config& c) -> std::string& { return c.fabric.device; })},
      {"fabric.read_only", "Send nothing but Get, so that nothing in the fabric can change.", "false",
       [](Config& config, const Value& value) -> std::optional<std::string> {
         const auto* yes = std::get_if<bool>(&value);
         if (yes == nullptr) return "true or false";
         config.fabric.read_only = *yes;
         return std::nullopt;
       }},
      {"fabric.m_key", "The M_Key that the ports of the fabric want, as \"0x0123456789abcdef\".", "\"0x0\"",
       hexadecimal_key([](Config& c) -> std::uint64_t& { return c.fabric.m_key; })},
      {"fabric.file",
       "sim: output of ibnetdiscover, or an ibsim net file, to simulate (docs/fabrics.md has the others).",
       "\"\"", string_key([](Config& c) -> std::string& { return c.fabric.file; })},
      {"fabric.partial",
       "sim: go on with the rest of a file that loses nodes or cables because it contradicts itself.",
       "false",
       [](Config& config, const Value& value) -> std::optional<std::string> {
         const auto* yes = std::get_if<bool>(&value);
         if (yes == nullptr) return "true or false";
         config.fabric.partial = *yes;
         return std::nullopt;
       }},
      {"fabric.generate",
       "sim: a fabric to generate when there is no file, as \"tree:k=18,n=3\" or \"torus:8x8,hosts=4\"\n"
       "(heddle fabric generate --help lists them all).",
       "\"\"", string_key([](Config& c) -> std::string& { return c.fabric.generate; })},
      {"fabric.scenario", "sim: traffic over time, a TOML file (docs/scenarios.md); or \"demo\".", "\"\"",
       string_key([](Config& c) -> std::string& { return c.fabric.scenario; })},
      {"fabric.plane",
       "sim: \"flow\": traffic as rates, on any fabric. \"packet\": every packet, on small fabrics and with "
       "a\n"
       "small time_scale (docs/packet-simulator.md).",
       "\"flow\"",
       choice_key<sim::PlaneKind>([](Config& c) -> sim::PlaneKind& { return c.fabric.plane; },
                                  std::array{Choice<sim::PlaneKind>{"flow", sim::PlaneKind::Flow},
                                             Choice<sim::PlaneKind>{"packet", sim::PlaneKind::Packet}})},
      {"fabric.time_scale", "sim: simulated seconds per real second.", "1.0",
       [](Config& config, const Value& value) -> std::optional<std::string> {
         double scale = 0;
         if (const auto* real = std::get_if<double>(&value)) scale = *real;
         if (const auto* whole = std::get_if<std::int64_t>(&value)) scale = static_cast<double>(*whole);
         if (!(scale >= 1e-3 && scale <= 1e5)) return "a number from 0.001 to 100000";
         config.fabric.time_scale = scale;
         return std::nullopt;
       }},
      {"fabric.training_delay",
       "sim: how long a link trains before it is up, in simulated time; not when the fabric is switched on.",
       "\"4500ms\"", duration_key([](Config& c) -> Config::Seconds& { return c.fabric.training_delay; })},
      {"fabric.longest_training",
       "sim: above training_delay: each link trains for a time of its own between the two, as \"180s\".",
       "\"1ms\"", duration_key([](Config& c) -> Config::Seconds& { return c.fabric.longest_training; })},
      {"fabric.seed", "sim: the seed of everything that is random.", "1",
       count_key([](Config& c) -> std::uint64_t& { return c.fabric.seed; }, 0,
                 std::numeric_limits<std::int64_t>::max())},
      {"fabric.serve",
       "sim: a name under which other programs find the simulated fabric, for `IBSIM_SOCKNAME=NAME ibsim-run "
       "...`\nand `heddle sim ... --name NAME`; empty for none.",
       "\"\"", string_key([](Config& c) -> std::string& { return c.fabric.serve; })},
      {"fabric.node_names", "A node name map, as OpenSM's: names for GUIDs.", "\"\"",
       string_key([](Config& c) -> std::string& { return c.fabric.node_names; })},
      {"sm.mode",
       "\"auto\": be the subnet manager of a fabric that has none; where a port says that another one is\n"
       "there, silent or not, only watch until the next start or 'heddle sm take'; where that one was only\n"
       "starting, as this one, look again after seconds. \"off\": never. Empty:\n"
       "\"off\" where fabric.backend is \"umad\", \"auto\" where it is \"sim\".",
       "\"\"",
       choice_key<SmMode>([](Config& c) -> SmMode& { return c.sm.mode; },
                          std::array{Choice<SmMode>{"auto", SmMode::Auto}, Choice<SmMode>{"off", SmMode::Off},
                                     Choice<SmMode>{"", SmMode::ByBackend}})},
      {"sm.sm_key",
       "As subnet manager: the SM_Key by which subnet managers of one fabric know each other; OpenSM's "
       "sm_key,\n"
       "which is 1 by default.",
       "\"0x1\"", hexadecimal_key([](Config& c) -> std::uint64_t& { return c.sm.sm_key; })},
      {"sm.lmc", "As subnet manager: every port gets 2^lmc LIDs.", "0",
       count_key([](Config& c) -> std::uint64_t& { return c.sm.lmc; }, 0, 7)},
      {"sm.engine",
       "As subnet manager: \"updn\" (free of deadlock) or \"minhop\" (shortest paths, which can deadlock).",
       "\"updn\"",
       choice_key<RoutingEngine>([](Config& c) -> RoutingEngine& { return c.sm.engine; },
                                 std::array{Choice<RoutingEngine>{"updn", RoutingEngine::UpDown},
                                            Choice<RoutingEngine>{"minhop", RoutingEngine::MinHop}})},
      {"sm.administrator",
       "As subnet manager: answer as subnet administrator too, so that IPoIB and librdmacm find groups and\n"
       "paths.",
       "true", yes_no_key([](Config& c) -> bool& { return c.sm.administrator; })},
      {"sweep.light_interval", "How often the switches are asked whether anything changed.", "\"10s\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.sweep.light_interval; })},
      {"sweep.heavy_interval", "How often the whole fabric is discovered anew.", "\"10min\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.sweep.heavy_interval; })},
      {"sweep.smps_per_second",
       "Beside another subnet manager: how many subnet management packets sweeps send in a second. A round\n"
       "may take longer than light_interval, and a full sweep minutes; 'heddle status' says how long.",
       "1000", count_key([](Config& c) -> std::uint64_t& { return c.sweep.smps_per_second; }, 1, 1'000'000)},
      {"qos.verify_interval", "How often the QoS tables of all ports are compared with what was pushed.",
       "\"10min\"", duration_key([](Config& c) -> Config::Seconds& { return c.qos.verify_interval; })},
      {"sampling.interval", "How often every port's counters are read.", "\"1s\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.sampling.interval; })},
      {"sampling.window", "MADs outstanding in the whole fabric, at most.", "64",
       count_key([](Config& c) -> std::uint64_t& { return c.sampling.window; }, 1, 4096)},
      {"sampling.per_agent", "MADs outstanding at one agent, at most.", "4",
       count_key([](Config& c) -> std::uint64_t& { return c.sampling.per_agent; }, 1, 64)},
      {"sampling.timeout", "How long an answer may take before the MAD is sent again; 10s at most.",
       "\"200ms\"", duration_key([](Config& c) -> Config::Seconds& { return c.sampling.timeout; })},
      {"sampling.retries", "How often a MAD is sent again.", "3",
       count_key([](Config& c) -> std::uint64_t& { return c.sampling.retries; }, 0, 16)},
      {"sampling.history", "Samples that are kept of each link, for the page and for reports.", "120",
       count_key([](Config& c) -> std::uint64_t& { return c.sampling.history; }, 1, 100000)},
      {"metrics.listen", "Address and port of /metrics; empty for none.", "\"127.0.0.1:9683\"",
       string_key([](Config& c) -> std::string& { return c.metrics.listen; })},
      {"metrics.energy",
       "Energy spent and saved of the \"total\" only, of each \"switch\" too, or of each \"link\" as well.",
       "\"link\"",
       choice_key<EnergyDetail>([](Config& c) -> EnergyDetail& { return c.metrics.energy; },
                                std::array{Choice<EnergyDetail>{"total", EnergyDetail::Total},
                                           Choice<EnergyDetail>{"switch", EnergyDetail::Switch},
                                           Choice<EnergyDetail>{"link", EnergyDetail::Link}})},
      {"metrics.families",
       "Which metrics there are: groups (traffic, errors, state, info, load, energy, daemon), names, or "
       "patterns\nsuch as \"heddle_link_*\". None named: all.",
       "[]", list_key([](Config& c) -> std::vector<std::string>& { return c.metrics.selection.families; })},
      {"metrics.ports",
       "Whose ports have series: \"all\", \"switch\" (of switches), \"uplink\" (of switches, that lead to "
       "switches).",
       "\"all\"",
       choice_key<metrics::PortChoice>(
           [](Config& c) -> metrics::PortChoice& { return c.metrics.selection.ports; },
           std::array{Choice<metrics::PortChoice>{"all", metrics::PortChoice::All},
                      Choice<metrics::PortChoice>{"switch", metrics::PortChoice::Switch},
                      Choice<metrics::PortChoice>{"uplink", metrics::PortChoice::Uplink}})},
      {"metrics.skip_zero_errors",
       "Leave out error counters that have not grown. One that does begins with 0, for a minute, and stays.",
       "false", yes_no_key([](Config& c) -> bool& { return c.metrics.selection.skip_zero_errors; })},
      {"metrics.fabric",
       "With it every metric has a label \"fabric\" of this value, for a Prometheus that has several "
       "fabrics.",
       "\"\"", string_key([](Config& c) -> std::string& { return c.metrics.fabric; })},
      {"metrics.tokens_file",
       "Lines of \"NAME SHA256\": with it everything on metrics.listen needs a bearer token with one of "
       "these\n"
       "hashes (printf %s TOKEN | sha256sum). Others than its owner and group must not be able to read it.",
       "\"\"", string_key([](Config& c) -> std::string& { return c.metrics.tokens_file; })},
      {"metrics.tls.cert_file",
       "Certificate, and those that it was issued by: with it metrics.listen speaks TLS only. SIGHUP reads "
       "it "
       "again.",
       "\"\"", string_key([](Config& c) -> std::string& { return c.metrics.tls.cert_file; })},
      {"metrics.tls.key_file", "Its key. Others than its owner and group must not be able to read it.",
       "\"\"", string_key([](Config& c) -> std::string& { return c.metrics.tls.key_file; })},
      {"metrics.tls.client_ca_file", "With it clients need a certificate of one of these authorities.",
       "\"\"", string_key([](Config& c) -> std::string& { return c.metrics.tls.client_ca_file; })},
      {"metrics.tls.min_version", "\"TLS12\" or \"TLS13\".", "\"TLS12\"",
       choice_key<std::string>(
           [](Config& c) -> std::string& { return c.metrics.tls.min_version; },
           std::array{Choice<std::string>{"TLS12", "TLS12"}, Choice<std::string>{"TLS13", "TLS13"}})},
      {"control.socket", "Unix socket for the command line.", "\"/run/heddle/control.sock\"",
       string_key([](Config& c) -> std::string& { return c.control.socket; })},
      {"control.group", "Besides root, members of this group may change things.", "\"heddle\"",
       string_key([](Config& c) -> std::string& { return c.control.group; })},
      {"control.others_may_read", "Whether everybody on this host may ask.", "false",
       yes_no_key([](Config& c) -> bool& { return c.control.others_may_read; })},
      {"control.hosts",
       "Names under which metrics.listen may be asked, besides addresses, localhost and this host's own "
       "name:\n"
       "that of a proxy, or an alias.",
       "[]", list_key([](Config& c) -> std::vector<std::string>& { return c.control.hosts; })},
      {"state.directory", "What must survive a restart.", "\"/var/lib/heddle\"",
       string_key([](Config& c) -> std::string& { return c.state.directory; })},
      {"state.backend",
       "\"sqlite\": in state.directory alone. \"etcd\": what is off and why, the order of the switches, LIDs "
       "and the plan\n"
       "for OpenSM are in etcd as well, for daemons of several hosts of which one at a time owns the fabric\n"
       "(docs/high-availability.md).",
       "\"sqlite\"",
       choice_key<StateBackend>([](Config& c) -> StateBackend& { return c.state.backend; },
                                std::array{Choice<StateBackend>{"sqlite", StateBackend::Sqlite},
                                           Choice<StateBackend>{"etcd", StateBackend::Etcd}})},
      {"state.etcd.endpoints",
       "Of etcd 3.4 or later: [\"https://etcd-1:2379\", ...]. Plain http:// on loopback only.", "[]",
       list_key([](Config& c) -> std::vector<std::string>& { return c.state.etcd.endpoints; })},
      {"state.etcd.prefix", "Of all keys there, without a \"/\" at its end: another one for each fabric.",
       "\"/heddle\"", string_key([](Config& c) -> std::string& { return c.state.etcd.prefix; })},
      {"state.etcd.name", "Of this daemon, unlike all others'. Nothing: this host's.", "\"\"",
       string_key([](Config& c) -> std::string& { return c.state.etcd.name; })},
      {"state.etcd.lease",
       "So long after an owner has died or is cut off another one takes its place; whole seconds, from 2 to "
       "60. Shorter than 5s an owner may lose its place when an etcd dies that led the others.",
       "\"5s\"", duration_key([](Config& c) -> Config::Seconds& { return c.state.etcd.lease; })},
      {"state.etcd.ca",
       "Authorities whose word etcd's certificate counts by (PEM). Nothing: those that this host trusts.",
       "\"\"", string_key([](Config& c) -> std::string& { return c.state.etcd.ca; })},
      {"state.etcd.cert",
       "This daemon's certificate for etcd (PEM), or nothing. Read again for each connection.", "\"\"",
       string_key([](Config& c) -> std::string& { return c.state.etcd.cert; })},
      {"state.etcd.key", "Its key.", "\"\"",
       string_key([](Config& c) -> std::string& { return c.state.etcd.key; })},
      {"regulation.mode",
       "\"advise\": say which links would be turned off, and turn none off. \"enforce\": do it. \"off\": "
       "neither.\n"
       "What `heddle regulate` sets stays set over restarts.",
       "\"advise\"",
       choice_key<regulation::Mode>([](Config& c) -> regulation::Mode& { return c.regulation.governor.mode; },
                                    std::array{Choice<regulation::Mode>{"advise", regulation::Mode::Advise},
                                               Choice<regulation::Mode>{"enforce", regulation::Mode::Enforce},
                                               Choice<regulation::Mode>{"off", regulation::Mode::Off}})},
      {"regulation.policy",
       "\"trunk\": of several links between the same two switches, those that are not needed. \"general\": "
       "any\n"
       "link between switches, as long as all hosts stay connected and no link gets too busy.",
       "\"trunk\"",
       choice_key<regulation::SelectPolicy>(
           [](Config& c) -> regulation::SelectPolicy& { return c.regulation.governor.select.policy; },
           std::array{Choice<regulation::SelectPolicy>{"trunk", regulation::SelectPolicy::Trunk},
                      Choice<regulation::SelectPolicy>{"general", regulation::SelectPolicy::General}})},
      {"regulation.for",
       "What the general policy chooses links for. \"present\": the traffic of the moment, as far as it can "
       "be\n"
       "told. \"any\": whatever hosts could send to one another that send as much as they do; of that "
       "policy\n"
       "only.",
       "\"present\"",
       choice_key<regulation::ChosenFor>(
           [](Config& c) -> regulation::ChosenFor& { return c.regulation.governor.chosen_for; },
           std::array{Choice<regulation::ChosenFor>{"present", regulation::ChosenFor::Present},
                      Choice<regulation::ChosenFor>{"any", regulation::ChosenFor::Any}})},
      {"regulation.u_off", "Links may go while those that stay are less busy than this share.", "0.30",
       ratio_key([](Config& c) -> Ratio& { return c.regulation.governor.select.thresholds.u_off; })},
      {"regulation.u_on", "Links come back when one is busier than this share.", "0.70",
       ratio_key([](Config& c) -> Ratio& { return c.regulation.governor.select.thresholds.u_on; })},
      {"regulation.waiting", "Links come back when one has data waiting for this share of the time.", "0.20",
       ratio_key([](Config& c) -> Ratio& { return c.regulation.governor.waiting; })},
      {"regulation.quiet", "A link goes when it has been below its threshold for so long.", "\"10min\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.regulation.governor.quiet; })},
      {"regulation.least_on", "A link that came back stays on for so long.", "\"10min\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.regulation.governor.least_on; })},
      {"regulation.least_off", "A link that went off stays off for so long, unless load rises.", "\"2min\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.regulation.governor.least_off; })},
      {"regulation.drain",
       "Between the last forwarding table that is written and the first link that goes off.", "\"2s\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.regulation.governor.drain; })},
      {"regulation.packet_life",
       "How long a packet may be under way: as long, no way that one may still take is taken away. Less\n"
       "where switches allow less. By default PacketLifeTime 18, as subnet managers give it.",
       "\"1074ms\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.regulation.governor.packet_life; })},
      {"regulation.wake",
       "What it takes for a link to carry traffic again, until links have shown what it takes.", "\"4500ms\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.regulation.governor.wake; })},
      {"regulation.longest_wake",
       "A link that once took longer to come back is left on from then on; 'heddle link forget' gives it\n"
       "another chance.",
       "\"2min\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.regulation.governor.longest_wake; })},
      {"regulation.break_even",
       "A link goes only if it is expected to stay off for so many times what going and coming back take.",
       "10.0",
       [](Config& config, const Value& value) -> std::
                                                  optional<std::string> {
                                                    const auto number = real(value);
                                                    if (!number || !(*number >= 1) || !(*number <= 1e6))
                                                      return "a number from 1 to 1000000";
                                                    config.regulation.governor.break_even = *number;
                                                    return std::nullopt;
                                                  }},
      {"regulation.queue_looks",
       "How many transmit queues are looked into before links leave: packets that wait keep them. 0: none.",
       "4096", small_key([](Config& c) -> unsigned& { return c.regulation.governor.queue_looks; })},
      {"regulation.first_closing",
       "Links that are taken away at first; twice as many each time that a choice came out as predicted,\n"
       "and as few again after one that did not. 0: no such limit.",
       "16", small_key([](Config& c) -> unsigned& { return c.regulation.governor.first_closing; })},
      {"regulation.most_closing", "Links that are taken away at a time at most; 0 for any number.", "0",
       small_key([](Config& c) -> unsigned& { return c.regulation.governor.most_closing; })},
      {"regulation.most_transitions", "How often a link may go and come in 24 hours; then it is left on.",
       "24", small_key([](Config& c) -> unsigned& { return c.regulation.governor.most_transitions; })},
      {"regulation.chassis",
       "Links inside a director switch: \"keep\" them on, or \"regulate\" them as all others.", "\"keep\"",
       choice_key<regulation::Chassis>(
           [](Config& c) -> regulation::Chassis& { return c.regulation.governor.policy.chassis; },
           std::array{Choice<regulation::Chassis>{"keep", regulation::Chassis::Keep},
                      Choice<regulation::Chassis>{"regulate", regulation::Chassis::Regulate}})},
      {"regulation.pin",
       "Links that stay on in full width and speed, whatever their load: patterns (*, ?, [a-z]) over links, "
       "as\n"
       "\"leaf-0-*/12 -- spine-*\", their ends, as \"leaf-0-3/12\", or switches, as \"spine-*\". See "
       "'heddle links'.",
       "[]", list_key([](Config& c) -> std::vector<std::string>& { return c.regulation.pin; })},
      {"regulation.reduce",
       "Widths and speeds that a link that stays on may be reduced to while it is not busy, as [\"1xSDR\", "
       "\"4xSDR\"].\n"
       "Each change takes the link away for a moment.",
       "[]",
       [](Config& config,
          const Value& value) -> std::
                                  optional<std::string> {
                                    const auto texts = list_of(value);
                                    if (!texts) return "a list of strings";
                                    std::vector<power::LinkMode> modes;
                                    for (const std::string& text : *texts) {
                                      const auto mode = power::mode_from(text);
                                      if (!mode)
                                        return "a list of widths and speeds such as \"4xSDR\" or \"1xHDR\"";
                                      modes.push_back(*mode);
                                    }
                                    config.regulation.governor.select.reductions = std::move(modes);
                                    return std::nullopt;
                                  }},
      {"regulation.on_stop",
       "When the daemon is stopped: \"restore\" brings back what the regulation turned off, \"leave\" leaves "
       "it\n"
       "off until the daemon runs again.",
       "\"restore\"",
       choice_key<OnStop>(
           [](Config& c) -> OnStop& { return c.regulation.on_stop; },
           std::array{Choice<OnStop>{"restore", OnStop::Restore}, Choice<OnStop>{"leave", OnStop::Leave}})},
      {"agents.key_file",
       "A file with the key of the agents that hosts run (heddle-agent, docs/path-migration.md), 64 "
       "hexadecimal "
       "digits, not\n"
       "readable for everybody. With it connections of hosts move between LID planes (sm.lmc, opensm.lmc) "
       "while\n"
       "tables change. Empty: nobody speaks with agents, and tables are written in stages.",
       "\"\"", string_key([](Config& c) -> std::string& { return c.agents.key_file; })},
      {"agents.interval", "How often each agent is asked how its connections stand.", "\"30s\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.agents.interval; })},
      {"agents.patience", "How long agents are waited for that were told to move connections.", "\"10s\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.agents.patience; })},
      {"opensm.plugin",
       "Whether OpenSM manages this fabric with the plugin libheddle-opensm.so (docs/opensm.md): then links "
       "are\n"
       "regulated through it, and this daemon is no subnet manager itself.",
       "false", yes_no_key([](Config& c) -> bool& { return c.opensm.plugin; })},
      {"opensm.socket", "Unix socket to which the plugin connects.", "\"/run/heddle/opensm.sock\"",
       string_key([](Config& c) -> std::string& { return c.opensm.socket; })},
      {"opensm.lmc", "lmc of opensm.conf: every port has 2^lmc LIDs, in two planes from 1 on.", "0",
       count_key([](Config& c) -> std::uint64_t& { return c.opensm.lmc; }, 0, 7)},
      {"opensm.reduction",
       "Whether force_link_width, force_link_speed and force_link_speed_ext are 0 in opensm.conf, so that "
       "OpenSM\n"
       "leaves reduced widths and speeds alone.",
       "false", yes_no_key([](Config& c) -> bool& { return c.opensm.reduction; })},
      {"opensm.lfts_file",
       "The file of `lfts_file` in opensm.conf, for an OpenSM that cannot load the plugin and has "
       "`routing_engine\n"
       "file,no_fallback` (docs/opensm.md): then this daemon writes it, links are regulated through it, and "
       "this\n"
       "daemon is no subnet manager itself. Empty: none.",
       "\"\"", string_key([](Config& c) -> std::string& { return c.opensm.lfts_file; })},
      {"opensm.reload",
       "A command that makes OpenSM read opensm.lfts_file again, such as \"pkill -HUP -x opensm\"; apart by "
       "spaces,\n"
       "without a shell. Empty: something else does, as heddle-opensm-lfts.path.",
       "\"\"", string_key([](Config& c) -> std::string& { return c.opensm.reload; })},
      {"notify.queue",
       "How many events and problems are kept on disk for destinations that do not take them "
       "(docs/notices.md); "
       "then\n"
       "the oldest go.",
       "10000", count_key([](Config& c) -> std::uint64_t& { return c.notify.queue; }, 10, 1'000'000)},
  };
}

}  // namespace

const std::vector<Key>& keys() {
  static const std::vector<Key> all = [] {
    std::vector<Key> keys = first_keys();
    std::ranges::move(watch_keys(), std::back_inserter(keys));
    return keys;
  }();
  return all;
}

const Key* find_key(std::string_view name) {
  for (const auto& key : keys()) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

}  // namespace heddle::app
