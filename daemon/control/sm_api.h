/// /v1/sm/take: an operator makes the daemon stand for subnet manager (docs/api.md).
#pragma once

#include <functional>
#include <string>

#include "control/http.h"

namespace heddle::control {

using TakeSubnet = std::function<Result<std::string>(const std::string& by)>;

void answer_sm_take(const Request& request, const TakeSubnet& take, const Respond& respond);

}  // namespace heddle::control
