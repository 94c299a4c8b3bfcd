#include "cabling/cable_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "base/printable.h"
#include "cabling/csv.h"
#include "cabling/letters.h"
#include "fabric/topology.h"
#include "fabric/unique_names.h"

namespace heddle::cabling {
namespace {

constexpr std::size_t lines_before_a_header = 100;

/// Columns by the names that UFM's files have, without regard to case. A header may begin with "#" or
/// "#Fields:".
struct Columns {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t start_device = none, start_port = none, start_location = none;
  std::size_t end_device = none, end_port = none, end_location = none;
  std::size_t link_type = none, speed = none;
};

std::string column_name(std::string_view cell) {
  std::string name = in_small_letters(cell);
  for (const std::string_view prefix : {"#", "fields:"}) {
    if (name.substr(0, prefix.size()) == prefix) name.erase(0, prefix.size());
  }
  name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
  return name;
}

Columns columns_of(const CsvLine& line) {
  Columns columns;
  const std::map<std::string, std::size_t*> known{{"startdevice", &columns.start_device},
                                                  {"startport", &columns.start_port},
                                                  {"startdevicelocation", &columns.start_location},
                                                  {"enddevice", &columns.end_device},
                                                  {"endport", &columns.end_port},
                                                  {"enddevicelocation", &columns.end_location},
                                                  {"linktype", &columns.link_type},
                                                  {"speed", &columns.speed}};
  for (std::size_t i = 0; i < line.cells.size(); ++i) {
    const auto column = known.find(column_name(line.cells[i]));
    if (column != known.end() && *column->second == Columns::none) *column->second = i;
  }
  return columns;
}

bool is_header(const Columns& columns) {
  return columns.start_device != Columns::none && columns.end_device != Columns::none;
}

std::string cell(const CsvLine& line, std::size_t column) {
  return column < line.cells.size() ? printable(line.cells[column]) : std::string{};
}

/// "200000" (megabits a second, as UFM has it), "200", "200G", "200 Gb/s", "HDR", "4xHDR".
std::optional<NominalRate> parse_rate(const std::string& text) {
  std::string capital = text;
  std::transform(capital.begin(), capital.end(), capital.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const auto x = capital.find('X');
  if (x != std::string::npos && x > 0) {
    const auto width = link_width(in_small_letters(capital.substr(0, x + 1)));
    const auto speed = link_speed(capital.substr(x + 1));
    if (width && speed && *speed != LinkSpeed::None) return nominal_rate(*width, *speed);
  }
  const auto speed = link_speed(capital);
  if (speed && *speed != LinkSpeed::None) return nominal_rate(LinkWidth::X4, *speed);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number) || number <= 0) return std::nullopt;
  std::string unit{end, text.data() + text.size()};
  unit.erase(std::remove(unit.begin(), unit.end(), ' '), unit.end());
  unit = in_small_letters(unit);
  if (unit.empty()) return NominalRate{number >= 2500 ? number / 1000 : number};
  for (const std::string_view gigabits : {"g", "gb", "gbit", "gb/s", "gbit/s", "gbps"}) {
    if (unit == gigabits) return NominalRate{number};
  }
  return std::nullopt;
}

/// What is told once, with a count.
struct Told {
  std::size_t count = 0;
  std::size_t first_line = 0;
  std::string word;

  void add(std::size_t line, const std::string& what) {
    if (count++ == 0) {
      first_line = line;
      word = what;
    }
  }
};

class ListReader {
 public:
  ListReader(std::string_view text, const std::string& file) : reader_{text} { plan_.file = file; }

  Result<CablePlan> read() {
    if (auto found = find_header(); !found) return fail(found.error());
    for (CsvLine line; reader_.next(line);) {
      if (line.cells.front().substr(0, 1) == "#") continue;
      if (auto taken = take(line); !taken) return fail(taken.error());
    }
    if (plan_.cables.empty()) return fail(ErrorCode::Invalid, fmt::format("{}: lists no cables", plan_.file));
    tell();
    return std::move(plan_);
  }

