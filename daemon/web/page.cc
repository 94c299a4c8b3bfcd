#include "web/page.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>
#include <utility>

#include "control/regulation_views.h"
#include "control/views.h"
#include "fabric/change.h"
#include "web/asset_response.h"
#include "web/assets.h"
#include "web/profiles.h"
#include "web/standing.h"

namespace heddle::web {
namespace {

using control::DaemonState;
using control::Request;
using control::Response;

Response not_yet() {
  return control::error_response(
      {ErrorCode::Unreachable, "the fabric has not been sampled yet; ask again in a moment"});
}

/// History belongs to the sample's fabric, except while a sweep over another one is under way.
bool has_history(const DaemonState& state) {
  return state.sample && state.history != nullptr && state.history->fabric() == state.sample->fabric;
}

Response times(const DaemonState& state) {
  if (!has_history(state)) return not_yet();
  std::string text = fmt::format(R"({{"interval":{},"depth":{},"times":[)", seconds(state.sampling.interval),
                                 state.history->depth());
  for (const Instant at : state.history->times()) {
    if (text.back() != '[') text += ',';
    text += fmt::format("{:.3f}", seconds(at.time_since_epoch()));
  }
  return control::text_response("application/json", text + "]}\n");
}

/// The sweep that ended nearest to a time.
std::optional<std::size_t> nearest(const std::vector<Instant>& times, double at) {
  std::optional<std::size_t> best;
  double distance = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double off = std::abs(seconds(times[i].time_since_epoch()) - at);
    if (best && off >= distance) continue;
    best = i;
    distance = off;
  }
  return best;
}

Response profile(const DaemonState& state, const Request& request) {
  if (!has_history(state)) return not_yet();
  const auto text = summed_profile(state, request.query);
  return text ? control::text_response("application/json", *text) : control::error_response(text.error());
}

}  // namespace

Page::Page(control::Daemon& daemon, Feed::Later later, FeedLimits limits)
    : daemon_{daemon},
      feed_{std::move(later),
            [this](const std::shared_ptr<const load::Sample>& sample) {
              DaemonState state = daemon_.state();
              state.sample = sample;
              return current(state).shape;
            },
            [this](const load::Sample& sample) { return look(sample); }, limits} {}

Picture Page::look(const load::Sample& sample) {
  Picture picture = picture_of(sample);
  if (const auto* regulation = daemon_.regulation(); regulation != nullptr && regulation->reference())
    add_power(picture, sample, regulation->state().links);
  if (const auto* qos = daemon_.qos()) {
    const core::QosState state = qos->state();
    if (state.verified && state.ports > 0) add_drift(picture, sample, state.drift);
  }
  if (const auto rates = daemon_.state().bit_errors) {
    if (rates != rates_ || sample.fabric != rates_on_) bits_ = bit_errors_of(*sample.fabric, *rates);
    rates_ = rates;
    rates_on_ = sample.fabric;
    picture.bits = bits_;
  }
  return picture;
}

Response Page::link(const Request& request) {
  const DaemonState state = daemon_.state();
  auto view = control::link_view(state, request.query);
  if (!view) return control::error_response(view.error());
  boost::json::object& object = view->as_object();
  const LinkIndex index = *control::link_named(state, request.query);
  const Link& link = state.fabric->link(index);
  object["routes"] = boost::json::object{};
  for (const auto& [key, end] : {std::pair{"a_to_b", link.a}, std::pair{"b_to_a", link.b}}) {
    const PortRef from{state.fabric->node(end.node).guid, end.port};
    object["routes"].as_object()[key] = routes_view(*state.fabric, daemon_.lids_through(from));
  }
  object["regulation"] = nullptr;
  if (const auto* regulation = daemon_.regulation())
    object["regulation"] =
        control::power_link_view(regulation->state(), link_ref(*state.fabric, link), regulation->now());
  return control::text_response("application/json", boost::json::serialize(*view));
}

const Topology& Page::current(const DaemonState& state) {
  if (drawn_ != state.sample->fabric || sets_drawn_ != state.sample->set_names) {
    topology_ = make_topology(state);
    drawn_ = state.sample->fabric;
    sets_drawn_ = state.sample->set_names;
  }
  return topology_;
}

void Page::topology(const Request& request, const control::Respond& respond) {
  const DaemonState state = daemon_.state();
  if (!state.sample) return respond(not_yet());
  const Topology& topology = current(state);
  const std::string tag = '"' + topology.shape + '"';
  auto order = control::order_for(request, [text = topology.text](control::BodyWriter& out) -> Result<void> {
    out.write(*text);
    return {};
  });
  order.key = request.path + '?' + topology.shape;
  order.headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}};
  if (!client_has(request, tag)) return daemon_.answers().serve(std::move(order), respond);
  Response unchanged = control::text_response("application/json", "");
  unchanged.status = 304;
  unchanged.headers = std::move(order.headers);
  respond(std::move(unchanged));
}

Response Page::slice(const Request& request) {
  const DaemonState state = daemon_.state();
  if (!has_history(state)) return not_yet();
  const auto it = request.query.find("at");
  double at = 0;
  const std::string text = it == request.query.end() ? "" : it->second;
  const auto got = std::from_chars(text.data(), text.data() + text.size(), at);
  if (got.ec != std::errc{} || got.ptr != text.data() + text.size() || !std::isfinite(at)) {
    return control::error_response(
        {ErrorCode::Invalid, fmt::format("at must be seconds of the fabric's clock, not '{}'", text)});
  }
  const auto kept = state.history->times();
  const auto place = nearest(kept, at);
  if (!place) return not_yet();
  return control::text_response(
      "application/json",
      slice_text(*state.sample, picture_of(*state.sample, *state.history, *place, state.sets.get()),
                 current(state).shape, kept[*place]));
}

Response Page::events() {
  if (!daemon_.state().sample) return not_yet();
  auto pieces = feed_.subscribe();
  if (!pieces) return control::error_response(pieces.error());
  return {200, "text/event-stream", nullptr, std::move(*pieces)};
}

control::Handler Page::handler(control::Handler next) {
  return [this, next = std::move(next)](const Request& request, const control::Respond& respond) {
    if (request.post) return next(request, respond);
    if (request.path == "/v1/page/topology") return topology(request, respond);
    if (request.path == "/v1/page/events") return respond(events());
    if (request.path == "/v1/page/link") return respond(link(request));
    if (request.path == "/v1/page/times") return respond(times(daemon_.state()));
    if (request.path == "/v1/page/slice") return respond(slice(request));
    if (request.path == "/v1/page/profile") return respond(profile(daemon_.state(), request));
    if (auto asset = asset_response(page_assets(), request)) return respond(std::move(*asset));
    if (request.path == "/") {
      return respond(control::error_response(
          {ErrorCode::NotFound, "this heddled was built without the page (HEDDLE_PAGE=OFF)"}));
    }
    next(request, respond);
  };
}

}  // namespace heddle::web
