// heddle qos dtable: the configuration methodology of the deficit table, every column of it.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <memory>
#include <ostream>

#include "heddle/qos_commands.h"
#include "heddle/qos_options.h"
#include "heddle/table.h"
#include "qos/analyzer.h"

namespace heddle::cli {
namespace {

namespace json = boost::json;

struct DTableOptions {
  std::uint32_t entries = 0;
  std::uint32_t gmtu = 0;
  double k = 0;
  double w = 0;
  std::vector<std::string> classes;
};

Result<qos::DTableRequest> to_request(const DTableOptions& given) {
  qos::DTableRequest request;
  request.entries = given.entries;
  request.gmtu = given.gmtu;
  if (given.k != 0) request.k = given.k;
  if (given.w != 0) request.w = given.w;
  for (const auto& text : given.classes) {
    auto each = dtable_class(text);
    if (!each) return fail(each.error());
    request.classes.push_back(std::move(*each));
  }
  return request;
}

/// The same table as the high table of a port without deficit counters: what the shares are then.
std::optional<qos::Analysis> on_todays_port(const qos::DTableRequest& request, const qos::DTable& table) {
  if (table.size() > qos::max_entries || request.classes.size() > qos::max_data_vls) return std::nullopt;
  qos::VlArbitration tables{{}, {}, qos::no_limit};
  for (const auto& entry : table) {
    if (entry.weight > 255) return std::nullopt;
    tables.high.push_back({Vl{entry.lane.raw()}, static_cast<std::uint8_t>(entry.weight)});
  }
  qos::AnalyzerOptions options;
  for (std::size_t i = 0; i < request.classes.size(); ++i) {
    options.packets[i] = {request.classes[i].mtu * qos::credit_bytes};
  }
  auto analysis = qos::analyze(tables, options);
  return analysis ? std::optional{std::move(*analysis)} : std::nullopt;
}

json::array table_json(const qos::DTableRequest& request, const qos::DTable& table) {
  json::array entries;
  for (const auto& entry : table) {
    if (entry.weight == 0) {
      entries.push_back(nullptr);
    } else {
      entries.push_back({{"sl", request.classes[entry.lane.raw()].name}, {"weight", entry.weight}});
    }
  }
  return entries;
}

json::value to_json(const qos::DTableRequest& request, const qos::DTableDesign& design,
                    const std::optional<qos::Analysis>& today) {
  json::array sls;
  for (std::size_t i = 0; i < design.columns.size(); ++i) {
    const auto& column = design.columns[i];
    const auto& each = request.classes[i];
    json::object sl{{"sl", each.name},
                    {"distance", each.distance},
                    {"mtu_credits", each.mtu},
                    {"share", each.share},
                    {"entries", column.entries},
                    {"min_share", column.min_share},
                    {"max_share", column.max_share},
                    {"total", column.total},
                    {"weight", column.weight},
                    {"rounded_total", column.rounded_total},
                    {"R", column.rounded_share},
                    {"D", column.correction},
                    {"corrected_total", column.corrected_total},
                    {"corrected_share", column.corrected_share}};
    if (today) sl["share_without_deficits"] = today->vls[i].share.value();
    sls.push_back(std::move(sl));
  }
  return json::object{{"entries", request.entries},
                      {"gmtu", request.gmtu},
                      {"k", design.k},
                      {"w", design.w},
                      {"pool", design.pool},
                      {"max_weight", design.max_weight},
                      {"sls", std::move(sls)},
                      {"table", table_json(request, design.corrected)}};
}

void print_table(const qos::DTableRequest& request, const qos::DTable& table, std::ostream& out) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto& entry = table[i];
    const std::string text =
        entry.weight == 0 ? "-" : fmt::format("{},{}", request.classes[entry.lane.raw()].name, entry.weight);
    out << text << (i % 8 == 7 || i + 1 == table.size() ? '\n' : ' ');
  }
}

