#include "control/api.h"

#include <fmt/format.h>

#include <array>
#include <boost/json/value.hpp>
#include <string_view>

#include "control/sm_api.h"
#include "control/views.h"
#include "fabric/ibnetdiscover.h"

namespace heddle::control {
namespace {

Response view_response(const Result<boost::json::value>& value) {
  if (!value) return error_response(value.error());
  return json_response(*value);
}

Response fabric_response(const DaemonState& state, const Query& query) {
  const auto it = query.find("format");
  const std::string format = it == query.end() ? "json" : it->second;
  if (format == "json") return view_response(fabric_view(state));
  if (!state.fabric) return view_response(fabric_view(state));
  if (format == "ibnetdiscover") return text_response("text/plain", write_ibnetdiscover(*state.fabric));
  return error_response(
      {ErrorCode::Invalid, fmt::format("format must be json or ibnetdiscover, not '{}'", format)});
}

struct Route {
  std::string_view path;
  Response (*answer)(const DaemonState& state, const Query& query);
};

constexpr std::array routes{
    Route{"/v1/status",
          [](const DaemonState& state, const Query&) { return view_response(status_view(state)); }},
    Route{"/v1/links", [](const DaemonState& state,
                          const Query& query) { return view_response(links_view(state, query)); }},
    Route{"/v1/nodes", [](const DaemonState& state,
                          const Query& query) { return view_response(nodes_view(state, query)); }},
    Route{"/v1/node", [](const DaemonState& state,
                         const Query& query) { return view_response(node_view(state, query)); }},
    Route{"/v1/profile", [](const DaemonState& state,
                            const Query& query) { return view_response(profile_view(state, query)); }},
    Route{"/v1/locality",
          [](const DaemonState& state, const Query&) { return view_response(locality_view(state)); }},
    Route{"/v1/fabric", fabric_response},
};

}  // namespace

Handler api_handler(Daemon& daemon) {
  return [&daemon](const Request& request, const Respond& respond) {
    if (request.path == "/metrics" && !request.post) {
      respond({200, "text/plain; version=0.0.4; charset=utf-8", nullptr, daemon.metrics()});
      return;
    }
    if (request.path == "/v1/queues" && !request.post) {
      const auto ports = queue_ports(daemon.state(), request.query);
      if (!ports) return respond(error_response(ports.error()));
      auto begun =
          daemon.look_at_queues(*ports, [&daemon, respond](const std::vector<sampling::QueueLook>& looks) {
            respond(view_response(queues_view(daemon.state(), looks)));
          });
      if (!begun) respond(error_response(begun.error()));
      return;
    }
    if (request.path == "/v1/sm/take") {
      return answer_sm_take(
          request, [&daemon](const std::string& by) { return daemon.take_subnet(by); }, respond);
    }
    if (auto* qos = daemon.qos(); qos != nullptr && request.path.starts_with("/v1/qos"))
      return answer_qos(*qos, request, respond);
    if (answer_regulation(daemon, request, respond)) return;
    for (const Route& route : routes) {
      if (route.path != request.path) continue;
      if (request.post) return respond(error_response({ErrorCode::Invalid, "this path is asked with GET"}));
      return respond(route.answer(daemon.state(), request.query));
    }
    respond(error_response({ErrorCode::NotFound, fmt::format("there is nothing at {}", request.path)}));
  };
}

}  // namespace heddle::control
