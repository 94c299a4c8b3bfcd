#include "heddle/what_if_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <ostream>

#include "base/json_access.h"
#include "heddle/outage_view.h"
#include "heddle/table.h"
#include "twin/told.h"

namespace heddle::cli {
namespace {

namespace json = boost::json;
using Source = twin::TrafficUsed::Source;

/// Hosts that are named to people.
constexpr std::size_t most_hosts = 5;

bool has_traffic(const twin::State& state) { return state.traffic && state.traffic->wanted > 0; }

std::string gbits(double rate) { return fmt::format("{:.1f}", rate / 1e9); }

}  // namespace

void print_twin(const twin::Run& run, Context& context) {
  const twin::Source& source = run.source();
  std::ostream& out = *context.out;
  if (source.tables) {
    out << fmt::format("tables: read back {} ago{}; {} of their entries are as {} makes them\n",
                       human_seconds(source.tables_age),
                       source.unread > 0 ? fmt::format(", {} switches did not answer", source.unread) : "",
                       human(Ratio{run.router().agreement().value_or(0)}), run.router().name());
    if (source.outdated) {
      out << "outdated: the fabric has changed since; what the tables led over cables that are gone counts "
             "as "
             "lost, and may be mended: ask again in a minute\n";
    }
  } else {
    out << fmt::format("tables: nobody has read them back; as {} makes them\n", run.router().name());
  }
  if (run.traffic_source() == Source::Given) out << "traffic: as given\n";
  if (run.traffic_source() != Source::Estimated) return;
  const twin::StatedError error = twin::error_of_estimates();
  out << fmt::format(
      "traffic: estimated from the loads of {} ago; of ten kinds of traffic the busiest link was predicted "
      "within {} in half of all cases, and within {} in all\n",
      human_seconds(source.loads_age), human(Ratio{error.median}), human(Ratio{error.worst}));
  if (run.few_flows()) {
    out << "unknown: these loads look like those of few flows; whom they go to cannot be told, and how busy "
           "links "
           "are then is not known: give the traffic (--flows)\n";
  }
}

void print_states(const twin::State& now, const twin::State& then, const FabricNames& known,
                  Context& context) {
  print_outage(now.outage, then.outage, known, context);
  Table table{{{""}, {"NOW", Align::Right}, {"THEN", Align::Right}}};
  const auto yes = [](bool so) { return so ? "yes" : "no"; };
  if (now.circles || then.circles) table.add({"circles of routes", yes(now.circles), yes(then.circles)});
  if (has_traffic(then)) {
    const twin::Prediction before = now.traffic.value_or(twin::Prediction{});
    table.add(
        {"busiest link between switches", human(Ratio{before.largest}), human(Ratio{then.traffic->largest})});
    table.add({"busiest link of a host", human(Ratio{before.largest_of_hosts}),
               human(Ratio{then.traffic->largest_of_hosts})});
    table.add({"carried, Gbit/s", gbits(before.carried), gbits(then.traffic->carried)});
    table.add({"wanted, Gbit/s", gbits(before.wanted), gbits(then.traffic->wanted)});
  }
  if (now.watts && then.watts)
    table.add({"switches, W", fmt::format("{:.0f}", *now.watts), fmt::format("{:.0f}", *then.watts)});
  if (!table.empty()) table.print(*context.out, context.colour);
  if (!has_traffic(then)) return;
  for (const PortIndex port : then.traffic->busiest_links(*then.fabric, 1)) {
    const Port& from = then.fabric->port(port);
    *context.out << "busiest then: " << known.link(from.link) << '\n';
  }
  for (const json::value& each : twin::losers_view(now, then, known, most_hosts)) {
    *context.out << fmt::format("loses: {}: {} Gbit/s in place of {}\n", text_at(each, "host"),
                                gbits(8 * number_at(each, "bytes_per_second_then")),
                                gbits(8 * number_at(each, "bytes_per_second_now")));
  }
}

void print_each(const std::vector<twin::Failed>& all, const twin::State& now, std::size_t top,
                Context& context) {
  const auto harmless = std::ranges::count_if(all, [](const twin::Failed& one) {
    return one.state.outage.cut_off.empty() && one.state.outage.pairs_without_path == 0;
  });
  *context.out << fmt::format("{} of {} leave every host its paths to all others\n", harmless, all.size());
  std::vector<Column> columns{{"WITHOUT"},
                              {"CUT OFF", Align::Right},
                              {"PAIRS CUT", Align::Right},
                              {"NO PATH", Align::Right},
                              {"ON ONE CABLE", Align::Right},
                              {"BUSIEST", Align::Right}};
  if (now.traffic) columns.push_back({"LOAD", Align::Right});
  Table table{std::move(columns)};
  for (std::size_t i = 0; i < std::min(top, all.size()); ++i) {
    const routing::Outage& o = all[i].state.outage;
    std::vector<std::string> row{all[i].name,
                                 fmt::format("{}", o.cut_off.size()),
                                 fmt::format("{:.0f}", o.pairs_cut),
                                 fmt::format("{:.0f}", o.pairs_without_path),
                                 fmt::format("{}", o.on_one.size()),
                                 times(o.largest, now.outage.largest)};
    if (now.traffic) row.push_back(human(Ratio{all[i].state.traffic ? all[i].state.traffic->largest : 0}));
    table.add(std::move(row));
  }
  table.print(*context.out, context.colour);
  if (all.size() > top) *context.out << fmt::format("and {} more (--top)\n", all.size() - top);
}

}  // namespace heddle::cli
