// What should be plugged where, in lists of cables as contractors and UFM write them: any text is read or
// refused with its file's name, fabrics can be held against what was read, and what was read is written and
// read as the same again. A fabric that was read is cabled as it is.

#include <cmath>

#include "cabling/check.h"
#include "fabric/generators.h"
#include "fabric/topology.h"
#include "fuzz/fuzz_target.h"

namespace {

using namespace heddle;
using namespace heddle::cabling;

/// Names as lists take them apart: a switch with two hosts, of which one has two adapters, two boards of a
/// director with a link inside of it, two nodes of one name, one without a cable, and an aggregation node.
constexpr const char* site = R"(
switchguid=0x10(10)
Switch	8 "S-0000000000000010"		# "MF0;edge:MQM8700/U1" enhanced port 0 lid 1 lmc 0
[1]	"H-0000000000000100"[1](101) 		# "node1 ibp11s0f0" lid 5 4xHDR
[2]	"H-0000000000000200"[1](201) 		# "node1 ibp21s0f0" lid 6 4xHDR
[3]	"S-0000000000000020"[20]		# "MF0;dir:MCS8500/L16/U2" lid 2 4xHDR
[4]	"S-0000000000000030"[5]		# "MF0;dir:MCS8500/S1/U1" lid 4 4xEDR
[5]	"H-0000000000000300"[2](302) 		# "twin mlx5_0" lid 7 2xHDR
[6]	"H-0000000000000400"[1](401) 		# "twin mlx5_0" lid 8 4xHDR
[8]	"H-0000000000000900"[1](901) 		# "Mellanox Technologies Aggregation Node" lid 9 4xHDR

switchguid=0x20(20)
Switch	41 "S-0000000000000020"		# "MF0;dir:MCS8500/L16/U2" enhanced port 0 lid 2 lmc 0
[20]	"S-0000000000000010"[3]		# "MF0;edge:MQM8700/U1" lid 1 4xHDR
[30]	"S-0000000000000030"[1]		# "MF0;dir:MCS8500/S1/U1" lid 4 4xHDR

switchguid=0x30(30)
Switch	8 "S-0000000000000030"		# "MF0;dir:MCS8500/S1/U1" enhanced port 0 lid 4 lmc 0
[1]	"S-0000000000000020"[30]		# "MF0;dir:MCS8500/L16/U2" lid 2 4xHDR
[5]	"S-0000000000000010"[4]		# "MF0;edge:MQM8700/U1" lid 1 4xEDR

caguid=0x100
Ca	1 "H-0000000000000100"		# "node1 ibp11s0f0"
[1](101) 	"S-0000000000000010"[1]		# lid 5 lmc 0 "MF0;edge:MQM8700/U1" lid 1 4xHDR

caguid=0x200
Ca	1 "H-0000000000000200"		# "node1 ibp21s0f0"
[1](201) 	"S-0000000000000010"[2]		# lid 6 lmc 0 "MF0;edge:MQM8700/U1" lid 1 4xHDR

caguid=0x300
Ca	2 "H-0000000000000300"		# "twin mlx5_0"
[2](302) 	"S-0000000000000010"[5]		# lid 7 lmc 0 "MF0;edge:MQM8700/U1" lid 1 2xHDR

caguid=0x400
Ca	1 "H-0000000000000400"		# "twin mlx5_0"
[1](401) 	"S-0000000000000010"[6]		# lid 8 lmc 0 "MF0;edge:MQM8700/U1" lid 1 4xHDR

caguid=0x500
Ca	1 "H-0000000000000500"		# "idle mlx5_0"

caguid=0x900
Ca	1 "H-0000000000000900"		# "Mellanox Technologies Aggregation Node"
[1](901) 	"S-0000000000000010"[8]		# lid 9 lmc 0 "MF0;edge:MQM8700/U1" lid 1 4xHDR
)";

