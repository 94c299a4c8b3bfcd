// The plan for OpenSM's plugin, with its checksum put right where the input asks for that: what can be read
// is written and read as the same again.

#include <string>

#include "fuzz/fuzz_target.h"
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
  // Most inputs die by their checksum: the text behind a good plan's head.
  static const std::string good = plan::to_text({});
  const auto head = good.find('\n');
  check(good.substr(0, head + 1) + text);
  if (const auto qos = plan::parse_qos(text, "input")) {
    plan::Plan with;
    with.qos = *qos;
    const auto again = plan::parse(plan::to_text(with), "again");
    fuzz::require(again && again->qos == with.qos, "QoS is written as it was read");
  }
  return 0;
}
