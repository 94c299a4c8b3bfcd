// QoS plans and tables as text: what is read is what a port can hold, and is written and read as the same
// again. A port with two data VLs refuses what it has not.

#include <algorithm>

#include "fuzz/fuzz_target.h"
#include "qos/programming.h"
#include "qos/table_text.h"

namespace {

using namespace heddle;

void plan(std::string_view text) {
  const auto plan = qos::parse_plan(text, "input");
  if (!plan) return fuzz::require(plan.error().message.starts_with("input:"), "an error names its file");
  fuzz::require(check(*plan, qos::PortCapability{}).has_value(), "a plan that was read fits a port");
  const auto again = qos::parse_plan(qos::plan_text(*plan), "again");
  fuzz::require(again && *again == *plan, "a plan is written as it was read");
  const auto blocks = qos::blocks_of(plan->tables);
  for (std::size_t i = 0; i < plan->tables.high.size(); ++i) {
    const auto& entry = blocks.at(2 + i / qos::entries_per_block).at(i % qos::entries_per_block);
    fuzz::require(entry == plan->tables.high[i], "a block has the table's entries");
  }
  const std::string options = qos::opensm_options("qos", plan->tables, plan->map, 8);
  fuzz::require(std::ranges::count(options, '\n') == 5, "OpenSM gets five lines");
}

void narrow(std::string_view text) {
  constexpr qos::PortCapability port{.data_vls = 2};
  const auto table = qos::parse_table(text, "input", qos::WhichTable::High, port);
  if (table) {
    const bool fits = std::ranges::all_of(*table, [](const auto& entry) { return entry.vl.raw() < 2; });
    fuzz::require(fits, "a table is the port's");
  } else {
    fuzz::require(table.error().message.starts_with("input:"), "an error names its file");
  }
  const auto map = qos::parse_sl2vl(text, "input", port);
  fuzz::require(map || map.error().message.starts_with("input:"), "an error names its file");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text(data, size);
  plan(text);
  narrow(text);
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
