// What should be plugged where, in lists of cables as contractors and UFM write them: any text is read or
// refused with its file's name, and a fabric can be held against what was read.

#include <cmath>

#include "cabling/check.h"
#include "fabric/generators.h"
#include "fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  static const auto fabric = *generate("tree:k=2,n=2");
  const auto plan = cabling::read_plan(fuzz::text(data, size), "input");
  if (!plan) {
    fuzz::require(plan.error().message.starts_with("input"), "an error names its file");
    return 0;
  }
  for (const auto& cable : plan->cables) {
    fuzz::require(!cable.start.device.empty() && !cable.end.port.empty(), "an end has a device and a port");
    fuzz::require(!cable.rate || std::isfinite(cable.rate->gbit), "a rate is a number");
  }
  const auto check = cabling::check_cables(*plan, *fabric);
  if (!check) {
    fuzz::require(check.error().message.starts_with("input"), "a contradiction names its file");
    return 0;
  }
  const std::size_t told =
      check->as_planned + check->missing.size() + check->swapped.size() + check->wrong_rate.size();
  fuzz::require(told == check->planned, "each cable of the plan is told of once");
  fuzz::require(check->planned <= plan->cables.size(), "no cable is made up");
  return 0;
}
