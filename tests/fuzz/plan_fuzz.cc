// The plan for OpenSM's plugin, as it came and with a checksum that is right: what can be read is written and
// read as the same again.

#include <fmt/format.h>

#include <string>

#include "fuzz/fuzz_target.h"
#include "plan/checksum.h"
#include "plan/plan.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const std::string text{fuzz::text(data, size)};
  const auto check = [](const std::string& file) {
    const auto plan = plan::parse(file, "input");
    if (!plan) {
      fuzz::require(plan.error().message.starts_with("input"), "an error names its file");
      return;
    }
    const auto again = plan::parse(plan::to_text(*plan), "again");
    fuzz::require(again && *again == *plan, "a plan is written as it was read");
  };
  check(text);
  // All but whole plans die by their checksum: what follows it.
  check(fmt::format("{{\"checksum\":\"{:016x}\"{}", plan::checksum(text), text));
  if (const auto qos = plan::parse_qos(text, "input")) {
    plan::Plan with;
    with.qos = *qos;
    const auto again = plan::parse(plan::to_text(with), "again");
    fuzz::require(again && again->qos == with.qos, "QoS is written as it was read");
  }
  return 0;
}
