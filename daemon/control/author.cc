#include "control/author.h"

#include <fmt/format.h>

#include "base/printable.h"

namespace heddle::control {

std::string author(const Peer& peer, std::string_view claimed) {
  constexpr std::size_t longest = 64;  // a name of Linux has 32 letters at most
  const std::string name = printable(claimed.substr(0, longest));
  if (peer.empty()) return name;
  return name.empty() || name == peer ? peer : fmt::format("{} for {}", peer, name);
}

}  // namespace heddle::control
