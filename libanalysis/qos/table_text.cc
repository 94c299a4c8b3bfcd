#include "qos/table_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace heddle::qos {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Cuts off and returns what comes before the first `separator`.
std::string_view next_field(std::string_view& rest, char separator) {
  const auto at = rest.find(separator);
  const auto field = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + 1);
  return trimmed(field);
}

/// Input may be rubbish of any length and any bytes: show a little of it.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 24)) out += c >= ' ' && c <= '~' ? c : '?';
  return text.size() > 24 ? out + "..." : out;
}

std::optional<unsigned> number(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return ~0U;
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class TableParser {
 public:
  TableParser(const std::string& name, WhichTable which, const PortCapability& port)
      : name_{name}, room_{which == WhichTable::High ? port.high_entries : port.low_entries}, port_{port} {}

  Result<void> line(std::size_t at, std::string_view text) {
    line_ = at;
    if (text.find(':') == std::string_view::npos) return entry(text, ',');
    while (!text.empty()) {
      if (auto added = entry(next_field(text, ','), ':'); !added) return added;
    }
    return {};
  }

  [[nodiscard]] const ArbTable& table() const { return table_; }

 private:
  Result<void> entry(std::string_view text, char separator) {
    std::string_view rest = text;
    const auto vl = number(next_field(rest, separator));
    rest = trimmed(rest);
    const auto weight = number(rest);
    if (!vl || !weight) return refuse(fmt::format("'{}' is not VL{}weight", shown(text), separator));
    if (*vl >= max_data_vls) {
      return refuse(fmt::format("VL {} cannot be in a table, use 0 to {}", *vl, max_data_vls - 1));
    }
    if (*vl >= port_.data_vls) {
      return refuse(fmt::format("VL {} is beyond the port, which has VL 0 to {}", *vl, port_.data_vls - 1));
    }
    if (*weight > 255) return refuse(fmt::format("weight {} is above 255", shown(rest)));
    if (table_.size() == room_) return refuse(fmt::format("more than {} entries", room_));
    table_.push_back({Vl{static_cast<std::uint8_t>(*vl)}, static_cast<std::uint8_t>(*weight)});
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> refuse(const std::string& reason) const {
    return fail(ErrorCode::Invalid, fmt::format("{}:{}: {}", name_, line_, reason));
  }

  const std::string& name_;
  std::size_t room_;
  PortCapability port_;
  std::size_t line_ = 0;
  ArbTable table_;
};

}  // namespace

Result<ArbTable> parse_table(std::string_view text, const std::string& name, WhichTable which,
                             const PortCapability& port) {
  TableParser parser{name, which, port};
  std::size_t lines = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    ++lines;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (auto parsed = parser.line(lines, line); !parsed) return fail(parsed.error());
  }
  if (which == WhichTable::High && total_weight(parser.table()) == 0) {
    return fail(ErrorCode::Invalid,
                fmt::format("{}:{}: the high table is empty, give at least one entry with a weight above 0",
                            name, std::max<std::size_t>(lines, 1)));
  }
  return parser.table();
}

Result<Sl2Vl> parse_sl2vl(std::string_view text, const std::string& name, const PortCapability& port) {
  const auto refuse = [&](const std::string& reason) {
    return fail(ErrorCode::Invalid, fmt::format("{}:1: {}", name, reason));
  };
  Sl2Vl map;
  unsigned sl = 0;
  std::string_view rest = trimmed(text.substr(0, text.find('\n')));
  while (!rest.empty()) {
    const auto field = next_field(rest, ',');
    const auto vl = number(field);
    if (!vl || *vl > 15) return refuse(fmt::format("'{}' is not a VL from 0 to 15", shown(field)));
    if (sl == sl_count) return refuse("more than 16 VLs, give one for each SL");
    if (*vl >= port.data_vls && *vl != drop_vl.raw()) {
      return refuse(
          fmt::format("SL {} maps to VL {}, and the port has VL 0 to {}", sl, *vl, port.data_vls - 1));
    }
    map.vl[sl++] = Vl{static_cast<std::uint8_t>(*vl)};
  }
  if (sl != sl_count) return refuse(fmt::format("{} VLs, give 16, one for each SL", sl));
  return map;
}

std::string to_lines(const ArbTable& table) {
  std::string out;
  for (const auto& entry : table) out += fmt::format("{},{}\n", entry.vl.raw(), entry.weight);
  return out;
}

std::string to_opensm(const ArbTable& table) {
  std::string out;
  for (const auto& entry : table) {
    out += fmt::format("{}{}:{}", out.empty() ? "" : ",", entry.vl.raw(), entry.weight);
  }
  return out;
}

std::string to_opensm(const Sl2Vl& map) {
  std::string out;
  for (const Vl vl : map.vl) out += fmt::format("{}{}", out.empty() ? "" : ",", vl.raw());
  return out;
}

std::string opensm_options(std::string_view prefix, const VlArbitration& tables, const Sl2Vl& map,
                           unsigned data_vls) {
  // OpenSM reads an empty value as "use the default"; one entry of weight 0 is an empty table.
  const std::string low = tables.low.empty() ? "0:0" : to_opensm(tables.low);
  return fmt::format(
      "{0}_max_vls {1}\n{0}_high_limit {2}\n{0}_vlarb_high {3}\n{0}_vlarb_low {4}\n{0}_sl2vl {5}\n", prefix,
      data_vls, tables.limit.raw(), to_opensm(tables.high), low, to_opensm(map));
}

}  // namespace heddle::qos
