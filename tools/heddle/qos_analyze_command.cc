// heddle qos analyze: the shares, distances and waits that a pair of tables gives.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>
#include <memory>
#include <numeric>
#include <ostream>

#include "heddle/qos_commands.h"
#include "heddle/qos_options.h"
#include "heddle/table.h"
#include "qos/analyzer.h"
#include "qos/stepped.h"

namespace heddle::cli {
namespace {

namespace json = boost::json;

struct AnalyzeOptions {
  std::string high;
  std::string low;
  unsigned limit = 1;
  std::string packet_bytes = "64";
  std::string grant = "entry";
  std::string rounding = "up";
  std::string loads;
  std::string rate;
  unsigned vls = qos::max_data_vls;
  std::uint64_t runs = 0;
};

/// One VL as it is shown, however it was found.
struct Row {
  unsigned vl = 0;
  qos::Fraction share;
  std::uint64_t packets = 0;
  double mean_distance = 0;
  std::uint64_t max_distance = 0;
  std::optional<std::uint64_t> wait_bytes;
};

struct Report {
  std::string method;
  std::vector<Row> rows;
  std::optional<std::uint64_t> period_packets;
  std::uint64_t packets = 0;
  std::optional<double> ns_per_byte;
};

Result<qos::VlArbitration> read_tables(const AnalyzeOptions& options) {
  const qos::PortCapability port{.data_vls = options.vls};
  qos::VlArbitration tables;
  tables.limit = qos::HighLimit{static_cast<std::uint8_t>(options.limit)};
  const auto high = read_text(options.high);
  if (!high) return fail(high.error());
  auto high_table = qos::parse_table(*high, options.high, qos::WhichTable::High, port);
  if (!high_table) return fail(high_table.error());
  tables.high = std::move(*high_table);
  if (options.low.empty()) return tables;
  const auto low = read_text(options.low);
  if (!low) return fail(low.error());
  auto low_table = qos::parse_table(*low, options.low, qos::WhichTable::Low, port);
  if (!low_table) return fail(low_table.error());
  tables.low = std::move(*low_table);
  return tables;
}

Result<qos::AnalyzerOptions> analyzer_options(const AnalyzeOptions& options) {
  qos::AnalyzerOptions out;
  out.grant = options.grant == "packet" ? qos::LowGrant::Packet : qos::LowGrant::Entry;
  out.rounding = options.rounding == "deficit" ? qos::Rounding::Deficit
                 : options.rounding == "units" ? qos::Rounding::Units
                                               : qos::Rounding::Up;
  auto packets = packet_bytes(options.packet_bytes);
  if (!packets) return fail(packets.error());
  out.packets = std::move(*packets);
  return out;
}

Result<Report> exact(const qos::VlArbitration& tables, const qos::AnalyzerOptions& options) {
  const auto analysis = qos::analyze(tables, options);
  if (!analysis) return fail(analysis.error());
  Report report{"exact", {}, analysis->period_packets, analysis->period_packets, {}};
  for (const auto& vl : analysis->vls) {
    report.rows.push_back(
        {vl.vl.raw(), vl.share, vl.packets, vl.mean_distance, vl.max_distance, vl.wait_bytes});
  }
  return report;
}

/// Not reduced, so that packets of one size show as the packets that were counted.
Result<Report> counted(const qos::VlArbitration& tables, const qos::AnalyzerOptions& options,
                       std::uint64_t runs) {
  const auto count = qos::count_runs(tables, options, runs);
  if (!count) return fail(count.error());
  std::uint64_t grain = 0;
  for (unsigned vl = 0; vl < qos::max_data_vls; ++vl) {
    if (count->vls[vl].packets == 0) continue;
    for (const auto bytes : options.packets[vl]) grain = std::gcd(grain, std::uint64_t{bytes});
  }
  if (options.rounding == qos::Rounding::Units) grain = qos::weight_unit_bytes;
  Report report{fmt::format("{} runs of the high table, counted", runs), {}, {}, count->packets, {}};
  for (unsigned vl = 0; vl < qos::max_data_vls; ++vl) {
    const auto& own = count->vls[vl];
    if (own.packets == 0) continue;
    const double mean = static_cast<double>(own.distance_sum) / static_cast<double>(own.selections);
    report.rows.push_back(
        {vl, {own.bytes / grain, count->bytes / grain}, own.packets, mean, own.max_distance, std::nullopt});
  }
  return report;
}

/// Under offered loads a share is a solution in floating point: given to a billionth.
Result<void> apply_loads(Report& report, const qos::VlArbitration& tables,
                         const qos::AnalyzerOptions& options, const std::string& text) {
  const auto loads = offered_loads(text);
  if (!loads) return fail(loads.error());
  const auto shares = qos::shares_under_load(tables, options, *loads);
  if (!shares) return fail(shares.error());
  constexpr std::uint64_t billion = 1'000'000'000;
  for (auto& row : report.rows) {
    row.share = qos::reduced(static_cast<std::uint64_t>(std::llround((*shares)[row.vl] * billion)), billion);
  }
  report.method = "offered loads, of the link rate; counts and distances are those of VLs that always wait";
  return {};
}

json::value to_json(const Report& report) {
  json::array vls;
  for (const auto& row : report.rows) {
    json::object vl{{"vl", row.vl},
                    {"share", {{"num", row.share.num}, {"den", row.share.den}}},
                    {"percent", 100 * row.share.value()},
                    {"mean_distance", row.mean_distance},
                    {"max_distance", row.max_distance},
                    {"packets", row.packets}};
    if (report.period_packets) {
      vl["wait_bytes"] = row.wait_bytes ? json::value(*row.wait_bytes) : json::value(nullptr);
      if (report.ns_per_byte) {
        vl["wait_ns"] = row.wait_bytes
                            ? json::value(static_cast<double>(*row.wait_bytes) * *report.ns_per_byte)
                            : json::value(nullptr);
      }
    }
    vls.push_back(std::move(vl));
  }
  json::object out{{"vls", std::move(vls)}};
  if (report.period_packets) {
    out["period_packets"] = *report.period_packets;
  } else {
    out["packets"] = report.packets;
  }
  return out;
}

std::string wait_text(const Row& row, const Report& report) {
  if (!report.period_packets) return "";
  if (!row.wait_bytes) return "no bound";
  const std::string bytes = fmt::format("{} B", *row.wait_bytes);
  if (!report.ns_per_byte) return bytes;
  return fmt::format("{}, {:.0f} ns", bytes, static_cast<double>(*row.wait_bytes) * *report.ns_per_byte);
}

void print_report(const Report& report, Context& context) {
  std::ostream& out = *context.out;
  Table table{{{"VL", Align::Right},
               {"PACKETS", Align::Right},
               {"SHARE", Align::Right},
               {"PERCENT", Align::Right},
               {"MEAN DISTANCE", Align::Right},
               {"LARGEST", Align::Right},
               {"LONGEST WAIT", Align::Right}}};
  for (const auto& row : report.rows) {
    const bool selected = row.max_distance != 0;
    table.add({fmt::format("{}", row.vl), fmt::format("{}", row.packets),
               fmt::format("{}/{}", row.share.num, row.share.den),
               fmt::format("{:.3f} %", 100 * row.share.value()),
               selected ? fmt::format("{:.3f}", row.mean_distance) : "-",
               selected ? fmt::format("{}", row.max_distance) : "-", wait_text(row, report)});
  }
  table.print(out, context.colour);
  out << '\n';
  for (const auto& row : report.rows) {
    const auto width = static_cast<std::size_t>(std::lround(60 * row.share.value()));
    out << fmt::format("VL{:<2} {:60} {:6.2f} %\n", row.vl, std::string(width, '#'), 100 * row.share.value());
  }
  out << fmt::format("\n{}; {} packets{}.\n", report.method, report.packets,
                     report.period_packets ? " in a period" : "")
      << "Distance: entries selected in both tables until the VL's next. A low grant is one selection; a "
         "high\n"
         "entry that goes on after it is not selected anew.\n";
  if (report.period_packets) {
    out << "Longest wait: what others send, whatever they offer, while a packet is at the head of its "
           "queue.\n";
  }
}

Result<void> analyze(const AnalyzeOptions& given, Context& context) {
  const auto tables = read_tables(given);
  if (!tables) return fail(tables.error());
  const auto options = analyzer_options(given);
  if (!options) return fail(options.error());
  auto report = given.runs != 0 ? counted(*tables, *options, given.runs) : exact(*tables, *options);
  if (!report) return fail(report.error());
  if (!given.loads.empty()) {
    if (auto applied = apply_loads(*report, *tables, *options, given.loads); !applied) return applied;
  }
  if (!given.rate.empty()) {
    const auto rate = link_rate(given.rate);
    if (!rate) return fail("--rate", rate.error());
    report->ns_per_byte = 8e9 / rate->value();
  }
  if (context.format == Format::Json) {
    print_json(to_json(*report), context);
  } else {
    print_report(*report, context);
  }
  return {};
}

}  // namespace

void add_qos_analyze(CLI::App& qos, Program& program) {
  auto* command = qos.add_subcommand("analyze", "What a pair of arbitration tables gives each VL, exactly");
  auto given = std::make_shared<AnalyzeOptions>();
  command->add_option("--high", given->high, "High table: lines VL,weight, or OpenSM's VL:weight,...")
      ->required()
      ->type_name("FILE");
  command->add_option("--low", given->low, "Low table")->type_name("FILE");
  command
      ->add_option("--limit", given->limit, "LimitOfHighPriority: 0 one packet, 255 none, else x 4096 bytes")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  command
      ->add_option(
          "--packet-bytes", given->packet_bytes,
          "Packet size, N or VL=N,... (a mix: VL=N+N). The thesis names 4096 as its default, but its "
          "figures are those of units of 64 bytes: a weight of w is w packets, limit 1 is 64")
      ->capture_default_str();
  command->add_option("--low-grant", given->grant, "What the low table may send when the limit is reached")
      ->check(CLI::IsMember({"entry", "packet"}))
      ->capture_default_str();
  command
      ->add_option(
          "--rounding", given->rounding,
          "A rest of weight: up = sends a whole packet; deficit = and pays it back at its next turn; "
          "units = turns are taken every 64 bytes")
      ->check(CLI::IsMember({"up", "deficit", "units"}))
      ->capture_default_str();
  auto* runs =
      command
          ->add_option("--runs", given->runs,
                       "Count so many cycles of the high table, as the thesis does; 30 if no number is given")
          ->expected(0, 1)
          ->default_str("30")
          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}));
  command
      ->add_option("--load", given->loads, "Offered loads VL=x,... of the link rate; other VLs always wait")
      ->excludes(runs);
  command->add_option("--rate", given->rate, "Link rate for waits in ns, as 4xEDR");
  command->add_option("--vls", given->vls, "Data VLs of the port")
      ->check(CLI::Range(1U, qos::max_data_vls))
      ->capture_default_str();
  Program::on(*command, [given, &program] { return analyze(*given, program.context()); });
}

}  // namespace heddle::cli
