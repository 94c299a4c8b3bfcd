#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <charconv>
#include <cstring>
#include <unordered_set>

#include "plan/checksum.h"
#include "plan/plan.h"
#include "plan/reader.h"
#include "qos/table_json.h"

namespace heddle::plan {
namespace {

namespace json = boost::json;

constexpr std::string_view head = "{\"checksum\":\"";
constexpr std::size_t digits = 16;
constexpr std::size_t most_items = 2'000'000;  ///< the size of the file is the real bound

class PlanParser {
 public:
  explicit PlanParser(Reader& reader) : reader_{reader} {}

  Plan plan(const json::value& document) {
    Plan plan;
    const json::object* top = reader_.object(document, "plan",
                                             {"checksum", "version", "epoch", "ranks", "off", "forced",
                                              "drained", "planes", "qos", "packet_life_us"});
    if (top == nullptr) return plan;
    if (const auto* value = reader_.member(*top, "plan", "version")) {
      const std::uint64_t found = reader_.number(*value, "version", ~std::uint64_t{0});
      if (found != version) {
        reader_.refuse("version", "{}, and this program reads {}; let the daemon write the plan again", found,
                       version);
      }
    }
    if (const auto* value = reader_.member(*top, "plan", "epoch")) {
      plan.epoch = reader_.number(*value, "epoch", ~std::uint64_t{0});
    }
    if (const auto* value = reader_.member(*top, "plan", "ranks")) plan.ranks = ranks(*value);
    if (const auto* value = reader_.member(*top, "plan", "off")) plan.off = cables(*value, "off");
    if (const auto* value = top->if_contains("forced")) plan.forced = cables(*value, "forced");
    if (const auto* value = top->if_contains("drained")) plan.drained = switches(*value, "drained");
    if (const auto* value = reader_.member(*top, "plan", "planes")) plan.planes = planes(*value);
    if (const auto* value = top->if_contains("qos")) plan.qos = qos(*value);
    if (const auto* value = top->if_contains("packet_life_us")) {
      plan.packet_life =
          std::chrono::microseconds{reader_.number(*value, "packet_life_us", most_packet_life_us)};
    }
    return plan;
  }

  Qos qos(const json::value& value) {
    Qos result;
    const json::object* object =
        reader_.object(value, "qos", {"vlarb_high", "vlarb_low", "high_limit", "sl2vl", "groups"});
    if (object == nullptr) return result;
    const json::value* groups = object->if_contains("groups");
    if (groups == nullptr || object->size() > 1) result.everywhere = tables(*object, "qos");
    if (groups != nullptr) result.groups = qos_groups(*groups);
    return result;
  }

 private:
  std::optional<NodeGuid> guid(std::string_view text, const std::string& path) {
    std::uint64_t raw = 0;
    const char* end = text.data() + text.size();
    if (text.size() == 18 && text.substr(0, 2) == "0x") {
      const auto [stop, code] = std::from_chars(text.data() + 2, end, raw, 16);
      if (code == std::errc{} && stop == end) return NodeGuid{raw};
    }
    reader_.refuse(path, "not a GUID such as 0x0002c90300080e84");
    return std::nullopt;
  }

  PortRef port(const json::value& value, const std::string& path) {
    const std::string_view text = reader_.text(value, path);
    const std::size_t slash = std::min(text.find('/'), text.size());
    const auto node = guid(text.substr(0, slash), path);
    unsigned num = 0;
    const char* end = text.data() + text.size();
    if (node && slash < text.size()) {
      const auto [stop, code] = std::from_chars(text.data() + slash + 1, end, num, 10);
      if (code == std::errc{} && stop == end && num <= 254) {
        return {*node, PortNum{static_cast<std::uint8_t>(num)}};
      }
    }
    reader_.refuse(path, "not a port such as 0x0002c90300080e84/17");
    return {};
  }

  std::vector<LinkRef> cables(const json::value& value, const std::string& path) {
    std::vector<LinkRef> result;
    const json::array* array = reader_.array(value, path, most_items);
    if (array == nullptr) return result;
    std::unordered_set<PortRef> ends;
    for (const json::value& entry : *array) {
      const json::array* pair = reader_.array(entry, path, 2);
      if (pair == nullptr || pair->size() != 2) {
        reader_.refuse(path, "a cable is a list of two ports");
        return result;
      }
      LinkRef link{port((*pair)[0], path), port((*pair)[1], path)};
      if (reader_.failed()) return result;
      if (link.b < link.a) std::swap(link.a, link.b);
      for (const PortRef& end : {link.a, link.b}) {
        if (!ends.insert(end).second) reader_.refuse(path, "port {} has two cables", to_string(end));
      }
      result.push_back(link);
    }
    std::sort(result.begin(), result.end());  // as they are written
    return result;
  }

  std::vector<NodeGuid> switches(const json::value& value, const std::string& path) {
    std::vector<NodeGuid> result;
    const json::array* array = reader_.array(value, path, most_items);
    if (array == nullptr) return result;
    for (const json::value& entry : *array) {
      const auto node = guid(reader_.text(entry, path), path);
      if (reader_.failed()) return result;
      result.push_back(*node);
    }
    std::sort(result.begin(), result.end());
    const auto twice = std::adjacent_find(result.begin(), result.end());
    if (twice != result.end()) reader_.refuse(path, "{} is named twice", to_string(*twice));
    return result;
  }

