// heddle qos design: tables that give each class what it asks for, or what stands in the way.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <fstream>
#include <memory>
#include <ostream>

#include "heddle/qos_commands.h"
#include "heddle/qos_options.h"
#include "heddle/table.h"
#include "qos/designer.h"

namespace heddle::cli {
namespace {

namespace json = boost::json;

struct DesignOptions {
  std::string request;
  std::string output = "tables";
  std::string prefix = "qos";
  std::string plan;
};

json::array entries_json(const qos::ArbTable& table) {
  json::array out;
  for (const auto& entry : table) out.push_back(json::array{entry.vl.raw(), entry.weight});
  return out;
}

json::array map_json(const qos::Sl2Vl& map) {
  json::array out;
  for (const Vl vl : map.vl) out.push_back(vl.raw());
  return out;
}

/// The part of a plan that says what ports are programmed with.
json::object tables_json(const qos::Design& design) {
  return {{"vlarb_high", entries_json(design.tables.high)},
          {"vlarb_low", entries_json(design.tables.low)},
          {"high_limit", design.tables.limit.raw()},
          {"sl2vl", map_json(design.map)}};
}

json::object service_json(const qos::SlService& each) {
  const auto& share = each.service.share;
  json::object out{{"sl", each.request.sl.raw()},
                   {"vl", each.vl.raw()},
                   {"priority", each.request.priority == qos::Priority::High ? "high" : "low"},
                   {"wanted_share", each.request.share},
                   {"vl_wanted_share", each.vl_share},
                   {"share", {{"num", share.num}, {"den", share.den}}},
                   {"percent", 100 * share.value()},
                   {"mean_distance", each.service.mean_distance},
                   {"max_distance", each.service.max_distance}};
  if (each.request.distance) out["wanted_distance"] = *each.request.distance;
  if (each.request.latency_ns) out["wanted_latency_ns"] = *each.request.latency_ns;
  if (each.wait_ns) {
    out["wait_bytes"] = *each.service.wait_bytes;
    out["wait_ns"] = *each.wait_ns;
  }
  return out;
}

json::object to_json(const qos::Design& design) {
  json::array sls;
  for (const auto& each : design.sls) sls.push_back(service_json(each));
  json::object out{{"tables", tables_json(design)},
                   {"sls", std::move(sls)},
                   {"largest_error", design.largest_error},
                   {"largest_distance", design.largest_distance}};
  out["proof"] = json::object{{"least_error", design.proof.least_error},
                              {"least_distance", design.proof.least_distance},
                              {"distance_bound", design.proof.distance_bound}};
  return out;
}

std::string proof_text(const qos::Design& design) {
  const auto& proof = design.proof;
  const std::string error =
      proof.least_error ? "proved: no tables have a smaller one" : "not proved to be the least";
  const std::string distance =
      proof.least_distance ? "proved: none with this error have a smaller one"
                           : fmt::format("none with this error can have less than {}", proof.distance_bound);
  return fmt::format("Largest share error {:.6f} % ({}).\nLargest distance {} ({}).\n",
                     100 * design.largest_error, error, design.largest_distance, distance);
}

void print_services(const qos::Design& design, Context& context) {
  Table table{{{"SL", Align::Right},
               {"VL", Align::Right},
               {"TABLE"},
               {"WANTED", Align::Right},
               {"SHARE", Align::Right},
               {"EXACTLY", Align::Right},
               {"DISTANCE", Align::Right},
               {"AT MOST", Align::Right},
               {"LONGEST WAIT", Align::Right},
               {"AT MOST", Align::Right}}};
  for (const auto& each : design.sls) {
    const auto& share = each.service.share;
    table.add({fmt::format("{}", each.request.sl.raw()), fmt::format("{}", each.vl.raw()),
               each.request.priority == qos::Priority::High ? "high" : "low",
               fmt::format("{:.3f} %", 100 * each.request.share),
               fmt::format("{:.3f} %", 100 * share.value()), fmt::format("{}/{}", share.num, share.den),
               fmt::format("{}", each.service.max_distance),
               each.request.distance ? fmt::format("{}", *each.request.distance) : "-",
               each.wait_ns ? fmt::format("{:.0f} ns", *each.wait_ns) : "no bound",
               each.request.latency_ns ? fmt::format("{:.0f} ns", *each.request.latency_ns) : "-"});
  }
  table.print(*context.out, context.colour);
  if (std::ranges::any_of(design.sls, [](const auto& each) { return each.vl_share != each.request.share; }))
    *context.out << "SLs on one VL are served together: SHARE, DISTANCE and LONGEST WAIT are the VL's.\n";
}

void print_design(const qos::DesignRequest& request, const qos::Design& design, const DesignOptions& given,
                  Context& context) {
  std::ostream& out = *context.out;
  print_services(design, context);
  out << '\n' << proof_text(design) << '\n';
  if (given.output == "opensm") {
    out << qos::opensm_options(given.prefix, design.tables, design.map, request.port.data_vls);
    return;
  }
  out << "# high table\n" << qos::to_lines(design.tables.high);
  if (!design.tables.low.empty()) out << "# low table\n" << qos::to_lines(design.tables.low);
  out << fmt::format("# LimitOfHighPriority {}\n# SL2VL {}\n", design.tables.limit.raw(),
                     qos::to_opensm(design.map));
}

/// Atomically: readers see the old plan or the new one.
Result<void> write_plan(const std::string& path, const qos::Design& design) {
  const json::object plan{{"qos", tables_json(design)}};
  const std::string scratch = path + ".tmp";
  {
    std::ofstream file{scratch, std::ios::binary | std::ios::trunc};
    file << json::serialize(plan) << '\n';
    file.flush();
    if (!file) return fail(ErrorCode::Io, fmt::format("cannot write {}", scratch));
  }
  if (std::rename(scratch.c_str(), path.c_str()) != 0) {
    return fail(ErrorCode::Io, fmt::format("cannot rename {} to {}", scratch, path));
  }
  return {};
}

Result<void> run_design(const DesignOptions& given, Context& context) {
  const auto text = read_text(given.request);
  if (!text) return fail(text.error());
  const auto request = qos::parse_design_request(*text, given.request);
  if (!request) return fail(request.error());
  const auto design = qos::design(*request);
  if (!design) return fail(design.error());
  if (!given.plan.empty()) {
    if (auto written = write_plan(given.plan, *design); !written) return written;
  }
  if (context.format == Format::Json) {
    print_json(to_json(*design), context);
  } else {
    print_design(*request, *design, given, context);
  }
  return {};
}

}  // namespace

void add_qos_design(CLI::App& qos, Program& program) {
  auto* command = qos.add_subcommand(
      "design",
      "Tables for wanted shares and latencies: least largest share error, then least largest distance");
  auto given = std::make_shared<DesignOptions>();
  command->add_option("--request", given->request, "What each SL asks for, and the port (docs/qos.md)")
      ->required()
      ->type_name("FILE.toml");
  command->add_option("--output", given->output, "Form of the tables: lines VL,weight, or OpenSM's options")
      ->check(CLI::IsMember({"tables", "opensm"}))
      ->capture_default_str();
  command->add_option("--prefix", given->prefix, "Of OpenSM's options")
      ->check(CLI::IsMember({"qos", "qos_ca", "qos_rtr", "qos_sw0", "qos_swe"}))
      ->capture_default_str();
  command->add_option("--plan", given->plan, "Also write the tables as a plan")->type_name("FILE");
  Program::on(*command, [given, &program] { return run_design(*given, program.context()); });
}

}  // namespace heddle::cli
