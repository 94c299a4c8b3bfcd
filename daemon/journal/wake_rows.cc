#include "journal/wake_rows.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <utility>

#include "journal/rows.h"

namespace heddle::journal {
namespace {

using regulation::WakeHistory;
using regulation::Wakes;

std::string text_of(const Wakes& wakes) {
  std::string text;
  for (const auto took : wakes) text += fmt::format("{}{}", text.empty() ? "" : " ", took.count());
  return text;
}

/// What is damaged is left out: it is learnt again.
Wakes wakes_in(const std::string& text) {
  Wakes wakes;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end && wakes.size() < regulation::most_wakes) {
    std::chrono::milliseconds::rep took = 0;
    const auto [next, wrong] = std::from_chars(at, end, took);
    if (wrong != std::errc{}) break;
    const std::chrono::milliseconds one{took};
    if (took >= 0 && one <= regulation::longest_training) wakes.push_back(one);
    at = next < end ? next + 1 : end;
  }
  return wakes;
}

}  // namespace

Result<void> store_wakes(Database& database, const regulation::WakeRecord& record) {
  auto gone =
      run_each(database, "DELETE FROM wake WHERE a_node=? AND a_port=? AND b_node=? AND b_port=?",
               record.links, [](Statement& row, const WakeHistory& each) { bind_link(row, each.link); });
  if (!gone) return gone;
  std::vector<WakeHistory> known;
  for (const WakeHistory& each : record.links) {
    if (!each.took.empty()) known.push_back(each);
  }
  return run_each(database, "INSERT INTO wake VALUES(?,?,?,?,?)", known,
                  [](Statement& row, const WakeHistory& each) {
                    bind_link(row, each.link);
                    row.bind(text_of(each.took));
                  });
}

Result<std::map<LinkRef, Wakes>> read_wakes(const Database& database) {
  auto rows = read_rows<WakeHistory>(database, "SELECT * FROM wake", [](const Statement& row) {
    return WakeHistory{link_from(row), wakes_in(row.text(4))};
  });
  if (!rows) return fail(rows.error());
  std::map<LinkRef, Wakes> wakes;
  for (WakeHistory& each : *rows) {
    if (!each.took.empty()) wakes[each.link] = std::move(each.took);
  }
  return wakes;
}

}  // namespace heddle::journal