void print_design(const qos::DTableRequest& request, const qos::DTableDesign& design,
                  const std::optional<qos::Analysis>& today, Context& context) {
  std::ostream& out = *context.out;
  out << fmt::format("N {}, GMTU {} credits, k {:g}, w {:g}, M {:g}, pool {:g} credits\n\n", request.entries,
                     request.gmtu, design.k, design.w, design.max_weight, design.pool);
  std::vector<Column> columns{{"SL"}};
  for (const char* title : {"DISTANCE", "MTU", "SHARE", "ENTRIES", "MIN", "MAX", "TOTAL", "WEIGHT", "ROUNDED",
                            "R", "D", "CORRECTED", "SHARE"}) {
    columns.push_back({title, Align::Right});
  }
  if (today) columns.push_back({"NO DEFICITS", Align::Right});
  Table table{columns};
  for (std::size_t i = 0; i < design.columns.size(); ++i) {
    const auto& column = design.columns[i];
    const auto& each = request.classes[i];
    std::vector<std::string> cells{each.name,
                                   fmt::format("{}", each.distance),
                                   fmt::format("{}", each.mtu),
                                   fmt::format("{:.5f}", each.share),
                                   fmt::format("{}", column.entries),
                                   fmt::format("{:.5f}", column.min_share),
                                   fmt::format("{:.5f}", column.max_share),
                                   fmt::format("{:.3f}", column.total),
                                   fmt::format("{}", column.weight),
                                   fmt::format("{}", column.rounded_total),
                                   fmt::format("{:.5f}", column.rounded_share),
                                   fmt::format("{:+}", column.correction),
                                   fmt::format("{}", column.corrected_total),
                                   fmt::format("{:.5f}", column.corrected_share)};
    if (today) cells.push_back(fmt::format("{:.5f}", today->vls[i].share.value()));
    table.add(std::move(cells));
  }
  table.print(out, context.colour);
  out << "\nTable (SL,weight in credits of 64 bytes), rounded up:\n";
  print_table(request, design.rounded, out);
  out << "\ncorrected:\n";
  print_table(request, design.corrected, out);
  if (today) {
    out << "\nNO DEFICITS: the share that the corrected table gives as high table of a port that has no "
           "deficit\n"
           "counters and sends whole messages of each SL's MTU.\n";
  }
}

Result<void> design(const DTableOptions& given, Context& context) {
  const auto request = to_request(given);
  if (!request) return fail(request.error());
  const auto design = qos::design_dtable(*request);
  if (!design) return fail(design.error());
  const auto today = on_todays_port(*request, design->corrected);
  if (context.format == Format::Json) {
    print_json(to_json(*request, *design, today), context);
  } else {
    print_design(*request, *design, today, context);
  }
  return {};
}

}  // namespace

void add_qos_dtable(CLI::App& qos, Program& program) {
  auto* command =
      qos.add_subcommand("dtable", "Configure a deficit table: distance for latency, weight for share");
  auto given = std::make_shared<DTableOptions>();
  command->add_option("--n", given->entries, "Entries of the table")->required()->check(CLI::Range(1, 256));
  command->add_option("--gmtu", given->gmtu, "Largest message of any SL, in credits of 64 bytes")
      ->required()
      ->check(CLI::Range(1, 1024));
  command->add_option("--k", given->k, "Pool factor; searched from 0.1 if not given")
      ->check(CLI::PositiveNumber);
  command->add_option("--w", given->w, "Largest weight of an entry, in GMTU; searched from k if not given")
      ->check(CLI::PositiveNumber);
  command->add_option("--sl", given->classes, "One class; repeat for each")
      ->required()
      ->type_name("NAME:distance=D,mtu=BYTES,share=PHI")
      ->allow_extra_args(false);
  Program::on(*command, [given, &program] { return design(*given, program.context()); });
}

}  // namespace heddle::cli
