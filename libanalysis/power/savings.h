/// Savings in the units that people use: shares of what everything on would have spent, energy and money a
/// year.
#pragma once

#include <optional>
#include <string>

#include "power/energy_account.h"

namespace heddle::power {

/// What a kilowatt hour costs, as the operator says.
struct Tariff {
  std::optional<double> price;
  std::string currency = "EUR";  ///< as it is to be shown
};

struct Yearly {
  Joules saved;
  std::optional<double> money;  ///< none without a price
};

/// Of what everything on would have spent so far; 0 where nothing has been spent yet.
[[nodiscard]] Ratio share_saved(const Draw& draw);

/// A year of 365.25 days that saves the same share as has been saved so far, of what everything on draws at
/// present.
[[nodiscard]] Yearly a_year_of(const Draw& draw, const Tariff& tariff);

}  // namespace heddle::power
