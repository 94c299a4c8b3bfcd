#include "journal/cable_rows.h"

#include <algorithm>

#include "journal/rows.h"

namespace heddle::journal {

Result<void> store_cables(Database& database, std::span<const Cable> cables) {
  auto put = run_each(database,
                      "INSERT INTO cable VALUES(?,?,?,?,?,?) "
                      "ON CONFLICT(a_node, a_port, b_node, b_port) DO UPDATE SET a=excluded.a, b=excluded.b "
                      "WHERE a<>excluded.a OR b<>excluded.b",
                      cables, [](Statement& row, const Cable& each) {
                        bind_link(row, each.link);
                        row.bind(each.a).bind(each.b);
                      });
  if (!put) return put;
  auto stored = read_cables(database);
  if (!stored) return fail(stored.error());
  std::vector<LinkRef> wanted;
  for (const Cable& cable : cables) wanted.push_back(cable.link);
  std::sort(wanted.begin(), wanted.end());
  std::erase_if(*stored, [&](const Cable& each) {
    return std::binary_search(wanted.begin(), wanted.end(), each.link);
  });
  return run_each(database, "DELETE FROM cable WHERE a_node=? AND a_port=? AND b_node=? AND b_port=?",
                  *stored, [](Statement& row, const Cable& gone) { bind_link(row, gone.link); });
}

Result<std::vector<Cable>> read_cables(const Database& database) {
  auto cables = read_rows<Cable>(database, "SELECT * FROM cable", [](const Statement& row) {
    return Cable{link_from(row), row.text(4), row.text(5)};
  });
  // SQLite's integers are signed, and GUIDs are not.
  if (cables) {
    std::sort(cables->begin(), cables->end(), [](const Cable& x, const Cable& y) { return x.link < y.link; });
  }
  return cables;
}

}  // namespace heddle::journal
