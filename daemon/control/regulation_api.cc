#include "control/regulation_api.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <boost/json/object.hpp>
#include <charconv>
#include <cmath>
#include <memory>

#include "control/arguments.h"
#include "control/author.h"
#include "control/drain_api.h"
#include "control/regulation_views.h"
#include "fabric/link_name.h"

namespace heddle::control {
namespace {

namespace json = boost::json;
using core::RegulationControl;

RegulationControl::Reply reply_to(const Respond& respond) {
  return [respond](const Result<std::string>& result) {
    if (!result) return respond(error_response(result.error()));
    respond(json_response(json::object{{"text", *result}}));
  };
}

Result<void> set_mode(RegulationDesk& desk, const Request& request, const Respond& respond) {
  auto arguments = Arguments::read(request.body);
  if (!arguments) return fail(arguments.error());
  const auto mode = arguments->text("mode");
  const auto by = arguments->text("by");
  if (!mode) return fail(mode.error());
  if (!by) return fail(by.error());
  if (auto end = arguments->end(); !end) return end;
  const auto parsed = regulation::mode_from(*mode);
  if (!parsed) {
    return fail(ErrorCode::Invalid, fmt::format("mode must be off, advise or enforce, not '{}'", *mode));
  }
  desk.regulation()->set_mode(*parsed, author(request.peer, *by), reply_to(respond));
  desk.ordered();
  return {};
}

/// Also a link that is off with an end that has not been seen since the start, by its other end.
Result<LinkRef> find_link(const RegulationControl& regulation, const std::string& text) {
  const auto reference = regulation.reference();
  const FabricNames names{reference};
  const auto index = names.find_link(text);
  if (index) return link_ref(*reference, reference->link(*index));
  if (const auto end = names.find_port(text)) {
    const PortRef port = reference->ref(reference->port_index(*end));
    for (const LinkRef& link : regulation.off()) {
      if (link.a == port || link.b == port) return link;
    }
  }
  return fail(index.error());
}

/// The link that the request names. Errors: Unreachable before the first sweep; NotFound.
Result<LinkRef> link_of(RegulationDesk& desk, const std::string& text) {
  if (desk.regulation()->reference()) return find_link(*desk.regulation(), text);
  return fail(ErrorCode::Unreachable, "the fabric has not been discovered yet; ask again in a moment");
}

Result<void> set_link(RegulationDesk& desk, const Request& request, const Respond& respond) {
  auto arguments = Arguments::read(request.body);
  if (!arguments) return fail(arguments.error());
  const auto link = arguments->text("link");
  const auto wish_text = arguments->text("wish");
  const auto reason = arguments->text("reason");
  const auto by = arguments->text("by");
  const auto length = arguments->positive("for_seconds");
  const auto force = arguments->flag("force");
  for (const auto* text : {&link, &wish_text, &reason, &by}) {
    if (!*text) return fail(text->error());
  }
  if (!length) return fail(length.error());
  if (!force) return fail(force.error());
  if (auto end = arguments->end(); !end) return end;
  const auto wish = regulation::wish_from(*wish_text);
  if (!wish) {
    return fail(ErrorCode::Invalid, fmt::format("wish must be auto, off, on or pin, not '{}'", *wish_text));
  }
  const auto found = link_of(desk, *link);
  if (!found) return fail(found.error());
  const LinkRef ref = *found;
  regulation::Override value{*wish, *reason, author(request.peer, *by), std::nullopt};
  RegulationControl& regulation = *desk.regulation();
  if (*length > 0) value.until = regulation.now() + std::chrono::nanoseconds{std::llround(*length * 1e9)};
  const auto forced = *force ? regulation::Force::CutHostsOff : regulation::Force::No;
  regulation.set_override(ref, value, forced, reply_to(respond));
  desk.ordered();
  return {};
}

Result<void> forget_link(RegulationDesk& desk, const Request& request, const Respond& respond) {
  auto arguments = Arguments::read(request.body);
  if (!arguments) return fail(arguments.error());
  const auto link = arguments->text("link");
  const auto by = arguments->text("by");
  if (!link) return fail(link.error());
  if (!by) return fail(by.error());
  if (auto end = arguments->end(); !end) return end;
  const auto found = link_of(desk, *link);
  if (!found) return fail(found.error());
  desk.regulation()->forget_link(*found, author(request.peer, *by), reply_to(respond));
  desk.ordered();
  return {};
}

Result<void> forget_gone(RegulationDesk& desk, const Request& request, const Respond& respond) {
  auto arguments = Arguments::read(request.body);
  if (!arguments) return fail(arguments.error());
  const auto by = arguments->text("by");
  if (!by) return fail(by.error());
  if (auto end = arguments->end(); !end) return end;
  desk.regulation()->forget_gone(author(request.peer, *by), reply_to(respond));
  desk.ordered();
  return {};
}

Result<void> restore(RegulationDesk& desk, const Request& request, const Respond& respond) {
  auto arguments = Arguments::read(request.body);
  if (!arguments) return fail(arguments.error());
  const auto by = arguments->text("by");
  if (!by) return fail(by.error());
  const auto adopt = arguments->flag("adopt");
  if (!adopt) return fail(adopt.error());
  if (auto end = arguments->end(); !end) return end;
  const auto adopted = *adopt ? RegulationControl::Adopt::DisabledPorts : RegulationControl::Adopt::No;
  desk.regulation()->restore(author(request.peer, *by), adopted, reply_to(respond));
  desk.ordered();
  return {};
}

Result<std::uint64_t> whole(const Request& request, const std::string& key, std::uint64_t otherwise) {
  const auto it = request.query.find(key);
  if (it == request.query.end()) return otherwise;
  std::uint64_t value = 0;
  const std::string& text = it->second;
  const auto got = std::from_chars(text.data(), text.data() + text.size(), value);
  if (got.ec != std::errc{} || got.ptr != text.data() + text.size()) {
    return fail(ErrorCode::Invalid, fmt::format("{} must be a whole number, not '{}'", key, text));
  }
  return value;
}

Result<void> show_regulation(RegulationDesk& desk, const Request& /*request*/, const Respond& respond) {
  auto view = regulation_view(desk.regulation()->state());
  if (const auto agents = desk.host_agents()) view.as_object()["agents"] = host_agents_view(*agents);
  respond(json_response(view));
  return {};
}

Result<void> show_events(RegulationDesk& desk, const Request& request, const Respond& respond) {
  const auto after = whole(request, "after", 0);
  if (!after) return fail(after.error());
  const auto most = whole(request, "most", 100);
  if (!most) return fail(most.error());
  // The rest of them is for operators.
  constexpr std::size_t most_for_readers = 4;
  if (request.access == Access::Read && desk.regulation()->reads_waiting() >= most_for_readers) {
    respond(try_later(std::chrono::seconds{1}, "the log of decisions is being read for others"));
    return {};
  }
  desk.regulation()->events(
      *after, std::min<std::uint64_t>(*most, 1000),
      [after = *after, respond](const Result<std::vector<journal::Event>>& found) {
        respond(found ? json_response(events_view(*found, after)) : error_response(found.error()));
      });
  return {};
}

/// What is as long as the fabric is large: taken here as a value, written elsewhere.
template <class Value>
void serve_long(RegulationDesk& desk, const Request& request, const Respond& respond, Value value,
                void (*write)(const Value&, const TextSink&)) {
  auto order = order_for(
      request,
      [value = std::make_shared<const Value>(std::move(value)), write](BodyWriter& out) -> Result<void> {
        write(*value, [&out](std::string_view text) { out.write(text); });
        return {};
      });
  // Regulation does not wait for the next sample.
  order.key += fmt::format(" {}", desk.regulation()->revision());
  desk.answers().serve(std::move(order), respond);
}

Result<void> show_power_links(RegulationDesk& desk, const Request& request, const Respond& respond) {
  const auto most = whole(request, "top", UINT64_MAX);
  if (!most) return fail(most.error());
  const auto match = request.query.find("match");
  serve_long(
      desk, request, respond,
      power_links(desk.regulation()->state(), match == request.query.end() ? std::string{} : match->second,
                  *most, desk.regulation()->now()),
      write_power_links);
  return {};
}

Result<void> show_plan(RegulationDesk& desk, const Request& request, const Respond& respond) {
  serve_long(desk, request, respond,
             plan(desk.regulation()->state(), desk.regulation()->plan(), desk.regulation()->now()),
             write_plan);
  return {};
}

Result<void> show_energy(RegulationDesk& desk, const Request& request, const Respond& respond) {
  serve_long(desk, request, respond, energy(desk.regulation()->state(), desk.regulation()->energy()),
             write_energy);
  return {};
}

/// Responds, now or later, or says why it cannot.
using Answer = Result<void> (*)(RegulationDesk& desk, const Request& request, const Respond& respond);

struct Path {
  std::string_view path;
  Answer get;
  Answer post;
};

constexpr std::array paths{
    Path{"/v1/regulation", show_regulation, set_mode},  Path{"/v1/plan", show_plan, nullptr},
    Path{"/v1/links/power", show_power_links, nullptr}, Path{"/v1/energy", show_energy, nullptr},
    Path{"/v1/events", show_events, nullptr},           Path{"/v1/link", nullptr, set_link},
    Path{"/v1/link/forget", nullptr, forget_link},      Path{"/v1/restore", nullptr, restore},
    Path{"/v1/fabric/forget", nullptr, forget_gone},    Path{"/v1/drain", show_drains, order_drain},
};

}  // namespace

bool answer_regulation(RegulationDesk& desk, const Request& request, const Respond& respond) {
  for (const Path& path : paths) {
    if (path.path != request.path) continue;
    const Answer answer = request.post ? path.post : path.get;
    if (desk.regulation() == nullptr) {
      respond(error_response({ErrorCode::Unsupported, desk.why_no_regulation()}));
    } else if (answer == nullptr) {
      respond(wrong_method(request.post ? "GET, HEAD" : "POST"));
    } else if (auto begun = answer(desk, request, respond); !begun) {
      respond(error_response(begun.error()));
    }
    return true;
  }
  return false;
}

}  // namespace heddle::control