void hold_against(const CablePlan& plan, const Fabric& fabric) {
  const auto check = check_cables(plan, fabric);
  if (!check) {
    fuzz::require(check.error().message.starts_with("input"), "a contradiction names its file");
    return;
  }
  const std::size_t there = check->as_planned + check->swapped.size() + check->wrong_rate.size();
  fuzz::require(there + check->missing.size() == check->planned, "each cable of the plan is told of once");
  fuzz::require(check->planned <= plan.cables.size(), "no cable is made up");
  fuzz::require(check->right.size() == check->as_planned, "cables that are right are listed");
  const std::size_t told = there + check->unexpected.size();
  fuzz::require(plan.scope == Scope::Cables ? told <= fabric.links().size() : told == fabric.links().size(),
                "each link of the fabric is told of once");
}

std::string quoted(std::string_view cell) {
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? std::string{"\"\""} : std::string{c};
  return text + '"';
}

std::string list_of(const CablePlan& plan) {
  std::string text =
      "Line,StartDevice,StartPort,StartDeviceLocation,EndDevice,EndPort,EndDeviceLocation,Speed\n";
  for (const PlannedCable& cable : plan.cables) {
    text += std::to_string(cable.line);
    for (const PlannedEnd* end : {&cable.start, &cable.end}) {
      for (const std::string& cell : {end->device, end->port, end->location}) text += ',' + quoted(cell);
    }
    text += ',' + (cable.rate ? quoted(to_string(*cable.rate)) : std::string{}) + '\n';
  }
  return text;
}

bool same_end(const PlannedEnd& x, const PlannedEnd& y) {
  return x.device == y.device && x.port == y.port && x.location == y.location;
}

/// As far as six digits tell.
bool same_rate(const std::optional<NominalRate>& x, const std::optional<NominalRate>& y) {
  return x && y ? std::abs(x->gbit - y->gbit) <= 1e-5 * x->gbit : x.has_value() == y.has_value();
}

void write_and_read(const CablePlan& plan) {
  if (plan.cables.empty()) return;  // which no list may have
  const auto again = read_plan(list_of(plan), "written");
  fuzz::require(again.has_value() && again->cables.size() == plan.cables.size(), "what was read is a list");
  for (std::size_t i = 0; i < plan.cables.size(); ++i) {
    const PlannedCable& read = plan.cables[i];
    const PlannedCable& written = again->cables[i];
    fuzz::require(same_end(read.start, written.start) && same_end(read.end, written.end),
                  "ends are written as read");
    fuzz::require(same_rate(read.rate, written.rate), "rates are written as read");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto tree = *generate("tree:k=2,n=2");
  static const auto odd = parse_topology(site, "site").value().fabric;
  const auto text = fuzz::text(data, size);
  const auto plan = read_plan(text, "input");
  const auto list = parse_cable_list(text, "input");
  fuzz::require(list ? plan.has_value() : list.error().message.starts_with("input"),
                "a list is a plan, or refused with its file");
  if (!plan) {
    fuzz::require(plan.error().message.starts_with("input"), "an error names its file");
    return 0;
  }
  for (const auto& cable : plan->cables) {
    for (const PlannedEnd* end : {&cable.start, &cable.end})
      fuzz::require(!end->device.empty() && !end->port.empty(), "an end has a device and a port");
    fuzz::require(!cable.rate || std::isfinite(cable.rate->gbit), "a rate is a number");
  }
  hold_against(*plan, *tree);
  hold_against(*plan, *odd);
  if (list) {
    // Zeroes are dropped from the end of a cell, and blanks before them stay.
    if (text.find('\0') == std::string_view::npos) write_and_read(*plan);
    return 0;
  }
  const auto fabric = parse_topology(text, "input").value().fabric;
  hold_against(*plan, *fabric);
  const auto check = check_cables(*plan, *fabric);
  fuzz::require(check && check->same(), "a fabric is cabled as it is");
  write_and_read(*plan);
  return 0;
}
