#include "acceptance/proof_view.h"

#include <boost/json/object.hpp>
#include <string_view>
#include <utility>

namespace heddle::acceptance {
namespace {

namespace json = boost::json;

std::string_view fault_name(routing::Fault fault) {
  switch (fault) {
    case routing::Fault::NoPath:
      return "no_path";
    case routing::Fault::DeadEnd:
      return "dead_end";
    case routing::Fault::Loop:
      return "loop";
    case routing::Fault::Deadlock:
      return "deadlock";
  }
  return "unknown";
}

json::object finding_view(const routing::Finding& finding, const routing::SwitchGraph& graph) {
  json::array steps;
  for (const routing::Step& step : finding.steps) {
    steps.push_back(json::object{{"switch", to_string(graph.guid(step.sw))},
                                 {"port", step.out.raw()},
                                 {"table", step.table},
                                 {"vl", step.vl},
                                 {"lid", step.lid.raw()}});
  }
  return {{"fault", fault_name(finding.fault)},
          {"destination", finding.destination.raw()},
          {"stage", finding.stage},
          {"steps", std::move(steps)}};
}

}  // namespace

json::array findings_view(const routing::Proof& proof, const routing::SwitchGraph& graph) {
  json::array findings;
  for (const routing::Finding& finding : proof.findings) findings.push_back(finding_view(finding, graph));
  return findings;
}

}  // namespace heddle::acceptance