 private:
  Result<void> find_header() {
    CsvLine line;
    for (std::size_t i = 0; i < lines_before_a_header && reader_.next(line); ++i) {
      columns_ = columns_of(line);
      if (!is_header(columns_)) continue;
      for (const auto& [column, name] :
           {std::pair{columns_.start_port, "StartPort"}, std::pair{columns_.end_port, "EndPort"}}) {
        if (column == Columns::none) return wrong(line, fmt::format("has no column {}", name));
      }
      return {};
    }
    return fail(ErrorCode::Invalid,
                fmt::format("{}: no line names StartDevice, StartPort, EndDevice and EndPort", plan_.file));
  }

  Result<void> take(const CsvLine& line) {
    const std::string type = in_small_letters(cell(line, columns_.link_type));
    if (!type.empty() && type != "data" && type != "infiniband" && type != "ib") {
      other_types_.add(line.number, cell(line, columns_.link_type));
      return {};
    }
    PlannedCable cable;
    cable.line = line.number;
    cable.start = {cell(line, columns_.start_device),
                   cell(line, columns_.start_port),
                   cell(line, columns_.start_location),
                   {}};
    cable.end = {cell(line, columns_.end_device),
                 cell(line, columns_.end_port),
                 cell(line, columns_.end_location),
                 {}};
    for (const auto& [text, name] :
         {std::pair{&cable.start.device, "StartDevice"}, std::pair{&cable.start.port, "StartPort"},
          std::pair{&cable.end.device, "EndDevice"}, std::pair{&cable.end.port, "EndPort"}}) {
      if (text->empty()) return wrong(line, fmt::format("has nothing for {}", name));
    }
    if (const std::string speed = cell(line, columns_.speed); !speed.empty()) {
      cable.rate = parse_rate(speed);
      if (!cable.rate) unknown_rates_.add(line.number, speed);
    }
    plan_.cables.push_back(std::move(cable));
    return {};
  }

  void tell() {
    if (other_types_.count > 0) {
      plan_.warnings.push_back(
          fmt::format("{}: {} lines are of another LinkType and left out, first {} in line {}", plan_.file,
                      other_types_.count, in_quotes(other_types_.word), other_types_.first_line));
    }
    if (unknown_rates_.count > 0) {
      plan_.warnings.push_back(fmt::format(
          "{}: {} lines have a Speed that is none and is not checked, first {} in line {}", plan_.file,
          unknown_rates_.count, in_quotes(unknown_rates_.word), unknown_rates_.first_line));
    }
  }

  [[nodiscard]] tl::unexpected<Error> wrong(const CsvLine& line, const std::string& what) const {
    return fail(ErrorCode::Invalid, fmt::format("{}:{}: {}", plan_.file, line.number, what));
  }

  CsvReader reader_;
  CablePlan plan_{{}, Scope::Cables, {}, {}};
  Columns columns_;
  Told other_types_;
  Told unknown_rates_;
};

PlannedEnd planned_end(const Fabric& fabric, const std::vector<std::string>& names, LinkEnd end) {
  return {names[end.node.raw()], std::to_string(end.port.raw()), {}, fabric.node(end.node).guid};
}

}  // namespace

bool is_cable_list(std::string_view text) {
  CsvReader reader{text};
  CsvLine line;
  for (std::size_t i = 0; i < lines_before_a_header && reader.next(line); ++i) {
    if (is_header(columns_of(line))) return true;
  }
  return false;
}

Result<CablePlan> parse_cable_list(std::string_view text, const std::string& file) {
  return ListReader{text, file}.read();
}

Result<CablePlan> read_plan(std::string_view text, const std::string& file) {
  if (is_cable_list(text)) return parse_cable_list(text, file);
  const auto read = parse_topology(text, file);
  if (!read) return fail(read.error());
  return plan_of(*read->fabric, file);
}

CablePlan plan_of(const Fabric& fabric, const std::string& file) {
  const auto names = unique_names(fabric);
  CablePlan plan{file, Scope::EveryLink, {}, {}};
  plan.cables.reserve(fabric.links().size());
  for (const Link& link : fabric.links()) {
    PlannedCable cable{planned_end(fabric, names, link.a), planned_end(fabric, names, link.b), {}, 0};
    if (const auto rate = nominal_rate(link.width, link.speed); rate.gbit > 0) cable.rate = rate;
    plan.cables.push_back(std::move(cable));
  }
  return plan;
}

}  // namespace heddle::cabling
