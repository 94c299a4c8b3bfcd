#include "qos/programming.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/stream_parser.hpp>

#include "qos/table_json.h"

namespace heddle::qos {
namespace {

namespace json = boost::json;

/// The `qos` part as a whole.
Result<Programming> programming_from(const json::object& qos) {
  static constexpr std::array<std::string_view, 4> keys{"vlarb_high", "vlarb_low", "high_limit", "sl2vl"};
  for (const auto& each : qos) {
    const std::string_view key{each.key()};
    if (std::ranges::find(keys, key) == keys.end())
      return fail(ErrorCode::Invalid, fmt::format("{}: is not known", key));
  }
  const auto tables = read_tables(qos);
  if (!tables) return fail(tables.error());
  if (!tables->sl2vl) return fail(ErrorCode::Invalid, "sl2vl: give 16 VLs, one for each SL");
  return Programming{tables->arbitration, *tables->sl2vl};
}

json::array entries(const ArbTable& table) {
  json::array out;
  for (const auto& entry : table) out.push_back(json::array{entry.vl.raw(), entry.weight});
  return out;
}

}  // namespace

Result<void> check(const Programming& programming, const PortCapability& port) {
  if (auto good = check(programming.tables, port); !good) return good;
  if (auto good = check(programming.map, port); !good) return good;
  const auto serves = [](const ArbTable& table, Vl vl) {
    return std::ranges::any_of(table,
                               [vl](const ArbEntry& entry) { return entry.vl == vl && entry.weight != 0; });
  };
  for (unsigned sl = 0; sl < sl_count; ++sl) {
    const Vl vl = programming.map.vl[sl];
    if (vl == drop_vl || serves(programming.tables.high, vl) || serves(programming.tables.low, vl)) continue;
    return fail(ErrorCode::Invalid,
                fmt::format("SL{} maps to VL{}, which no table serves: its packets would never leave; map it "
                            "to another VL, or to 15 to drop them",
                            sl, vl.raw()));
  }
  return {};
}

std::array<ArbBlock, block_count> blocks_of(const VlArbitration& tables) {
  std::array<ArbBlock, block_count> blocks{};
  const auto fill = [&](const ArbTable& table, std::size_t first) {
    for (std::size_t i = 0; i < table.size(); ++i)
      blocks[first + i / entries_per_block][i % entries_per_block] = table[i];
  };
  fill(tables.low, 0);
  fill(tables.high, 2);
  return blocks;
}

Result<Programming> parse_plan(std::string_view text, const std::string& name) {
  json::stream_parser parser;
  boost::system::error_code error;
  const std::size_t read = parser.write_some(text.data(), text.size(), error);
  if (!error) parser.finish(error);
  if (error) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(read), '\n');
    return fail(ErrorCode::Invalid, fmt::format("{}:{}: not JSON: {}", name, line, error.message()));
  }
  const json::value root = parser.release();
  const auto* qos = root.is_object() ? root.get_object().if_contains("qos") : nullptr;
  if (qos == nullptr || !qos->is_object())
    return fail(ErrorCode::Invalid, fmt::format("{}: no object 'qos'", name));
  auto programming = programming_from(qos->get_object());
  if (!programming)
    return fail(ErrorCode::Invalid, fmt::format("{}: qos.{}", name, programming.error().message));
  if (auto good = check(*programming, PortCapability{}); !good) return fail(name, good.error());
  return programming;
}

std::string plan_text(const Programming& programming) {
  json::array map;
  for (const Vl vl : programming.map.vl) map.push_back(vl.raw());
  json::object qos{{"vlarb_high", entries(programming.tables.high)},
                   {"vlarb_low", entries(programming.tables.low)},
                   {"high_limit", programming.tables.limit.raw()},
                   {"sl2vl", std::move(map)}};
  return json::serialize(json::object{{"qos", std::move(qos)}}) + "\n";
}

}  // namespace heddle::qos
