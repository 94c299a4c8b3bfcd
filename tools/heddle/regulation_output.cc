#include "heddle/regulation_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <vector>

#include "base/json_access.h"
#include "base/printable.h"
#include "base/text.h"
#include "heddle/accounts.h"
#include "heddle/table.h"

namespace heddle::cli {
namespace {

using boost::json::value;

constexpr std::size_t most_savers = 20;

std::string human_watts(double watts) { return fmt::format("{:.1f} W", watts); }

std::string human_energy(double joules) {
  const double kilowatt_hours = joules / 3.6e6;
  return kilowatt_hours < 1 ? fmt::format("{:.1f} Wh", kilowatt_hours * 1e3)
                            : fmt::format("{:.2f} kWh", kilowatt_hours);
}

std::string share(double part, double rest) {
  return part + rest > 0 ? human(Ratio{part / (part + rest)}) : "-";
}

/// Shares, a year, and what it cost; nothing from a daemon that does not tell them.
void print_account(const value& answer, Table& table) {
  const value& account = at_path(answer, "account");
  if (!account.is_object()) return;
  const auto saved = [&](const char* part) {
    return human(Ratio{number_at(account, fmt::format("{}.saved_share", part))});
  };
  table.add({"share saved", fmt::format("{} of link power, {} of switch power, {} of network power",
                                        saved("links"), saved("switches"), saved("network"))});
  const double year = number_at(account, "year.saved_kwh");
  std::string a_year = fmt::format("{:.0f} kWh", year);
  if (at_path(account, "year.saved_money").is_number()) {
    a_year += fmt::format(", {:.0f} {} at {} a kWh", number_at(account, "year.saved_money"),
                          printable(text_at(account, "year.currency")), number_at(account, "year.price"));
  }
  table.add({"a year at this rate", a_year + " saved"});
  const std::int64_t on = count_at(account, "cost.turned_on");
  table.add(
      {"at the cost of",
       fmt::format("{} turned off, {} on, {} reduced, {} failed{}", count_at(account, "cost.turned_off"), on,
                   count_at(account, "cost.reduced"), count_at(account, "cost.failed"),
                   on == 0 ? std::string{}
                           : fmt::format("; {} waited for links to come back, {} for the slowest",
                                         human_seconds(number_at(account, "cost.waited_seconds")),
                                         human_seconds(number_at(account, "cost.longest_wait_seconds"))))});
  if (const auto unknown = count_at(account, "unknown_switches"); unknown > 0)
    table.add({"not counted", fmt::format("{} switches that no power model knows", unknown)});
  if (const auto* always_on = at_path(account, "cost.always_on").if_object(); always_on != nullptr) {
    for (const auto& why : *always_on) {
      table.add({"always on",
                 fmt::format("{} links: {}", count_at(why.value(), ""), printable(std::string(why.key())))});
    }
  }
}

/// Which hosts move their connections between planes, and what share of the load cannot.
void print_agents(const value& agents, Table& table) {
  const auto count = [&](const char* what) { return count_at(agents, what); };
  table.add({"hosts", fmt::format("{}, {} with an agent, {} can move all that they send", count("hosts"),
                                  count("agents"), count("able"))});
  const value& share = at_path(agents, "immovable_share");
  table.add({"cannot move", share.is_null() ? std::string{"no load yet"}
                                            : human(Ratio{share.to_number<double>()}) + " of the load"});
  table.add({"tables", truth_at(agents, "by_planes") ? "plane by plane, hosts move between" : "in stages"});
  std::string moves = fmt::format("{} orders to move, {} failed", count("moves"), count("failed_moves"));
  if (const auto trouble = text_at(agents, "trouble"); !trouble.empty()) moves += ": " + printable(trouble);
  table.add({"connections", fmt::format("{}, {} armed; {}", count("connections"), count("armed"), moves)});
}

/// Links that are left on because they took minutes, some of them by name; empty if none.
std::string slow_links(const value& answer) {
  constexpr std::size_t most_named = 8;
  return list_of(array_at(answer, "slow"), most_named, [](const value& link) {
    return fmt::format("{} ({})", printable(text_at(link, "link")),
                       human_seconds(number_at(link, "took_seconds")));
  });
}

/// Switches that carry nothing; empty if none.
std::string idle_switches(const value& plan) {
  constexpr std::size_t most_named = 8;
  const auto& idle = array_at(plan, "idle_switches");
  if (idle.empty()) return {};
  double watts = 0;
  for (const value& each : idle) {
    if (at_path(each, "base_watts").is_number()) watts += number_at(each, "base_watts");
  }
  const std::string text = list_of(idle, most_named, [](const value& each) {
    const bool known = at_path(each, "base_watts").is_number();
    return fmt::format("{} ({}, {})", printable(text_at(each, "switch")),
                       known ? human_watts(number_at(each, "base_watts")) : "W unknown",
                       count_at(each, "links_on") == 0 ? "all links off" : "one link for managers");
  });
  return fmt::format("{} {} nothing then, and {} {} with all ports off: {}", idle.size(),
                     idle.size() == 1 ? "switch carries" : "switches carry",
                     idle.size() == 1 ? "draws" : "draw", human_watts(watts), text);
}

/// Which rules keep links on, and of the links of each the busiest.
void print_held(const value& plan, Context& context) {
  const auto& held = array_at(plan, "held");
  if (held.empty()) return;
  Table table{{{"HELD ON", Align::Right}, {"POWER", Align::Right}, {"BECAUSE"}, {"OF THEM THE BUSIEST"}}};
  for (const auto& each : held) {
    table.add({fmt::format("{}", count_at(each, "links")), human_watts(number_at(each, "watts")),
               printable(text_at(each, "rule")),
               fmt::format("{}, {}", printable(text_at(each, "example")),
                           human(Ratio{number_at(each, "busiest")}))});
  }
  table.print(*context.out, context.colour);
}

}  // namespace

void print_regulation(const value& answer, Context& context) {
  Table table{{{"regulation"}, {text_at(answer, "mode")}}};
  table.add({"doing", text_at(answer, "stage")});
  std::string states;
  if (const auto* links = at_path(answer, "links").if_object()) {
    for (const auto& state : *links) {
      states += fmt::format("{}{} {}", states.empty() ? "" : ", ", state.value().to_number<std::int64_t>(),
                            std::string(state.key()));
    }
  }
  table.add({"links between switches", states.empty() ? "not known yet" : states});
  table.add({"power",
             fmt::format("{}, {} less than with everything on", human_watts(number_at(answer, "power_watts")),
                         human_watts(number_at(answer, "saving_watts")))});
  const double spent = number_at(answer, "spent_joules");
  const double saved = number_at(answer, "saved_joules");
  table.add({"energy", fmt::format("{} spent, {} saved ({})", human_energy(spent), human_energy(saved),
                                   share(saved, spent))});
  table.add({"since the start",
             fmt::format("{} turned off, {} on, {} reduced, {} failed", count_at(answer, "transitions.off"),
                         count_at(answer, "transitions.on"), count_at(answer, "transitions.reduced"),
                         count_at(answer, "transitions.failed"))});
  if (at_path(answer, "agents").is_object()) print_agents(at_path(answer, "agents"), table);
  if (const std::string slow = slow_links(answer); !slow.empty())
    table.add({"left on: took minutes to come back", slow});
  table.print(*context.out, context.colour);
  for (const auto& host : array_at(answer, "agents.immovable_hosts"))
    *context.out << "  - host " << printable(text_at(host, "")) << '\n';
  for (const auto& problem : array_at(answer, "problems"))
    *context.out << "  - " << text_at(problem, "") << '\n';
}

void print_plan(const value& answer, Context& context) {
  const value& plan = at_path(answer, "plan");
  if (plan.is_null()) {
    *context.out << "There is no plan yet: it takes loads that have been measured for a while.\n";
    return;
  }
  const auto& changes = array_at(plan, "changes");
  if (changes.empty()) {
    *context.out << "Nothing is to be changed.\n";
  } else {
    Table table{{{"LINK"}, {"TURN"}, {"TO"}, {"WHY"}}};
    for (const auto& change : changes) {
      table.add({text_at(change, "link"), text_at(change, "turn"), text_at(change, "mode"),
                 with_account_names(text_at(change, "reason"))});
    }
    table.print(*context.out, context.colour);
  }
  *context.out << fmt::format(
      "mode {}; loads of {} ago\n"
      "links between switches: {} now, {} then, {} at the least; the busiest one {} busy then\n",
      text_at(answer, "mode"), human_seconds(number_at(plan, "age_seconds")),
      human_watts(number_at(plan, "watts_now")), human_watts(number_at(plan, "watts_then")),
      human_watts(number_at(plan, "watts_least")), human(Ratio{number_at(plan, "busiest")}));
  if (const std::string note = text_at(plan, "note"); !note.empty()) *context.out << note << '\n';
  print_held(plan, context);
  if (const std::string idle = idle_switches(plan); !idle.empty()) *context.out << idle << '\n';
  if (const std::string slow = slow_links(answer); !slow.empty())
    *context.out << "left on, as they took minutes to come back: " << slow << '\n';
}

void print_power_links(const value& answer, Context& context) {
  Table table{{{"LINK"},
               {"STATE"},
               {"RUNS"},
               {"FULL"},
               {"FOR", Align::Right},
               {"CHANGES", Align::Right},
               {"WISH"},
               {"LEFT ON"},
               {"WHY"}}};
  for (const auto& link : array_at(answer, "links")) {
    const std::string exempt = text_at(link, "exempt");
    table.add({text_at(link, "name"), text_at(link, "state"), text_at(link, "mode"), text_at(link, "full"),
               human_seconds(number_at(link, "for_seconds")),
               fmt::format("{}", count_at(link, "transitions")), text_at(link, "wish"),
               exempt == "regulated" ? "" : exempt, with_account_names(text_at(link, "reason"))});
  }
  table.print(*context.out, context.colour);
}

void print_energy(const value& answer, Context& context) {
  Table total{{{"energy"}, {""}}};
  const double spent = number_at(answer, "total.spent_joules");
  const double saved = number_at(answer, "total.saved_joules");
  total.add({"spent", human_energy(spent)});
  total.add({"saved",
             fmt::format("{} ({} of what would have been spent)", human_energy(saved), share(saved, spent))});
  total.add({"power",
             fmt::format("{}, {} less than with everything on", human_watts(number_at(answer, "power_watts")),
                         human_watts(number_at(answer, "saving_watts")))});
  print_account(answer, total);
  for (const auto& each : array_at(answer, "measured")) {
    total.add({"measured",
               fmt::format("{}: {}; {} by the model, {} as it is fitted to that",
                           printable(text_at(each, "switch")), human_watts(number_at(each, "measured_watts")),
                           human_watts(number_at(each, "modelled_watts")),
                           human_watts(number_at(each, "calibrated_watts")))});
  }
  total.print(*context.out, context.colour);
  std::vector<const value*> links;
  for (const auto& link : array_at(answer, "links")) {
    if (number_at(link, "saved_joules") > 0) links.push_back(&link);
  }
  if (links.empty()) return;
  std::stable_sort(links.begin(), links.end(), [](const value* x, const value* y) {
    return number_at(*x, "saved_joules") > number_at(*y, "saved_joules");
  });
  if (links.size() > most_savers) links.resize(most_savers);
  *context.out << '\n';
  Table table{{{"LINK"}, {"SPENT", Align::Right}, {"SAVED", Align::Right}}};
  for (const value* link : links) {
    table.add({text_at(*link, "name"), human_energy(number_at(*link, "spent_joules")),
               human_energy(number_at(*link, "saved_joules"))});
  }
  table.print(*context.out, context.colour);
}

void print_events(const value& answer, Context& context) {
  for (const auto& event : array_at(answer, "events")) {
    const std::string links = text_at(event, "links");
    *context.out << fmt::format("{} {:<10} {}{}{}\n", text_at(event, "at"), text_at(event, "kind"), links,
                                links.empty() ? "" : ": ", with_account_names(text_at(event, "text")));
  }
}

}  // namespace heddle::cli
