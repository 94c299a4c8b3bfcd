#include "journal/drain_rows.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "journal/rows.h"

namespace heddle::journal {

using regulation::Drain;
using regulation::DrainRecord;

Result<void> store_drain(Database& database, const Calendar& calendar, const DrainRecord& record) {
  const auto raw_at = [&](Instant at) { return raw(calendar.to_wall(at)); };
  for (const char* sql : {"DELETE FROM drain WHERE what=?", "DELETE FROM drain_link WHERE what=?",
                          "DELETE FROM drain_node WHERE what=?"}) {
    auto cleared =
        run_each(database, sql, std::span(&record.what, 1),
                 [](Statement& row, const std::string& what) { row.bind(std::string_view{what}); });
    if (!cleared) return cleared;
  }
  if (!record.drain) return {};
  auto head = run_each(database, "INSERT INTO drain VALUES(?,?,?,?,?,?)", std::span(&*record.drain, 1),
                       [&](Statement& row, const Drain& drain) {
                         row.bind(std::string_view{drain.what}).bind(drain.reason).bind(drain.by);
                         row.bind(raw_at(drain.since));
                         row.bind(drain.until ? std::optional{raw_at(*drain.until)} : std::nullopt);
                         row.bind(std::int64_t{drain.forced ? 1 : 0});
                       });
  if (!head) return head;
  auto links = run_each(database, "INSERT INTO drain_link VALUES(?,?,?,?,?)", record.drain->links,
                        [&](Statement& row, const LinkRef& link) {
                          bind_link(row, link);
                          row.bind(std::string_view{record.what});
                        });
  if (!links) return links;
  return run_each(
      database, "INSERT INTO drain_node VALUES(?,?)", record.drain->nodes,
      [&](Statement& row, NodeGuid node) { row.bind(raw(node)).bind(std::string_view{record.what}); });
}

Result<std::map<std::string, Drain>> read_drains(const Database& database, const Calendar& calendar) {
  const auto instant = [&](const Statement& row, int column) {
    return calendar.to_fabric(time_from(row, column));
  };
  std::map<std::string, Drain> drains;
  auto heads = read_rows<Drain>(database, "SELECT * FROM drain", [&](const Statement& row) {
    Drain drain{row.text(0), {}, {}, row.text(1), row.text(2), instant(row, 3), {}, row.integer(5) != 0};
    if (!row.is_null(4)) drain.until = instant(row, 4);
    return drain;
  });
  if (!heads) return fail(heads.error());
  for (const Drain& drain : *heads) drains[drain.what] = drain;
  using Part = std::pair<std::string, LinkRef>;
  auto links = read_rows<Part>(database, "SELECT * FROM drain_link", [](const Statement& row) {
    return Part{row.text(4), link_from(row)};
  });
  if (!links) return fail(links.error());
  for (const auto& [what, link] : *links) drains[what].links.push_back(link);
  using Switch = std::pair<std::string, NodeGuid>;
  auto nodes = read_rows<Switch>(database, "SELECT * FROM drain_node", [](const Statement& row) {
    return Switch{row.text(1), guid_from(row.integer(0))};
  });
  if (!nodes) return fail(nodes.error());
  for (const auto& [what, node] : *nodes) drains[what].nodes.push_back(node);
  for (auto& [what, drain] : drains) {
    // SQLite's integers are signed, and GUIDs are not.
    std::sort(drain.links.begin(), drain.links.end());
    std::sort(drain.nodes.begin(), drain.nodes.end());
  }
  return drains;
}

}  // namespace heddle::journal
