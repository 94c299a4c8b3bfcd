#include "power/savings.h"

namespace heddle::power {
namespace {

constexpr double seconds_a_year = 365.25 * 24 * 3600;
constexpr Joules kilowatt_hour{3.6e6};

}  // namespace

Ratio share_saved(const Draw& draw) {
  const Joules all = draw.totals.spent + draw.totals.saved;
  return all > Joules{} ? Ratio{draw.totals.saved / all} : Ratio{};
}

Yearly a_year_of(const Draw& draw, const Tariff& tariff) {
  const Watts full = draw.power + draw.saving;
  Yearly year{Joules{share_saved(draw).value() * full.value() * seconds_a_year}, std::nullopt};
  if (tariff.price) year.money = year.saved / kilowatt_hour * *tariff.price;
  return year;
}

}  // namespace heddle::power
