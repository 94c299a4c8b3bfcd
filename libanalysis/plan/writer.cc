#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "plan/checksum.h"
#include "plan/plan.h"

namespace heddle::plan {
namespace {

/// Text of a plan is numbers and GUIDs, so nothing needs escaping.
class Writer {
 public:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    append_to(text_, format, std::forward<Args>(args)...);
  }

  template <class List, class Each>
  void list(char open, char close, std::string_view between, const List& items, Each each) {
    text_ += open;
    bool first = true;
    for (const auto& item : items) {
      if (!first) text_ += between;
      first = false;
      each(item);
    }
    text_ += close;
  }

  void cables(std::vector<LinkRef> links) {
    std::sort(links.begin(), links.end());
    list('[', ']', ",\n", links,
         [&](const LinkRef& link) { put("[\"{}\",\"{}\"]", to_string(link.a), to_string(link.b)); });
  }

  void plane(const Plane& plane) {
    text_ += "{\"avoid\":";
    cables(plane.avoid);
    if (plane.staged) {
      text_ += ",\"from\":";
      cables(plane.staged->from);
      put(",\"stage\":{}", plane.staged->stage);
    }
    text_ += '}';
  }

  void arbitration(std::string_view key, const qos::ArbTable& table) {
    put("\"{}\":", key);
    list('[', ']', ",", table, [&](const qos::ArbEntry& e) { put("[{},{}]", e.vl.raw(), e.weight); });
  }

  /// Members of an object, without its braces.
  void tables(const QosTables& tables) {
    arbitration("vlarb_high", tables.arbitration.high);
    text_ += ',';
    arbitration("vlarb_low", tables.arbitration.low);
    put(",\"high_limit\":{}", tables.arbitration.limit.raw());
    if (!tables.sl2vl) return;
    text_ += ",\"sl2vl\":";
    list('[', ']', ",", tables.sl2vl->vl, [&](Vl vl) { put("{}", vl.raw()); });
  }

  void qos(const Qos& qos) {
    text_ += '{';
    if (qos.everywhere) tables(*qos.everywhere);
    if (qos.everywhere && !qos.groups.empty()) text_ += ",\n";
    if (!qos.groups.empty() || !qos.everywhere) {
      text_ += "\"groups\":";
      list('[', ']', ",\n", qos.groups, [&](const QosGroup& group) {
        text_ += "{\"ports\":";
        list('[', ']', ",", group.ports, [&](const PortRef& port) { put("\"{}\"", to_string(port)); });
        text_ += ',';
        tables(group.tables);
        text_ += '}';
      });
    }
    text_ += '}';
  }

  void plan(const Plan& plan) {
    put(",\n\"version\":{},\n\"epoch\":{},\n\"ranks\":", version, plan.epoch);
    auto ranks = plan.ranks;
    std::sort(ranks.begin(), ranks.end());
    list('{', '}', ",\n", ranks,
         [&](const auto& rank) { put("\"{}\":{}", to_string(rank.first), rank.second); });
    text_ += ",\n\"off\":";
    cables(plan.off);
    if (!plan.forced.empty()) {
      text_ += ",\n\"forced\":";
      cables(plan.forced);
    }
    if (!plan.drained.empty()) {
      auto drained = plan.drained;
      std::sort(drained.begin(), drained.end());
      text_ += ",\n\"drained\":";
      list('[', ']', ",", drained, [&](NodeGuid guid) { put("\"{}\"", to_string(guid)); });
    }
    text_ += ",\n\"planes\":";
    list('[', ']', ",\n", plan.planes, [&](const Plane& each) { plane(each); });
    if (plan.qos) {
      text_ += ",\n\"qos\":";
      qos(*plan.qos);
    }
    if (plan.packet_life) put(",\n\"packet_life_us\":{}", plan.packet_life->count());
    text_ += "}\n";
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

std::string to_text(const Plan& plan) {
  Writer writer;
  writer.plan(plan);
  return fmt::format("{{\"checksum\":\"{:016x}\"{}", checksum(writer.text()), writer.text());
}

}  // namespace heddle::plan
