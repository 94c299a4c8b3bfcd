#include "heddle/outage_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "base/text.h"
#include "heddle/table.h"

namespace heddle::cli {

using routing::Outage;

namespace {

/// More hosts that are cut off than these are not named.
constexpr std::size_t most_named = 8;

std::string named(const std::vector<NodeIndex>& nodes, const FabricNames& known) {
  return list_of(nodes, most_named, [&](NodeIndex node) { return known.node(node); });
}

}  // namespace

std::string times(double load, double now) { return now > 0 ? fmt::format("{:.2f}", load / now) : "-"; }

void print_outage(const Outage& now, const Outage& then, const FabricNames& known, Context& context) {
  Table table{{{""}, {"NOW", Align::Right}, {"THEN", Align::Right}}};
  const auto row = [&](const char* what, const auto& count) {
    table.add({what, fmt::format("{:.0f}", count(now)), fmt::format("{:.0f}", count(then))});
  };
  row("hosts cut off", [](const Outage& o) { return static_cast<double>(o.cut_off.size()); });
  row("pairs of hosts cut", [](const Outage& o) { return o.pairs_cut; });
  row("pairs without a path", [](const Outage& o) { return o.pairs_without_path; });
  row("switches on one cable", [](const Outage& o) { return static_cast<double>(o.on_one.size()); });
  table.add({"busiest cable, times now", "1.00", times(then.largest, now.largest)});
  const auto bisection = [](const Outage& o) { return o.bisection ? human(*o.bisection) : "-"; };
  if (now.bisection) table.add({"effective bisection", bisection(now), bisection(then)});
  table.print(*context.out, context.colour);
  if (!then.cut_off.empty()) *context.out << "cut off: " << named(then.cut_off, known) << '\n';
  if (!then.on_one.empty()) {
    *context.out << fmt::format("on one cable: {}; it is the last one of {} host{}\n",
                                named(then.on_one, known), then.hosts_on_one,
                                then.hosts_on_one == 1 ? "" : "s");
  }
}

}  // namespace heddle::cli
