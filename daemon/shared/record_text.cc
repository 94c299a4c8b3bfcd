#include "shared/record_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace heddle::shared {
namespace {

namespace json = boost::json;
using namespace regulation;

/// Writes values of a record.
struct TextOf {
  const journal::Calendar& calendar;

  [[nodiscard]] std::int64_t time(Instant at) const {
    return calendar.to_wall(at).time_since_epoch().count();
  }
  static std::string port(const PortRef& port) {
    return fmt::format("{}:{}", to_string(port.node), port.port.raw());
  }
  static std::string link(const LinkRef& link) { return port(link.a) + " " + port(link.b); }
  static json::array links(const std::vector<LinkRef>& all) {
    json::array texts;
    for (const LinkRef& each : all) texts.emplace_back(link(each));
    return texts;
  }
  static json::array mode(power::LinkMode mode) {
    return {static_cast<std::int64_t>(mode.width), static_cast<std::int64_t>(mode.speed)};
  }
  [[nodiscard]] json::array off(const std::vector<OffRecord>& all) const {
    json::array texts;
    for (const OffRecord& each : all) {
      texts.push_back(json::object{{"link", link(each.link)},
                                   {"port", port(each.port)},
                                   {"full", mode(each.full)},
                                   {"mode", mode(each.mode)},
                                   {"cause", static_cast<std::int64_t>(each.cause)},
                                   {"since", time(each.since)},
                                   {"reason", each.reason}});
    }
    return texts;
  }

  json::object operator()(const Intent& intent) const {
    return {{"intent", intent.change.raw()},
            {"at", time(intent.at)},
            {"off", off(intent.off)},
            {"on", links(intent.on)}};
  }
  json::object operator()(const Outcome& outcome) const {
    return {{"outcome", outcome.change.raw()},
            {"at", time(outcome.at)},
            {"off", off(outcome.off)},
            {"on", links(outcome.on)},
            {"note", outcome.note}};
  }
  json::object operator()(const OverrideRecord& record) const {
    json::object text{{"override", link(record.link)},
                      {"wish", static_cast<std::int64_t>(record.value.wish)},
                      {"reason", record.value.reason},
                      {"by", record.value.by},
                      {"forced", record.value.forced}};
    if (record.value.until) text["until"] = time(*record.value.until);
    return text;
  }
  json::object operator()(const ModeRecord& record) const {
    return {{"mode", to_string(record.mode)}, {"by", record.by}};
  }
  json::object operator()(const PlaneRecord& record) const { return {{"plane", record.plane}}; }
  json::object operator()(const DrainRecord& record) const {
    json::object text{{"drain", record.what}};
    if (!record.drain) return text;
    json::array nodes;
    for (const NodeGuid node : record.drain->nodes) nodes.emplace_back(to_string(node));
    text["links"] = links(record.drain->links);
    text["nodes"] = std::move(nodes);
    text["reason"] = record.drain->reason;
    text["by"] = record.drain->by;
    text["since"] = time(record.drain->since);
    text["forced"] = record.drain->forced;
    if (record.drain->until) text["until"] = time(*record.drain->until);
    return text;
  }
  json::object operator()(const BaselineRecord& record) const {
    if (!record.baseline) return {{"baseline", nullptr}};
    return {{"baseline", *record.baseline->plan},
            {"name", record.baseline->name},
            {"by", record.baseline->by},
            {"since", time(record.baseline->since)}};
  }
  json::object operator()(const WakeRecord& record) const {
    json::array all;
    for (const WakeHistory& each : record.links) {
      json::array took;
      for (const auto one : each.took) took.emplace_back(one.count());
      all.push_back(json::object{{"link", link(each.link)}, {"took", std::move(took)}});
    }
    return {{"wakes", std::move(all)}};
  }
};

/// Reads values; what does not fit is kept in mind, and nothing else counts then.
class Reader {
 public:
  explicit Reader(const json::object& object) : object_{object} {}

