#include "metrics/part_text.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

#include "metrics/labels.h"

namespace heddle::metrics {
namespace {

std::optional<NodeGuid> node_of(const prometheus::ClientMetric& metric) {
  for (const auto& label : metric.label) {
    if (label.name != "guid" || !label.value.starts_with("0x")) continue;
    std::uint64_t guid = 0;
    const char* end = label.value.data() + label.value.size();
    const auto [stop, wrong] = std::from_chars(label.value.data() + 2, end, guid, 16);
    if (wrong == std::errc{} && stop == end) return NodeGuid{guid};
  }
  return std::nullopt;
}

/// What the serializer writes as the text format 0.0.4, as OpenMetrics: it has no "untyped", its counters are
/// called without their _total, and quotes in what is said of a family are escaped.
std::string as_open_metrics(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::string help;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.starts_with("# HELP ")) {
      help = line;
      continue;
    }
    if (!line.starts_with("# TYPE ")) {
      out.append(line) += '\n';
      continue;
    }
    const std::string_view rest = line.substr(7);
    const auto space = rest.rfind(' ');
    const std::string_view type = rest.substr(space + 1);
    const std::string_view name = rest.substr(0, space);
    const std::string_view shown = type == "counter" ? without_total(name) : name;
    if (const auto said = 7 + name.size() + 1; help.size() > said) {
      out.append("# HELP ").append(shown) += ' ';
      for (const char c : std::string_view{help}.substr(said)) {
        if (c == '"') out += '\\';
        out += c;
      }
      out += '\n';
    }
    help.clear();
    out.append("# TYPE ").append(shown).append(" ").append(type == "untyped" ? "unknown" : type) += '\n';
  }
  return out;
}

}  // namespace

std::string first_label(const std::string& fabric) {
  if (fabric.empty()) return {};
  std::string label = "fabric=\"";
  append_label_value(label, fabric);
  return label + "\",";
}

std::string part_text(std::vector<prometheus::MetricFamily> families, const Selection& selection,
                      const std::string& fabric) {
  std::erase_if(families, [&](const auto& family) { return !selection.wants_family(family.name); });
  for (auto& family : families) {
    std::erase_if(family.metric, [&](const auto& metric) {
      const auto node = node_of(metric);
      return node ? !selection.wants_node(*node) : !selection.first_shard();
    });
    if (fabric.empty()) continue;
    for (auto& metric : family.metric) metric.label.insert(metric.label.begin(), {"fabric", fabric});
  }
  if (selection.shards > 1) std::erase_if(families, [](const auto& family) { return family.metric.empty(); });
  std::ostringstream text;
  prometheus::TextSerializer{}.Serialize(text, families);
  return selection.format == Format::Text ? std::move(text).str() : as_open_metrics(text.view());
}

}  // namespace heddle::metrics
