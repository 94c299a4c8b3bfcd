/// What the regulation saves in the units that people use, and what that cost, as JSON (docs/api.md). Pure.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <map>
#include <string>

#include "core/regulation_control.h"
#include "power/savings.h"

namespace heddle::control {

struct Account {
  power::Parts parts;
  power::Tariff tariff;
  regulate::Regulator::Transitions transitions;
  /// Links between switches that stay on whatever their load, by why.
  std::map<std::string, std::size_t> always_on;
  std::size_t unknown_switches = 0;  ///< which nobody counts
};
[[nodiscard]] Account account(const core::RegulationState& state);
[[nodiscard]] boost::json::object account_view(const Account& account);

[[nodiscard]] boost::json::object totals_view(const power::EnergyTotals& totals);

}  // namespace heddle::control