  [[nodiscard]] bool well() const { return well_; }
  [[nodiscard]] bool has(std::string_view key) const { return object_.contains(key); }
  [[nodiscard]] bool is_null(std::string_view key) const {
    const auto* value = object_.if_contains(key);
    return value != nullptr && value->is_null();
  }

  template <class Integer = std::int64_t>
  Integer number(std::string_view key) {
    return number_in<Integer>(at(key));
  }
  template <class Enum>
  Enum one_of(std::string_view key, Enum last) {
    return enum_in(at(key), last);
  }
  std::string text(std::string_view key) {
    const auto* text = at(key).if_string();
    return text == nullptr ? (bad(), std::string{}) : std::string{*text};
  }
  bool yes(std::string_view key) {
    const bool* yes = at(key).if_bool();
    return yes == nullptr ? (bad(), false) : *yes;
  }
  Instant time(std::string_view key, const journal::Calendar& calendar) {
    const auto ms = number(key);
    // Three centuries around 1970: what a duration in nanoseconds bears.
    constexpr std::int64_t most = 4'000'000'000'000;
    if (ms < -most || ms > most) return bad(), Instant{};
    return calendar.to_fabric(journal::WallTime{std::chrono::milliseconds{ms}});
  }
  LinkRef link(std::string_view key) { return link_in(text(key)); }
  PortRef port(std::string_view key) { return port_in(text(key)); }
  Joules joules(std::string_view key) {
    const std::string digits = text(key);
    double value = 0;
    const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (wrong != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value)) bad();
    return Joules{value};
  }
  NodeGuid node_named(std::string_view name) { return guid_in(name); }
  PortRef port_named(std::string_view name) { return port_in(name); }
  power::LinkMode mode(std::string_view key) {
    const json::array& pair = list(key);
    if (pair.size() != 2) return bad(), power::LinkMode{};
    return {enum_in(pair[0], LinkWidth::X12), enum_in(pair[1], LinkSpeed::Xdr)};
  }
  std::vector<LinkRef> links(std::string_view key) {
    std::vector<LinkRef> all;
    for (const json::value& each : list(key)) all.push_back(link_in(text_in(each)));
    return all;
  }
  std::vector<NodeGuid> nodes(std::string_view key) {
    std::vector<NodeGuid> all;
    for (const json::value& each : list(key)) all.push_back(guid_in(text_in(each)));
    return all;
  }
  std::vector<WakeHistory> wakes(std::string_view key) {
    std::vector<WakeHistory> all;
    for (const json::value& each : list(key)) {
      if (!each.is_object()) return bad(), all;
      Reader one{each.get_object()};
      all.push_back({one.link("link"), one.times("took")});
      well_ = well_ && one.well();
    }
    return all;
  }
  std::vector<OffRecord> off(std::string_view key, const journal::Calendar& calendar) {
    std::vector<OffRecord> all;
    for (const json::value& each : list(key)) {
      if (!each.is_object()) return bad(), all;
      Reader one{each.get_object()};
      all.push_back({one.link("link"), one.port("port"), one.mode("full"), one.mode("mode"),
                     one.one_of("cause", Cause::Operator), one.time("since", calendar), one.text("reason")});
      well_ = well_ && one.well();
    }
    return all;
  }

