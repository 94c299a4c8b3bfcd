#include "control/api.h"

#include <fmt/format.h>

#include <array>
#include <boost/json/value.hpp>
#include <string_view>
#include <utility>

#include "control/accept_api.h"
#include "control/cabling_api.h"
#include "control/health_view.h"
#include "control/jobs_view.h"
#include "control/list_views.h"
#include "control/sm_api.h"
#include "control/view_parts.h"
#include "control/views.h"
#include "control/what_if.h"
#include "fabric/ibnetdiscover.h"

namespace heddle::control {
namespace {

Response view_response(const Result<boost::json::value>& value) {
  if (!value) return error_response(value.error());
  return json_response(*value);
}

struct Route {
  std::string_view path;
  Response (*answer)(const DaemonState& state, const Query& query);
};

constexpr std::array routes{
    Route{"/v1/status",
          [](const DaemonState& state, const Query&) { return view_response(status_view(state)); }},
    Route{"/v1/node", [](const DaemonState& state,
                         const Query& query) { return view_response(node_view(state, query)); }},
    Route{"/v1/profile", [](const DaemonState& state,
                            const Query& query) { return view_response(profile_view(state, query)); }},
    Route{"/v1/locality",
          [](const DaemonState& state, const Query&) { return view_response(locality_view(state)); }},
};

/// What is as long as the fabric is large.
struct LongRoute {
  std::string_view path;
  Result<void> (*write)(const DaemonState& state, const Query& query, const TextSink& out);
};

Result<void> write_graph(const DaemonState& state, const Query& query, const TextSink& out) {
  const auto it = query.find("format");
  const std::string format = it == query.end() ? "json" : it->second;
  if (format == "json" || !state.fabric) return write_fabric(state, out);
  if (format != "ibnetdiscover") {
    return fail(ErrorCode::Invalid, fmt::format("format must be json or ibnetdiscover, not '{}'", format));
  }
  out(write_ibnetdiscover(*state.fabric));
  return {};
}

constexpr std::array long_routes{LongRoute{"/v1/links", write_links},
                                 LongRoute{"/v1/nodes", write_nodes},
                                 LongRoute{"/v1/fabric", write_graph},
                                 LongRoute{"/v1/health", write_health},
                                 LongRoute{"/v1/health/bit-errors", write_bit_errors},
                                 LongRoute{"/v1/jobs", write_jobs}};

Answers::Order long_order(const LongRoute& route, Daemon& daemon, const Request& request) {
  // Everything in it is immutable but the history.
  DaemonState state = daemon.state();
  state.history = nullptr;
  auto order = order_for(
      request, [write = route.write, state = std::move(state), query = request.query](BodyWriter& out) {
        return write(state, query, [&out](std::string_view text) { out.write(text); });
      });
  const auto format = request.query.find("format");
  if (format != request.query.end() && format->second == "ibnetdiscover") order.content_type = "text/plain";
  return order;
}

/// The query in the key is as it is understood: what it says besides makes no other answer.
void answer_scrape(Daemon& daemon, const Request& request, const Respond& respond) {
  auto scrape = daemon.metrics(request.query, request.takes_open_metrics);
  if (!scrape) return respond(error_response(scrape.error()));
  auto order = order_for(request, std::move(scrape->make));
  // What is before the question mark says how large it will be: a part is no measure of the whole.
  const bool whole = scrape->kind == Daemon::Scrape::Kind::Whole;
  order.key = request.path + (whole ? "?" : " in parts?") + scrape->key;
  order.content_type = scrape->content_type;
  order.headers.emplace_back("Vary", "Accept");
  // Parts have as many keys as there are parts: whoever asks for all of them is to keep nobody from the
  // whole.
  if (whole) order.lane = Lane::Metrics;
  if (scrape->kind != Daemon::Scrape::Kind::Chosen) {
    // No more of the query is kept than is understood.
    std::map<std::string, std::string> query;
    if (const auto shard = request.query.find("shard"); shard != request.query.end()) query.insert(*shard);
    order.again = [&daemon, query = std::move(query), open_metrics = request.takes_open_metrics] {
      return daemon.metrics(query, open_metrics).value().make;  // it was right before
    };
  }
  daemon.answers().serve(std::move(order), respond);
}

void answer_twin(Daemon& daemon, const Request& request, const Respond& respond) {
  TwinParts parts = daemon.twin();
  if (!parts.fabric) return respond(error_response(no_fabric()));
  auto order = order_for(request, [parts = std::move(parts)](BodyWriter& out) -> Result<void> {
    write_twin(parts, [&out](std::string_view text) { out.write(text); });
    return {};
  });
  daemon.answers().serve(std::move(order), respond);
}

void look_into_queues(Daemon& daemon, const Request& request, const Respond& respond) {
  // PortSamplesControl is written at the port: this one changes the fabric, if only for a moment.
  if (request.access < Access::Change) {
    return respond(error_response({ErrorCode::Refused,
                                   "looking into queues writes to the ports' agents: be root or in the "
                                   "daemon's group, on the control socket"}));
  }
  const auto ports = queue_ports(daemon.state(), request.query);
  if (!ports) return respond(error_response(ports.error()));
  auto begun =
      daemon.look_at_queues(*ports, [&daemon, respond](const std::vector<sampling::QueueLook>& looks) {
        respond(view_response(queues_view(daemon.state(), looks)));
      });
  if (!begun) respond(error_response(begun.error()));
}

}  // namespace

Handler api_handler(Daemon& daemon) {
  return [&daemon](const Request& request, const Respond& respond) {
    constexpr std::string_view reading = "GET, HEAD";
    const auto wrong = [&] { respond(wrong_method(std::string{reading})); };
    if (request.path == "/metrics") {
      if (request.post) return wrong();
      return answer_scrape(daemon, request, respond);
    }
    if (request.path == "/v1/queues") {
      if (request.post) return wrong();
      return look_into_queues(daemon, request, respond);
    }
    if (request.path == "/v1/twin") {
      if (request.post) return wrong();
      return answer_twin(daemon, request, respond);
    }
    if (request.path == "/v1/what-if") {
      if (request.post) return wrong();
      return answer_what_if(daemon, request, respond);
    }
    if (request.path == "/v1/accept") {
      if (request.post) return wrong();
      return answer_accept(daemon, request, respond);
    }
    if (request.path == "/v1/sm/take") {
      return answer_sm_take(
          request, [&daemon](const std::string& by) { return daemon.take_subnet(by); }, respond);
    }
    if (auto* qos = daemon.qos(); qos != nullptr && request.path.starts_with("/v1/qos"))
      return answer_qos(*qos, request, respond);
    if (answer_cabling(daemon, request, respond)) return;
    if (answer_regulation(daemon, request, respond)) return;
    for (const Route& route : routes) {
      if (route.path != request.path) continue;
      if (request.post) return wrong();
      return respond(route.answer(daemon.state(), request.query));
    }
    for (const LongRoute& route : long_routes) {
      if (route.path != request.path) continue;
      if (request.post) return wrong();
      return daemon.answers().serve(long_order(route, daemon, request), respond);
    }
    respond(error_response({ErrorCode::NotFound, fmt::format("there is nothing at {}", request.path)}));
  };
}

}  // namespace heddle::control
