// heddle qos test: one saturating flow per SL between two hosts of a simulated fabric, measured beside
// predicted, and the lines that do the same on hardware.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cmath>
#include <memory>
#include <ostream>

#include "heddle/qos_commands.h"
#include "heddle/qos_options.h"
#include "heddle/qos_test_fabric.h"
#include "heddle/table.h"

namespace heddle::cli {
namespace {

namespace json = boost::json;

struct TestOptions {
  std::string plan;
  QosTestFabric fabric;
  std::string name;
  std::vector<unsigned> sls;
  std::string packet_bytes = "64";
  std::string low_grant = "entry";
  std::string rounding = "up";
  double tolerance = 0.5;  // percentage points: what the thesis saw between model and switch
  std::string device = "mlx5_0";
  unsigned seconds = 30;
  double settle = 0;  // seconds
};

struct Flow {
  Sl sl;
  Vl vl;
  double predicted = 0;
  double measured = 0;
  BitRate rate;
};

/// The first SL of each VL, if none were named.
std::vector<Sl> sls_of(const TestOptions& given, const qos::Programming& plan) {
  std::vector<Sl> out;
  for (const unsigned sl : given.sls) out.push_back(Sl{static_cast<std::uint8_t>(sl)});
  if (!out.empty()) return out;
  std::array<bool, qos::max_data_vls> seen{};
  for (unsigned sl = 0; sl < qos::sl_count; ++sl) {
    const Vl vl = plan.map.vl[sl];
    if (vl == qos::drop_vl || std::exchange(seen[vl.raw()], true)) continue;
    out.push_back(Sl{static_cast<std::uint8_t>(sl)});
  }
  return out;
}

Result<qos::AnalyzerOptions> analyzer_options(const TestOptions& given) {
  qos::AnalyzerOptions options;
  if (given.low_grant == "packet") options.grant = qos::LowGrant::Packet;
  if (given.rounding == "deficit") options.rounding = qos::Rounding::Deficit;
  if (given.rounding == "units") options.rounding = qos::Rounding::Units;
  const auto packets = packet_bytes(given.packet_bytes);
  if (!packets) return fail("--packet-bytes", packets.error());
  options.packets = *packets;
  return options;
}

/// One port of the receiver for each flow, from perftest's default on.
std::string perftest_line(const TestOptions& given, Sl sl, const std::string& receiver) {
  constexpr unsigned first_port = 18515;
  return fmt::format("ib_send_bw --ib-dev={} --sl={} --port={} --size=65536 --duration={} --report_gbits{} &",
                     given.device, sl.raw(), first_port + sl.raw(), given.seconds,
                     receiver.empty() ? "" : " " + receiver);
}

Result<std::vector<Flow>> run_flows(const TestOptions& given, const qos::Programming& plan) {
  const auto options = analyzer_options(given);
  if (!options) return fail(options.error());
  const auto sls = sls_of(given, plan);
  qos::Programming programming = plan;
  std::vector<BitRate> rates;
  if (given.name.empty()) {
    auto result = test_on_own_fabric(given.fabric, plan, sls, *options);
    if (!result) return fail(result.error());
    programming = std::move(result->programming);
    rates = std::move(result->rates);
  } else {
    auto result = test_on_served_fabric(given.name, given.fabric.from, given.fabric.to, sls,
                                        std::chrono::milliseconds{std::llround(given.settle * 1000)});
    if (!result) return fail(result.error());
    rates = *std::move(result);
  }
  const auto predicted = predicted_shares(programming, sls, *options);
  if (!predicted) return fail(predicted.error());
  double sum = 0;
  for (const BitRate rate : rates) sum += rate.value();
  std::vector<Flow> flows;
  for (std::size_t i = 0; i < sls.size(); ++i) {
    flows.push_back({sls[i], programming.map.vl[sls[i].raw()], (*predicted)[i],
                     sum > 0 ? rates[i].value() / sum : 0, rates[i]});
  }
  return flows;
}

json::object to_json(const TestOptions& given, const std::vector<Flow>& flows, double difference) {
  json::array list;
  json::array receiver;
  json::array sender;
  for (const Flow& flow : flows) {
    list.push_back(json::object{{"sl", flow.sl.raw()},
                                {"vl", flow.vl.raw()},
                                {"predicted_percent", 100 * flow.predicted},
                                {"measured_percent", 100 * flow.measured},
                                {"bits_per_second", flow.rate.value()}});
    receiver.push_back(json::string{perftest_line(given, flow.sl, "")});
    sender.push_back(json::string{perftest_line(given, flow.sl, "RECEIVER")});
  }
  return {{"flows", std::move(list)},
          {"largest_difference", 100 * difference},
          {"receiver", std::move(receiver)},
          {"sender", std::move(sender)}};
}

void print_test(const TestOptions& given, const std::vector<Flow>& flows, double difference,
                Context& context) {
  Table table{{{"SL", Align::Right},
               {"VL", Align::Right},
               {"PREDICTED", Align::Right},
               {"MEASURED", Align::Right},
               {"RATE", Align::Right}}};
  for (const Flow& flow : flows) {
    table.add({fmt::format("{}", flow.sl.raw()), fmt::format("{}", flow.vl.raw()),
               fmt::format("{:.3f} %", 100 * flow.predicted), fmt::format("{:.3f} %", 100 * flow.measured),
               human(flow.rate)});
  }
  std::ostream& out = *context.out;
  table.print(out, context.colour);
  out << fmt::format("Largest difference {:.3f} percentage points.\n\n", 100 * difference);
  out << "# The same on hardware, all at once. On the receiver:\n";
  for (const Flow& flow : flows) out << perftest_line(given, flow.sl, "") << '\n';
  out << "# then on the sender, where RECEIVER is the receiver's name:\n";
  for (const Flow& flow : flows) out << perftest_line(given, flow.sl, "RECEIVER") << '\n';
}

Result<void> run_test(const TestOptions& given, Context& context) {
  const auto text = read_text(given.plan);
  if (!text) return fail(text.error());
  const auto plan = qos::parse_plan(*text, given.plan);
  if (!plan) return fail(plan.error());
  const auto flows = run_flows(given, *plan);
  if (!flows) return fail(flows.error());
  double difference = 0;
  for (const Flow& flow : *flows) difference = std::max(difference, std::abs(flow.measured - flow.predicted));
  if (context.format == Format::Json) {
    print_json(to_json(given, *flows, difference), context);
  } else {
    print_test(given, *flows, difference, context);
  }
  if (100 * difference <= given.tolerance) return {};
  return fail(ErrorCode::Refused,
              fmt::format("measured and predicted shares differ by {:.3f} percentage points, more than {:g}",
                          100 * difference, given.tolerance));
}

}  // namespace

void add_qos_test(CLI::App& qos, Program& program) {
  auto given = std::make_shared<TestOptions>();
  auto* test = qos.add_subcommand(
      "test",
      "One saturating flow per SL between two hosts of a simulated fabric: measured beside predicted");
  test->add_option("plan", given->plan, "What `heddle qos design --plan` wrote")
      ->required()
      ->type_name("PLAN");
  auto* fabric = test->add_option("--fabric", given->fabric.source, "Topology file or generator to simulate")
                     ->type_name("SOURCE")
                     ->capture_default_str();
  auto* from =
      test->add_option("--from", given->fabric.from, "The sending host; else the first")->type_name("NODE");
  auto* to =
      test->add_option("--to", given->fabric.to, "The receiving host; else the last")->type_name("NODE");
  auto* name = test->add_option("--name", given->name,
                                "Test a served fabric (heddle sim serve, or heddled's fabric.serve) with the "
                                "tables that it has")
                   ->needs(from)
                   ->needs(to)
                   ->excludes(fabric)
                   ->type_name("NAME");
  test->add_option("--vls", given->fabric.vls, "Data VLs of the simulated ports")
      ->check(CLI::IsMember({1, 2, 4, 8, 15}))
      ->excludes(name)
      ->capture_default_str();
  test->add_option("--entries", given->fabric.entries, "Entries of the tables of the simulated ports")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  test->add_option("--sls", given->sls, "SLs with a flow; else the first SL of each VL")
      ->delimiter(',')
      ->check(CLI::Range(0, 15));
  test->add_option("--packet-bytes", given->packet_bytes, "One size, or VL=N,VL=N,...")
      ->capture_default_str();
  test->add_option("--low-grant", given->low_grant, "What the low table may send at a time")
      ->check(CLI::IsMember({"entry", "packet"}))
      ->capture_default_str();
  test->add_option("--rounding", given->rounding, "Of weights to packets")
      ->check(CLI::IsMember({"up", "deficit", "units"}))
      ->capture_default_str();
  test->add_option("--tolerance", given->tolerance, "Percentage points between measured and predicted")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  test->add_option("--settle", given->settle,
                   "How long flows on a served fabric run before they are measured; at packet level some "
                   "simulated milliseconds")
      ->needs(name)
      ->check(CLI::Range(0.0, 3600.0))
      ->type_name("SECONDS");
  test->add_option("--device", given->device, "Of the lines for hardware")->capture_default_str();
  test->add_option("--seconds", given->seconds, "Of the lines for hardware")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  Program::on(*test, [given, &program] { return run_test(*given, program.context()); });
}

}  // namespace heddle::cli
