#include "heddle/report_places.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <numbers>

#include "base/json_access.h"

namespace heddle::cli {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

/// A run of digits at the front, without zeros in front, taken away from the text.
std::string_view take_digits(std::string_view& text) {
  while (text.size() > 1 && text.front() == '0' && digit(text[1])) text.remove_prefix(1);
  std::size_t length = 0;
  while (length < text.size() && digit(text[length])) ++length;
  const auto run = text.substr(0, length);
  text.remove_prefix(length);
  return run;
}

void place_levels(const boost::json::array& levels, ReportData& data) {
  std::map<long long, std::vector<std::size_t>> rows;
  for (std::size_t i = 0; i < std::min(levels.size(), data.nodes.size()); ++i) {
    if (const auto level = count_at(levels[i], ""); level >= 0) rows[level].push_back(i);
  }
  const double top = rows.empty() ? 1 : static_cast<double>(std::max(1LL, rows.rbegin()->first));
  for (auto& [level, row] : rows) {
    std::ranges::stable_sort(
        row, [&](std::size_t x, std::size_t y) { return before(data.nodes[x].name, data.nodes[y].name); });
    for (std::size_t i = 0; i < row.size(); ++i) {
      data.nodes[row[i]].x = (static_cast<double>(i) + 0.5) / static_cast<double>(row.size());
      data.nodes[row[i]].y = 1 - static_cast<double>(level) / top;
    }
  }
}

void place_grid(const boost::json::array& sizes, const boost::json::array& places, ReportData& data) {
  const std::size_t dimensions = sizes.size();
  if (dimensions == 0) return;
  const auto size = [&](std::size_t d) {
    return d < dimensions ? std::max(1.0, number_at(sizes[d], "")) : 1.0;
  };
  for (std::size_t i = 0; i < data.nodes.size() && (i + 1) * dimensions <= places.size(); ++i) {
    const auto at = [&](std::size_t d) {
      return d < dimensions ? number_at(places[i * dimensions + d], "") : 0.0;
    };
    if (at(0) < 0) continue;
    // A third dimension goes backwards.
    const double back = 0.35 * at(2) / size(2) / std::max(size(0), size(1));
    data.nodes[i].x = (at(0) + 0.5) / size(0) + back;
    data.nodes[i].y = (at(1) + 0.5) / size(1) - back;
  }
}

void place_circle(ReportData& data) {
  std::vector<std::size_t> switches;
  for (std::size_t i = 0; i < data.nodes.size(); ++i) {
    if (data.nodes[i].type == 's') switches.push_back(i);
  }
  std::ranges::stable_sort(
      switches, [&](std::size_t x, std::size_t y) { return before(data.nodes[x].name, data.nodes[y].name); });
  for (std::size_t i = 0; i < switches.size(); ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(switches.size());
    data.nodes[switches[i]].x = 0.5 + 0.48 * std::sin(angle);
    data.nodes[switches[i]].y = 0.5 - 0.48 * std::cos(angle);
  }
}

}  // namespace

bool before(std::string_view x, std::string_view y) {
  while (!x.empty() && !y.empty()) {
    if (digit(x.front()) && digit(y.front())) {
      const auto a = take_digits(x);
      const auto b = take_digits(y);
      if (a.size() != b.size()) return a.size() < b.size();
      if (a != b) return a < b;
      continue;
    }
    if (x.front() != y.front()) return x.front() < y.front();
    x.remove_prefix(1);
    y.remove_prefix(1);
  }
  return x.empty() && !y.empty();
}

void place_nodes(const boost::json::value& topology, ReportData& data) {
  const std::string kind = text_at(topology, "layout.kind");
  if (kind == "levels") return place_levels(array_at(topology, "layout.level"), data);
  if (kind == "grid") {
    return place_grid(array_at(topology, "layout.sizes"), array_at(topology, "layout.place"), data);
  }
  place_circle(data);
}

}  // namespace heddle::cli