 private:
  Wakes times(std::string_view key) {
    Wakes all;
    for (const json::value& each : list(key)) {
      const std::chrono::milliseconds took{number_in<std::int64_t>(each)};
      if (took.count() < 0 || took > longest_training) return bad(), all;
      all.push_back(took);
    }
    return all;
  }
  void bad() { well_ = false; }
  const json::value& at(std::string_view key) {
    static const json::value none;
    const json::value* value = object_.if_contains(key);
    return value == nullptr ? (bad(), none) : *value;
  }
  const json::array& list(std::string_view key) {
    static const json::array none;
    const auto* list = at(key).if_array();
    return list == nullptr ? (bad(), none) : *list;
  }
  template <class Integer>
  Integer number_in(const json::value& value) {
    boost::system::error_code wrong;
    const auto number = value.to_number<Integer>(wrong);
    return wrong ? (bad(), Integer{}) : number;
  }
  template <class Enum>
  Enum enum_in(const json::value& value, Enum last) {
    const auto number = number_in<std::uint8_t>(value);
    if (number > static_cast<std::uint8_t>(last)) return bad(), Enum{};
    return static_cast<Enum>(number);
  }
  std::string_view text_in(const json::value& value) {
    const auto* text = value.if_string();
    return text == nullptr ? (bad(), std::string_view{}) : std::string_view{*text};
  }
  NodeGuid guid_in(std::string_view text) {
    std::uint64_t raw = 0;
    if (!text.starts_with("0x")) return bad(), NodeGuid{};
    const auto [end, wrong] = std::from_chars(text.data() + 2, text.data() + text.size(), raw, 16);
    if (wrong != std::errc{} || end != text.data() + text.size()) bad();
    return NodeGuid{raw};
  }
  PortRef port_in(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return bad(), PortRef{};
    std::uint8_t port = 0;
    const auto [end, wrong] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
    if (wrong != std::errc{} || end != text.data() + text.size()) bad();
    return {guid_in(text.substr(0, colon)), PortNum{port}};
  }
  LinkRef link_in(std::string_view text) {
    const std::size_t gap = text.find(' ');
    if (gap == std::string_view::npos) return bad(), LinkRef{};
    return {port_in(text.substr(0, gap)), port_in(text.substr(gap + 1))};
  }

  const json::object& object_;
  bool well_ = true;
};

Override override_in(Reader& in, const journal::Calendar& calendar) {
  Override value{in.one_of("wish", Wish::Pin), in.text("reason"), in.text("by"), std::nullopt,
                 in.yes("forced")};
  if (in.has("until")) value.until = in.time("until", calendar);
  return value;
}

Drain drain_in(Reader& in, const journal::Calendar& calendar) {
  Drain drain{in.text("drain"), in.links("links"),          in.nodes("nodes"), in.text("reason"),
              in.text("by"),    in.time("since", calendar), std::nullopt,      in.yes("forced")};
  if (in.has("until")) drain.until = in.time("until", calendar);
  return drain;
}

std::optional<Record> record_in(const json::object& object, const journal::Calendar& calendar) {
  Reader in{object};
  Record record;
  if (in.has("intent")) {
    record = Intent{ChangeId{in.number<std::uint64_t>("intent")}, in.time("at", calendar),
                    in.off("off", calendar), in.links("on")};
  } else if (in.has("outcome")) {
    record = Outcome{ChangeId{in.number<std::uint64_t>("outcome")}, in.time("at", calendar),
                     in.off("off", calendar), in.links("on"), in.text("note")};
  } else if (in.has("override")) {
    record = OverrideRecord{in.link("override"), override_in(in, calendar)};
  } else if (in.has("mode")) {
    const auto mode = mode_from(in.text("mode"));
    if (!mode) return std::nullopt;
    record = ModeRecord{*mode, in.text("by")};
  } else if (in.has("plane")) {
    record = PlaneRecord{in.number<unsigned>("plane")};
  } else if (in.has("drain")) {
    DrainRecord drain{in.text("drain"), std::nullopt};
    if (in.has("links")) drain.drain = drain_in(in, calendar);
    record = std::move(drain);
  } else if (in.is_null("baseline")) {
    record = BaselineRecord{};
  } else if (in.has("baseline")) {
    record = BaselineRecord{Baseline{std::make_shared<const std::string>(in.text("baseline")),
                                     in.text("name"), in.text("by"), in.time("since", calendar)}};
  } else if (in.has("wakes")) {
    record = WakeRecord{in.wakes("wakes")};
  } else {
    return std::nullopt;
  }
  return in.well() ? std::optional{std::move(record)} : std::nullopt;
}

}  // namespace

std::string to_text(std::span<const Record> records, const journal::Calendar& calendar) {
  json::array all;
  for (const Record& record : records) all.push_back(std::visit(TextOf{calendar}, record));
  return json::serialize(all);
}

