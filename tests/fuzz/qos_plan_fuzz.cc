// QoS plans and tables as text: what is read is what a port can hold, and is written and read as the same
// again.

#include "fuzz/fuzz_target.h"
#include "qos/programming.h"
#include "qos/table_text.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const auto text = fuzz::text(data, size);
  if (const auto plan = qos::parse_plan(text, "input")) {
    fuzz::require(check(*plan, qos::PortCapability{}).has_value(), "a plan that was read fits a port");
    const auto again = qos::parse_plan(qos::plan_text(*plan), "again");
    fuzz::require(again && *again == *plan, "a plan is written as it was read");
  } else {
    fuzz::require(plan.error().message.starts_with("input:"), "an error names its file");
  }
  if (const auto table = qos::parse_table(text, "input", qos::WhichTable::Low)) {
    const auto again = qos::parse_table(qos::to_lines(*table), "again", qos::WhichTable::Low);
    fuzz::require(again && *again == *table, "a table is written as it was read");
  }
  if (const auto map = qos::parse_sl2vl(text, "input")) {
    const auto again = qos::parse_sl2vl(qos::to_opensm(*map), "again");
    fuzz::require(again && *again == *map, "a map is written as it was read");
  }
  return 0;
}
