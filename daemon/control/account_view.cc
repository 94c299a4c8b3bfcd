#include "control/account_view.h"

#include "base/units.h"

namespace heddle::control {
namespace {

namespace json = boost::json;
using regulate::Regulator;

constexpr double joules_a_kilowatt_hour = 3.6e6;

json::object part_view(const power::Draw& draw) {
  json::object view{{"power_watts", draw.power.value()}, {"saving_watts", draw.saving.value()}};
  for (auto& member : totals_view(draw.totals)) view[member.key()] = member.value();
  view["saved_share"] = power::share_saved(draw).value();
  return view;
}

json::object year_view(const Account& account) {
  const power::Yearly year = power::a_year_of(account.parts.network, account.tariff);
  json::object view{{"saved_kwh", year.saved.value() / joules_a_kilowatt_hour}};
  if (year.money) {
    view["saved_money"] = *year.money;
    view["price"] = *account.tariff.price;
    view["currency"] = account.tariff.currency;
  }
  return view;
}

json::object cost_view(const Account& account) {
  const Regulator::Transitions& done = account.transitions;
  json::object always_on;
  for (const auto& [why, links] : account.always_on) always_on[why] = links;
  return {{"turned_off", done.off},
          {"turned_on", done.on},
          {"reduced", done.reduced},
          {"failed", done.failed},
          {"waited_seconds", seconds(done.waited)},
          {"longest_wait_seconds", seconds(done.longest)},
          {"always_on", std::move(always_on)}};
}

}  // namespace

json::object totals_view(const power::EnergyTotals& totals) {
  return {{"spent_joules", totals.spent.value()}, {"saved_joules", totals.saved.value()}};
}

Account account(const core::RegulationState& state) {
  Account account{state.parts, state.tariff, state.transitions, {}, state.unknown_switches};
  for (const auto& link : state.links) {
    const bool between_switches = link.exempt != regulation::Exempt::HostLink;
    if (between_switches && link.exempt != regulation::Exempt::No)
      ++account.always_on[std::string{to_string(link.exempt)}];
  }
  return account;
}

json::object account_view(const Account& account) {
  json::object view{{"links", part_view(account.parts.links)},
                    {"switches", part_view(account.parts.switches)},
                    {"network", part_view(account.parts.network)},
                    {"year", year_view(account)},
                    {"cost", cost_view(account)}};
  if (account.unknown_switches > 0) view["unknown_switches"] = account.unknown_switches;
  return view;
}

}  // namespace heddle::control
