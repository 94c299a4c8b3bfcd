// Lines between the daemon and OpenSM's plugin, both ways, and the plugin's options.

#include "authority/opensm/plugin_event.h"
#include "core/events.h"
#include "core/options.h"
#include "fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const auto text = fuzz::text(data, size);
  const auto event = opensm::parse_plugin_event(text);
  fuzz::require(event.has_value() || !event.error().message.empty(), "a refusal says why");
  (void)plugin::parse_command(text);
  const auto options = plugin::parse_options(text);
  fuzz::require(options.has_value() || !options.error().message.empty(), "a refusal says why");
  return 0;
}
