#include "control/sm_api.h"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "control/author.h"

namespace heddle::control {

namespace json = boost::json;

void answer_sm_take(const Request& request, const TakeSubnet& take, const Respond& respond) {
  if (!request.post) {
    return respond(error_response({ErrorCode::Invalid, "this path is asked with POST"}));
  }
  if (request.access != Access::Root) {
    return respond(error_response(
        {ErrorCode::Refused, "only root decides who manages the fabric: ask again as root (sudo)"}));
  }
  boost::system::error_code wrong;
  const json::value body = json::parse(request.body.empty() ? "{}" : request.body, wrong);
  const auto* arguments = wrong ? nullptr : body.if_object();
  const auto* force = arguments != nullptr ? arguments->if_contains("force") : nullptr;
  if (force == nullptr || !force->is_bool() || !force->as_bool()) {
    return respond(error_response(
        {ErrorCode::Invalid,
         "two subnet managers on one fabric destroy each other's work: look first whether the other one is "
         "gone for good, then say so with --force"}));
  }
  const auto* by = arguments->if_contains("by");
  const auto text =
      take(author(request.peer, by != nullptr && by->is_string() ? std::string_view{by->as_string()} : ""));
  if (!text) return respond(error_response(text.error()));
  respond(text_response("application/json", json::serialize(json::object{{"text", *text}}) + "\n"));
}

}  // namespace heddle::control
