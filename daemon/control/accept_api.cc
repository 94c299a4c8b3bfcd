#include "control/accept_api.h"

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "acceptance/judge.h"
#include "base/printable.h"
#include "control/api.h"
#include "control/cabling_api.h"
#include "control/health_view.h"
#include "control/view_parts.h"
#include "control/what_if.h"

namespace heddle::control {
namespace {

using acceptance::Part;

/// What a report is made of: nothing that changes, but what it was.
struct AcceptInputs {
  DaemonState state;
  std::string no_regulation;  ///< why no baseline can be kept; empty: one can
  TwinParts twin;
  Ratio least = acceptance::usual_least;
};

Part cables_part(const AcceptInputs& inputs) {
  if (!inputs.no_regulation.empty()) return acceptance::not_judged("cables", inputs.no_regulation);
  const auto& baseline = inputs.state.baseline;
  if (!baseline) return acceptance::not_judged("cables", no_baseline().message);
  if (!baseline->found) return acceptance::not_judged("cables", "the baseline has not been compared yet");
  if (const std::string& trouble = baseline->found->trouble; !trouble.empty())
    return acceptance::not_judged("cables", printable(trouble));
  return acceptance::judge_cables(baseline->found->check, "the baseline");
}

Part health_part(const AcceptInputs& inputs) {
  std::string text;
  const auto written = write_health(inputs.state, {}, [&text](std::string_view part) { text.append(part); });
  if (!written) return acceptance::not_judged("health", written.error().message);
  return acceptance::judge_health(boost::json::parse(text));
}

std::vector<Part> judged(const AcceptInputs& inputs) {
  std::vector<Part> parts{cables_part(inputs), health_part(inputs)};
  auto twin = twin_source(inputs.twin);
  const auto routed =
      twin ? acceptance::read_back(*std::move(twin)) : Result<acceptance::Routed>{fail(twin.error())};
  if (!routed) {
    for (const char* name : {"routes", "bandwidth"})
      parts.push_back(acceptance::not_judged(name, routed.error().message));
    return parts;
  }
  parts.push_back(acceptance::judge_routes(*routed));
  const FabricNames known{routed->twin.fabric, inputs.twin.names};
  parts.push_back(acceptance::judge_bandwidth(*routed, known, inputs.least));
  return parts;
}

}  // namespace

void answer_accept(Daemon& daemon, const Request& request, const Respond& respond) {
  constexpr double all = 100;
  const auto least = real_of(request.query, "least", all * acceptance::usual_least.value());
  if (!least) return respond(error_response(least.error()));
  if (!(*least >= 0 && *least <= all))
    return respond(error_response({ErrorCode::Invalid, "least must be 0 to 100, in per cent"}));
  auto inputs = std::make_shared<AcceptInputs>();
  inputs->state = daemon.state();
  inputs->state.history = nullptr;
  if (daemon.regulation() == nullptr) inputs->no_regulation = daemon.why_no_regulation();
  inputs->twin = daemon.twin();
  inputs->least = Ratio{*least / all};
  if (!inputs->state.fabric || !inputs->twin.fabric) return respond(error_response(no_fabric()));
  auto order = order_for(request, [inputs = std::move(inputs)](BodyWriter& out) {
    out.write(boost::json::serialize(acceptance::view(judged(*inputs))));
    return Result<void>{};
  });
  order.lane = Lane::WhatIf;
  // A baseline may be another one before the next sample.
  if (const auto* regulation = daemon.regulation()) order.key += fmt::format(" {}", regulation->revision());
  daemon.answers().serve(std::move(order), respond);
}

}  // namespace heddle::control
