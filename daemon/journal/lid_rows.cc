#include "journal/lid_rows.h"

#include <algorithm>
#include <cstdint>

#include "journal/rows.h"

namespace heddle::journal {

Result<void> store_lids(Database& database, std::span<const PortLid> lids) {
  auto put = run_each(database,
                      "INSERT INTO lid VALUES(?,?,?) "
                      "ON CONFLICT(node, port) DO UPDATE SET lid=excluded.lid WHERE lid<>excluded.lid",
                      lids, [](Statement& row, const PortLid& each) {
                        row.bind(raw(each.first.node)).bind(std::int64_t{each.first.port.raw()});
                        row.bind(std::int64_t{each.second.raw()});
                      });
  if (!put) return put;
  auto stored = read_lids(database);
  if (!stored) return fail(stored.error());
  std::vector<PortLid> wanted(lids.begin(), lids.end());
  std::sort(wanted.begin(), wanted.end());
  std::erase_if(*stored,
                [&](const PortLid& each) { return std::binary_search(wanted.begin(), wanted.end(), each); });
  return run_each(database, "DELETE FROM lid WHERE node=? AND port=?", *stored,
                  [](Statement& row, const PortLid& gone) {
                    row.bind(raw(gone.first.node)).bind(std::int64_t{gone.first.port.raw()});
                  });
}

Result<std::vector<PortLid>> read_lids(const Database& database) {
  auto lids = read_rows<PortLid>(database, "SELECT node, port, lid FROM lid", [](const Statement& row) {
    const PortRef port{guid_from(row.integer(0)), port_from(row, 1)};
    return PortLid{port, Lid{number_from<std::uint16_t>(row, 2)}};
  });
  // SQLite's integers are signed, and GUIDs are not.
  if (lids) std::sort(lids->begin(), lids->end());
  return lids;
}

}  // namespace heddle::journal
