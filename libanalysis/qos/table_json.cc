#include "qos/table_json.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

namespace heddle::qos {
namespace {

namespace json = boost::json;

tl::unexpected<Error> refuse(std::string_view member, std::string_view reason) {
  return fail(ErrorCode::Invalid, fmt::format("{}: {}", member, reason));
}

std::optional<std::uint8_t> whole_number(const json::value* value, std::int64_t most) {
  if (value == nullptr || !value->is_int64()) return std::nullopt;
  const std::int64_t number = value->get_int64();
  if (number < 0 || number > most) return std::nullopt;
  return static_cast<std::uint8_t>(number);
}

Result<ArbTable> read_table(const json::object& object, std::string_view member) {
  const auto* list = object.if_contains(member);
  if (list == nullptr || !list->is_array()) return refuse(member, "give a list of [vl, weight]");
  if (list->get_array().size() > max_entries)
    return refuse(member, fmt::format("more than {} entries", max_entries));
  ArbTable out;
  for (const auto& each : list->get_array()) {
    const auto* pair = each.if_array();
    const bool two = pair != nullptr && pair->size() == 2;
    const auto vl = two ? whole_number(&(*pair)[0], max_data_vls - 1) : std::nullopt;
    const auto weight = two ? whole_number(&(*pair)[1], 255) : std::nullopt;
    if (!vl || !weight) {
      return refuse(fmt::format("{}[{}]", member, out.size()),
                    "give [vl, weight], a VL from 0 to 14 and a weight from 0 to 255");
    }
    out.push_back({Vl{*vl}, *weight});
  }
  return out;
}

Result<Sl2Vl> read_map(const json::value& list) {
  if (!list.is_array() || list.get_array().size() != sl_count)
    return refuse("sl2vl", "give 16 VLs, one for each SL");
  Sl2Vl out;
  for (unsigned sl = 0; sl < sl_count; ++sl) {
    const auto vl = whole_number(&list.get_array()[sl], drop_vl.raw());
    if (!vl) return refuse(fmt::format("sl2vl[{}]", sl), "give a VL from 0 to 14, or 15 to drop");
    out.vl[sl] = Vl{*vl};
  }
  return out;
}

}  // namespace

Result<Tables> read_tables(const json::object& object) {
  Tables out;
  auto high = read_table(object, "vlarb_high");
  if (!high) return fail(high.error());
  out.arbitration.high = *std::move(high);
  if (object.contains("vlarb_low")) {
    auto low = read_table(object, "vlarb_low");
    if (!low) return fail(low.error());
    out.arbitration.low = *std::move(low);
  }
  const auto limit = whole_number(object.if_contains("high_limit"), 255);
  if (!limit) return refuse("high_limit", "give a whole number from 0 to 255");
  out.arbitration.limit = HighLimit{*limit};
  if (const auto* list = object.if_contains("sl2vl")) {
    const auto map = read_map(*list);
    if (!map) return fail(map.error());
    out.sl2vl = *map;
  }
  return out;
}

}  // namespace heddle::qos