  std::vector<std::pair<NodeGuid, std::uint16_t>> ranks(const json::value& value) {
    std::vector<std::pair<NodeGuid, std::uint16_t>> result;
    const json::object* object = reader_.object(value, "ranks", {});
    if (object == nullptr) return result;
    for (const auto& entry : *object) {
      const auto node = guid({entry.key().data(), entry.key().size()}, "ranks");
      const std::uint64_t rank = reader_.number(entry.value(), "ranks", 0xffff);
      if (reader_.failed()) return result;
      result.emplace_back(*node, static_cast<std::uint16_t>(rank));
    }
    std::sort(result.begin(), result.end());
    for (std::size_t i = 1; i < result.size(); ++i) {
      if (result[i].first == result[i - 1].first) {
        reader_.refuse("ranks", "{} has two ranks", to_string(result[i].first));
      }
    }
    return result;
  }

  std::vector<Plane> planes(const json::value& value) {
    std::vector<Plane> result;
    const json::array* array = reader_.array(value, "planes", max_planes);
    if (array == nullptr) return result;
    if (!array->empty() && !std::has_single_bit(array->size())) {
      reader_.refuse("planes", "{} of them; there can be 1, 2, 4 and so on up to {}", array->size(),
                     max_planes);
    }
    for (const json::value& entry : *array) {
      const std::string path = fmt::format("planes[{}]", result.size());
      const json::object* object = reader_.object(entry, path, {"avoid", "from", "stage"});
      if (object == nullptr) return result;
      Plane& plane = result.emplace_back();
      if (const auto* avoid = reader_.member(*object, path, "avoid")) {
        plane.avoid = cables(*avoid, path + ".avoid");
      }
      if (!object->contains("from") && !object->contains("stage")) continue;
      plane.staged.emplace();
      if (const auto* from = reader_.member(*object, path, "from")) {
        plane.staged->from = cables(*from, path + ".from");
      }
      if (const auto* stage = reader_.member(*object, path, "stage")) {
        plane.staged->stage =
            static_cast<std::uint32_t>(reader_.number(*stage, path + ".stage", 0xffffffffU));
      }
    }
    return result;
  }

  QosTables tables(const json::object& object, const std::string& path) {
    auto tables = qos::read_tables(object);
    if (!tables) {
      reader_.refuse_member(path, tables.error().message);
      return {};
    }
    const auto good = qos::check(tables->arbitration, qos::PortCapability{});
    if (!good) reader_.refuse(path, "{}", good.error().message);
    return *std::move(tables);
  }

  std::vector<QosGroup> qos_groups(const json::value& value) {
    std::vector<QosGroup> result;
    const json::array* array = reader_.array(value, "qos.groups", most_items);
    if (array == nullptr) return result;
    std::unordered_set<PortRef> named;
    for (const json::value& entry : *array) {
      const std::string path = fmt::format("qos.groups[{}]", result.size());
      const json::object* object =
          reader_.object(entry, path, {"ports", "vlarb_high", "vlarb_low", "high_limit", "sl2vl"});
      if (object == nullptr) return result;
      QosGroup& group = result.emplace_back();
      group.tables = tables(*object, path);
      const auto* ports = reader_.member(*object, path, "ports");
      const json::array* list =
          ports == nullptr ? nullptr : reader_.array(*ports, path + ".ports", most_items);
      if (list == nullptr) return result;
      for (const json::value& each : *list) {
        group.ports.push_back(port(each, path + ".ports"));
        if (reader_.failed()) return result;
        if (!named.insert(group.ports.back()).second) {
          reader_.refuse(path + ".ports", "port {} is named twice", to_string(group.ports.back()));
        }
      }
    }
    return result;
  }

  Reader& reader_;
};

/// Null, with the reason kept, where it is no JSON.
std::optional<json::value> document(std::string_view text, Reader& reader) {
  if (text.size() > max_bytes) {
    reader.refuse("plan", "{} bytes; at most {} are read", text.size(), max_bytes);
    return std::nullopt;
  }
  json::error_code code;
  json::value value = json::parse(json::string_view{text.data(), text.size()}, code);
  if (code) {
    reader.refuse("plan", "not JSON: {}", code.message());
    return std::nullopt;
  }
  return value;
}

void check_checksum(std::string_view text, Reader& reader) {
  if (text.size() < head.size() + digits || text.substr(0, head.size()) != head) {
    reader.refuse("checksum", "the file does not begin with one; let the daemon write the plan again");
    return;
  }
  const std::string_view rest = text.substr(head.size() + digits);
  // The writer's sum is over what follows the closing quotation mark.
  const std::string found =
      fmt::format("{:016x}", checksum(rest.substr(std::min<std::size_t>(1, rest.size()))));
  if (rest.empty() || rest.front() != '"' || text.substr(head.size(), digits) != found) {
    reader.refuse("checksum", "it does not match; the file is damaged or was edited");
  }
}

}  // namespace

Result<Plan> parse(std::string_view text, const std::string& file) {
  Reader reader(file);
  if (text.size() <= max_bytes) check_checksum(text, reader);
  if (reader.failed()) return fail(reader.error());
  const auto value = document(text, reader);
  Plan plan;
  if (value) plan = PlanParser(reader).plan(*value);
  if (reader.failed()) return fail(reader.error());
  return plan;
}

Result<Qos> parse_qos(std::string_view text, const std::string& file) {
  Reader reader(file);
  const auto value = document(text, reader);
  const json::object* top = value ? reader.object(*value, "plan", {"qos"}) : nullptr;
  const json::value* part = top != nullptr ? reader.member(*top, "plan", "qos") : nullptr;
  Qos qos;
  if (part != nullptr) qos = PlanParser(reader).qos(*part);
  if (reader.failed()) return fail(reader.error());
  return qos;
}

}  // namespace heddle::plan
