#include "sim/scenario_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/printable.h"
#include "load/glob.h"

namespace heddle::sim {
namespace {

struct NumberRange {
  std::string_view before;
  std::string_view after;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::size_t digits = 0;  ///< 0: any number of them
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The first "{a..b}" of the pattern.
std::optional<NumberRange> find_range(std::string_view pattern) {
  for (std::size_t open = pattern.find('{'); open != std::string_view::npos;
       open = pattern.find('{', open + 1)) {
    const std::size_t close = pattern.find('}', open);
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view inside = pattern.substr(open + 1, close - open - 1);
    const std::size_t dots = inside.find("..");
    if (dots == std::string_view::npos) continue;
    const auto from = number(inside.substr(0, dots));
    const auto to = number(inside.substr(dots + 2));
    if (!from || !to) continue;
    const bool padded = dots > 1 && inside[0] == '0';
    return NumberRange{pattern.substr(0, open), pattern.substr(close + 1), *from, *to, padded ? dots : 0};
  }
  return std::nullopt;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool host_name_matches(std::string_view pattern, std::string_view name) {
  const auto range = find_range(pattern);
  if (!range) return load::glob_matches(pattern, name);
  // The number is a whole run of digits of the name.
  for (std::size_t begin = 0; begin < name.size(); ++begin) {
    if (!is_digit(name[begin]) || (begin > 0 && is_digit(name[begin - 1]))) continue;
    std::size_t end = begin;
    while (end < name.size() && is_digit(name[end])) ++end;
    const auto value = number(name.substr(begin, end - begin));
    if (!value || *value < range->from || *value > range->to) continue;
    if (range->digits != 0 && end - begin != range->digits) continue;
    if (load::glob_matches(range->before, name.substr(0, begin)) &&
        host_name_matches(range->after, name.substr(end))) {
      return true;
    }
  }
  return false;
}

std::vector<PortIndex> host_ports(const Fabric& fabric) {
  std::vector<PortIndex> result;
  for (const Node& node : fabric.nodes()) {
    if (node.type != NodeType::ChannelAdapter || node.aggregation) continue;
    for (std::uint32_t p = 1; p <= node.port_count; ++p) {
      const PortIndex port{node.first_port.raw() + p};
      if (fabric.port(port).link != no_link) result.push_back(port);
    }
  }
  return result;
}

Result<std::vector<PortIndex>> select_hosts(const Fabric& fabric, const HostSelection& selection,
                                            Random& random) {
  std::vector<PortIndex> ports = host_ports(fabric);
  if (ports.empty()) return fail(ErrorCode::NotFound, "the fabric has no host with a cable");
  if (!selection.names.empty()) {
    std::erase_if(ports, [&](PortIndex port) {
      const std::string& name = fabric.node(fabric.port(port).node).description;
      return std::none_of(selection.names.begin(), selection.names.end(),
                          [&](const std::string& pattern) { return host_name_matches(pattern, name); });
    });
    if (ports.empty()) {
      return fail(ErrorCode::NotFound,
                  fmt::format("no host with a cable is called {}{}", in_quotes(selection.names[0]),
                              selection.names.size() > 1 ? ", or any of the others" : ""));
    }
  }
  const auto count = static_cast<double>(ports.size());
  const auto from = static_cast<std::size_t>(std::floor(selection.part.first * count));
  const auto to = static_cast<std::size_t>(std::ceil(selection.part.second * count));
  ports.resize(to);
  ports.erase(ports.begin(), ports.begin() + static_cast<std::ptrdiff_t>(from));
  if (selection.fraction < 1) {
    random.shuffle(ports);
    const double wanted = std::round(selection.fraction * static_cast<double>(ports.size()));
    ports.resize(selection.fraction > 0 ? static_cast<std::size_t>(std::max(1.0, wanted)) : 0);
    std::sort(ports.begin(), ports.end());
  }
  if (ports.empty()) return fail(ErrorCode::NotFound, "part and fraction leave no host");
  return ports;
}

}  // namespace heddle::sim
