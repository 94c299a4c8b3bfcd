#include "qos/programming.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/stream_parser.hpp>
#include <optional>

namespace heddle::qos {
namespace {

namespace json = boost::json;

/// Reads the keys of the `qos` part; errors name file and key.
class ProgrammingReader {
 public:
  ProgrammingReader(const json::object& qos, const std::string& name) : qos_{qos}, name_{name} {}

  Result<Programming> read() {
    static constexpr std::array<std::string_view, 4> keys{"vlarb_high", "vlarb_low", "high_limit", "sl2vl"};
    for (const auto& each : qos_) {
      if (std::ranges::find(keys, std::string_view{each.key()}) == keys.end())
        return refuse(each.key(), "is not known");
    }
    Programming out;
    auto high = table("vlarb_high");
    if (!high) return fail(high.error());
    out.tables.high = *std::move(high);
    if (qos_.contains("vlarb_low")) {
      auto low = table("vlarb_low");
      if (!low) return fail(low.error());
      out.tables.low = *std::move(low);
    }
    const auto limit = whole(qos_.if_contains("high_limit"), 255);
    if (!limit) return refuse("high_limit", "give a whole number from 0 to 255");
    out.tables.limit = HighLimit{*limit};
    auto map = read_map();
    if (!map) return fail(map.error());
    out.map = *map;
    if (auto good = check(out, PortCapability{}); !good) return fail(name_, good.error());
    return out;
  }

 private:
  [[nodiscard]] tl::unexpected<Error> refuse(std::string_view key, std::string_view reason) const {
    return fail(ErrorCode::Invalid, fmt::format("{}: qos.{}: {}", name_, key, reason));
  }

  static std::optional<std::uint8_t> whole(const json::value* value, std::int64_t most) {
    if (value == nullptr || !value->is_int64()) return std::nullopt;
    const std::int64_t number = value->get_int64();
    if (number < 0 || number > most) return std::nullopt;
    return static_cast<std::uint8_t>(number);
  }

  [[nodiscard]] Result<ArbTable> table(std::string_view key) const {
    const auto* list = qos_.if_contains(key);
    if (list == nullptr || !list->is_array()) return refuse(key, "give a list of [vl, weight]");
    if (list->get_array().size() > max_entries)
      return refuse(key, fmt::format("more than {} entries", max_entries));
    ArbTable out;
    for (const auto& each : list->get_array()) {
      const auto* pair = each.if_array();
      const bool two = pair != nullptr && pair->size() == 2;
      const auto vl = two ? whole(&(*pair)[0], max_data_vls - 1) : std::nullopt;
      const auto weight = two ? whole(&(*pair)[1], 255) : std::nullopt;
      if (!vl || !weight) {
        return refuse(fmt::format("{}[{}]", key, out.size()),
                      "give [vl, weight], a VL from 0 to 14 and a weight from 0 to 255");
      }
      out.push_back({Vl{*vl}, *weight});
    }
    return out;
  }

  [[nodiscard]] Result<Sl2Vl> read_map() const {
    const auto* list = qos_.if_contains("sl2vl");
    if (list == nullptr || !list->is_array() || list->get_array().size() != sl_count)
      return refuse("sl2vl", "give 16 VLs, one for each SL");
    Sl2Vl out;
    for (unsigned sl = 0; sl < sl_count; ++sl) {
      const auto vl = whole(&list->get_array()[sl], drop_vl.raw());
      if (!vl) return refuse(fmt::format("sl2vl[{}]", sl), "give a VL from 0 to 14, or 15 to drop");
      out.vl[sl] = Vl{*vl};
    }
    return out;
  }

  const json::object& qos_;
  const std::string& name_;
};

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
  return ProgrammingReader{qos->get_object(), name}.read();
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
