#include "app/agents_key.h"

#include <chrono>

#include "control/tokens.h"

namespace heddle::app {

Result<std::optional<apm::Key>> key_of_agents(const Config& config) {
  if (config.agents.key_file.empty()) return std::optional<apm::Key>{};
  const auto text = control::read_secret(config.agents.key_file);
  if (!text) return fail("agents.key_file", text.error());
  const auto key = apm::parse_key(*text);
  if (!key) return fail("agents.key_file", key.error());
  return std::optional{*key};
}

std::uint64_t microseconds_of_day() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(since).count());
}

}  // namespace heddle::app
