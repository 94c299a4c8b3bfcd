#include "base/ids.h"

#include <fmt/format.h>

namespace heddle {

std::string to_string(NodeGuid guid) { return fmt::format("{:#018x}", guid.raw()); }
std::string to_string(PortGuid guid) { return fmt::format("{:#018x}", guid.raw()); }
std::string to_string(const PortRef& port) {
  return fmt::format("{}/{}", to_string(port.node), port.port.raw());
}

}  // namespace heddle