Result<std::vector<Record>> records_in(std::string_view text, const journal::Calendar& calendar) {
  boost::system::error_code wrong;
  const json::value parsed = json::parse(text, wrong);
  if (wrong || !parsed.is_array()) return fail(ErrorCode::Invalid, "is no list of records");
  std::vector<Record> records;
  for (const json::value& each : parsed.get_array()) {
    auto record = each.is_object() ? record_in(each.get_object(), calendar) : std::nullopt;
    if (!record) return fail(ErrorCode::Invalid, "has something that is no record of this version of Heddle");
    records.push_back(*std::move(record));
  }
  return records;
}

std::string to_text(std::span<const journal::Rank> ranks) {
  json::object all;
  for (const auto& [node, rank] : ranks) all[to_string(node)] = rank;
  return json::serialize(all);
}

Result<std::vector<journal::Rank>> ranks_in(std::string_view text) {
  boost::system::error_code wrong;
  const json::value parsed = json::parse(text, wrong);
  if (wrong || !parsed.is_object()) return fail(ErrorCode::Invalid, "is no list of ranks");
  std::vector<journal::Rank> ranks;
  Reader in{parsed.get_object()};
  for (const auto& [name, rank] : parsed.get_object())
    ranks.emplace_back(in.node_named(name), in.number<std::uint16_t>(name));
  if (!in.well()) return fail(ErrorCode::Invalid, "is no list of ranks");
  return ranks;
}

std::string to_text(std::span<const journal::PortLid> lids) {
  json::object all;
  for (const auto& [port, lid] : lids) all[TextOf::port(port)] = lid.raw();
  return json::serialize(all);
}

Result<std::vector<journal::PortLid>> lids_in(std::string_view text) {
  boost::system::error_code wrong;
  const json::value parsed = json::parse(text, wrong);
  if (wrong || !parsed.is_object()) return fail(ErrorCode::Invalid, "is no list of LIDs");
  std::vector<journal::PortLid> lids;
  Reader in{parsed.get_object()};
  for (const auto& [port, lid] : parsed.get_object())
    lids.emplace_back(in.port_named(port), Lid{in.number<std::uint16_t>(port)});
  if (!in.well()) return fail(ErrorCode::Invalid, "is no list of LIDs");
  return lids;
}

std::string to_text(std::span<const journal::Cable> cables) {
  json::array all;
  for (const auto& [link, a, b] : cables)
    all.push_back(json::object{{"link", TextOf::link(link)}, {"a", a}, {"b", b}});
  return json::serialize(all);
}

Result<std::vector<journal::Cable>> cables_in(std::string_view text) {
  const auto wrong = [] { return fail(ErrorCode::Invalid, "is no list of cables"); };
  boost::system::error_code error;
  const json::value parsed = json::parse(text, error);
  if (error || !parsed.is_array()) return wrong();
  std::vector<journal::Cable> cables;
  for (const json::value& one : parsed.get_array()) {
    if (!one.is_object()) return wrong();
    Reader in{one.get_object()};
    journal::Cable cable{in.link("link"), in.text("a"), in.text("b")};
    if (!in.well()) return wrong();
    cables.push_back(std::move(cable));
  }
  std::ranges::sort(cables, {}, &journal::Cable::link);
  return cables;
}

/// As texts: a number of JSON comes back a little different.
std::string to_text(const power::EnergyTotals& energy) {
  return json::serialize(json::object{{"spent", fmt::format("{}", energy.spent.value())},
                                      {"saved", fmt::format("{}", energy.saved.value())},
                                      {"unit", "J"}});
}

Result<power::EnergyTotals> energy_in(std::string_view text) {
  boost::system::error_code wrong;
  const json::value parsed = json::parse(text, wrong);
  if (wrong || !parsed.is_object()) return fail(ErrorCode::Invalid, "is no energy");
  Reader in{parsed.get_object()};
  const power::EnergyTotals energy{in.joules("spent"), in.joules("saved")};
  if (!in.well()) return fail(ErrorCode::Invalid, "is no energy");
  return energy;
}

}  // namespace heddle::shared
