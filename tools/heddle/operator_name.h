/// Who gives an order, for the journal and the log: whoever used sudo, else the user by the environment, else
/// by the uid, as there is none in the environment of cron, containers and many services.
#pragma once

#include <string>

namespace heddle::cli {

[[nodiscard]] std::string operator_name();

}  // namespace heddle::cli
