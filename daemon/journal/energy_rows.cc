#include "journal/energy_rows.h"

#include <algorithm>
#include <span>
#include <utility>

#include "journal/rows.h"

namespace heddle::journal {
namespace {

void bind_totals(Statement& row, const power::EnergyTotals& totals) {
  row.bind(totals.spent.value()).bind(totals.saved.value());
}

power::EnergyTotals totals_from(const Statement& row, int column) {
  return {Joules{row.real(column)}, Joules{row.real(column + 1)}};
}

}  // namespace

Result<void> store_energy(Database& database, const power::EnergyRecord& record) {
  auto cleared = database.run("DELETE FROM energy_link; DELETE FROM energy_switch; DELETE FROM energy_total");
  if (!cleared) return cleared;
  auto links = run_each(database, "INSERT INTO energy_link VALUES(?,?,?,?,?,?)", record.links,
                        [](Statement& row, const auto& link) {
                          bind_link(row, link.first);
                          bind_totals(row, link.second);
                        });
  if (!links) return links;
  auto switches = run_each(database, "INSERT INTO energy_switch VALUES(?,?,?)", record.switches,
                           [](Statement& row, const auto& node) {
                             row.bind(raw(node.first));
                             bind_totals(row, node.second);
                           });
  if (!switches) return switches;
  return run_each(database, "INSERT INTO energy_total VALUES(?,?)", std::span(&record.total, 1), bind_totals);
}

Result<power::EnergyRecord> read_energy(const Database& database) {
  power::EnergyRecord record;
  using Link = std::pair<LinkRef, power::EnergyTotals>;
  auto links = read_rows<Link>(database, "SELECT * FROM energy_link ORDER BY a_node, a_port",
                               [](const Statement& row) {
                                 return Link{link_from(row), totals_from(row, 4)};
                               });
  if (!links) return fail(links.error());
  record.links = *std::move(links);
  using Switch = std::pair<NodeGuid, power::EnergyTotals>;
  auto switches =
      read_rows<Switch>(database, "SELECT * FROM energy_switch ORDER BY node", [](const Statement& row) {
        return Switch{guid_from(row.integer(0)), totals_from(row, 1)};
      });
  if (!switches) return fail(switches.error());
  record.switches = *std::move(switches);
  // SQLite's integers are signed, and GUIDs are not.
  std::sort(record.links.begin(), record.links.end(),
            [](const Link& x, const Link& y) { return x.first < y.first; });
  std::sort(record.switches.begin(), record.switches.end(),
            [](const Switch& x, const Switch& y) { return x.first < y.first; });
  auto total = read_rows<power::EnergyTotals>(database, "SELECT spent, saved FROM energy_total",
                                              [](const Statement& row) { return totals_from(row, 0); });
  if (!total) return fail(total.error());
  if (!total->empty()) record.total = total->front();
  return record;
}

}  // namespace heddle::journal
