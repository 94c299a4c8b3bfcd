#include "control/list_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "control/view_parts.h"
#include "fabric/links.h"
#include "fabric/unique_names.h"
#include "load/glob.h"

namespace heddle::control {
namespace {

namespace json = boost::json;

/// Unknown figures sort last.
float known(float figure) { return load::is_known(figure) ? figure : -1; }

using Measure = double (*)(const Row&);

template <float load::PortSample::*Figure>
double larger(const Row& row) {
  return std::max(row.a != nullptr ? known(row.a->*Figure) : -1,
                  row.b != nullptr ? known(row.b->*Figure) : -1);
}

std::optional<Measure> measure_named(const std::string& name) {
  if (name == "utilization") return larger<&load::PortSample::utilization>;
  if (name == "congestion") return larger<&load::PortSample::congestion>;
  if (name == "rate") return larger<&load::PortSample::xmit_bytes_per_second>;
  if (name == "errors") {
    return [](const Row& row) -> double {
      return static_cast<double>((row.a != nullptr ? errors_of(*row.a) : 0) +
                                 (row.b != nullptr ? errors_of(*row.b) : 0));
    };
  }
  if (name == "ber") {
    return [](const Row& row) {
      const auto effective = [](const health::PortBitErrors* bits) {
        return bits == nullptr ? -1 : health::worse_window(*bits).effective.value_or(-1);
      };
      return std::max(effective(row.bits_a), effective(row.bits_b));
    };
  }
  return std::nullopt;
}

/// Some rows of a list, and where the next ones begin.
struct Page {
  std::size_t first = 0;
  std::size_t count = 0;
  bool asked = false;  ///< for pages
  bool last = true;
};

/// `place_of` finds the row that a mark stands for; none: gone.
template <class PlaceOf>
Result<Page> page_of(const Query& query, std::size_t rows, PlaceOf place_of) {
  const auto limit = count_of(query, "limit", SIZE_MAX);
  if (!limit) return fail(limit.error());
  if (*limit == 0) return fail(ErrorCode::Invalid, "limit must be 1 or more");
  Page page;
  page.asked = *limit != SIZE_MAX;
  if (const auto* after = find(query, "after")) {
    const std::optional<std::size_t> place = place_of(*after);
    if (!place) {
      return fail(ErrorCode::NotFound,
                  fmt::format("there is nothing '{}' to go on after: begin at the first page again", *after));
    }
    page.first = *place + 1;
  }
  page.count = std::min(rows - page.first, *limit);
  page.last = page.first + page.count == rows;
  return page;
}

/// `head` with the rows as its last member; where pages were asked for, with `next` before them.
template <class RowAt, class MarkOf>
void write_list(json::object head, std::string_view name, const Page& page, RowAt row_at, MarkOf mark_of,
                const TextSink& out) {
  if (page.asked) {
    head["next"] = page.last ? json::value(nullptr) : json::value(mark_of(page.first + page.count - 1));
  }
  std::string text = json::serialize(head);
  text.pop_back();
  if (!head.empty()) text += ',';
  out(text);
  out(fmt::format("\"{}\":[", name));
  for (std::size_t i = 0; i < page.count; ++i) {
    if (i > 0) out(",");
    out(json::serialize(row_at(page.first + i)));
  }
  out("]");
}

/// Stays the same while the link is there, whatever its nodes are called.
std::string mark_of(const Fabric& fabric, const Link& link) { return to_string(fabric.ref(link.a)); }

/// A pattern over a bare description means all nodes that have it.
bool node_matches(const DaemonState& state, const Node& node, std::string_view pattern) {
  return load::glob_matches(pattern, state.name(node)) || load::glob_matches(pattern, plain_name(node));
}

/// By the names that are shown, or by bare descriptions.
bool link_matches(const DaemonState& state, const Link& link, std::string_view shown,
                  std::string_view pattern) {
  const auto plain = [&](LinkEnd end) {
    return fmt::format("{}/{}", plain_name(state.fabric->node(end.node)), end.port.raw());
  };
  return load::glob_matches(pattern, shown) ||
         load::glob_matches(pattern, fmt::format("{} -- {}", plain(link.a), plain(link.b)));
}

struct LinkChoice {
  const std::string* match = nullptr;
  const std::string* kind = nullptr;
  double least = -2;
};

std::vector<Row> chosen(const DaemonState& state, const LinkChoice& choice) {
  const Measure utilization = *measure_named("utilization");
  const Fabric& fabric = *state.fabric;
  const BitErrorsByPort bits{state};
  std::vector<Row> rows;
  for (const Link& link : fabric.links()) {
    if (choice.kind != nullptr && joins_switches(fabric, link) != (*choice.kind == "switch")) continue;
    Row row = row_of(state, link, bits);
    if (choice.match != nullptr && !link_matches(state, link, row.name, *choice.match)) continue;
    if (utilization(row) < choice.least) continue;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Result<void> write_links(const DaemonState& state, const Query& query, const TextSink& out) {
  if (!state.fabric) return fail(no_fabric());
  const auto top = count_of(query, "top", SIZE_MAX);
  if (!top) return fail(top.error());
  const auto least = real_of(query, "min_utilization", -2);
  if (!least) return fail(least.error());
  const auto* sort = find(query, "sort");
  const auto measure = sort == nullptr ? std::nullopt : measure_named(*sort);
  if (sort != nullptr && *sort != "name" && !measure) {
    return fail(
        ErrorCode::Invalid,
        fmt::format("sort must be name, utilization, congestion, rate, errors or ber, not '{}'", *sort));
  }
  const auto* kind = find(query, "kind");
  if (kind != nullptr && *kind != "switch" && *kind != "host") {
    return fail(ErrorCode::Invalid, fmt::format("kind must be switch or host, not '{}'", *kind));
  }
  std::vector<Row> rows = chosen(state, {find(query, "match"), kind, *least});
  if (measure) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const Row& x, const Row& y) { return (*measure)(x) > (*measure)(y); });
  } else if (sort != nullptr) {
    std::stable_sort(rows.begin(), rows.end(), [](const Row& x, const Row& y) { return x.name < y.name; });
  }
  const std::size_t matched = rows.size();
  if (rows.size() > *top) rows.resize(*top);
  const Fabric& fabric = *state.fabric;
  const auto page = page_of(query, rows.size(), [&](const std::string& mark) -> std::optional<std::size_t> {
    const auto it =
        std::ranges::find_if(rows, [&](const Row& row) { return mark_of(fabric, *row.link) == mark; });
    if (it == rows.end()) return std::nullopt;
    return static_cast<std::size_t>(it - rows.begin());
  });
  if (!page) return fail(page.error());
  json::object head{{"sweep", state.sample ? state.sample->number : 0},
                    {"at_seconds", state.sample ? seconds(state.sample->ended.time_since_epoch()) : 0},
                    {"matched", matched}};
  write_list(
      std::move(head), "links", *page, [&](std::size_t i) { return row_view(state, rows[i]); },
      [&](std::size_t i) { return mark_of(fabric, *rows[i].link); }, out);
  out("}\n");
  return {};
}

Result<void> write_nodes(const DaemonState& state, const Query& query, const TextSink& out) {
  if (!state.fabric) return fail(no_fabric());
  const auto* type = find(query, "type");
  if (type != nullptr && *type != "switch" && *type != "ca" && *type != "aggregation" && *type != "router") {
    return fail(ErrorCode::Invalid,
                fmt::format("type must be switch, ca, aggregation or router, not '{}'", *type));
  }
  const auto* match = find(query, "match");
  const Fabric& fabric = *state.fabric;
  std::vector<NodeIndex> rows;
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    const Node& node = fabric.node(NodeIndex{i});
    if (type != nullptr && type_name(node) != *type) continue;
    if (match != nullptr && !node_matches(state, node, *match)) continue;
    rows.push_back(NodeIndex{i});
  }
  const auto mark = [&](NodeIndex index) { return to_string(fabric.node(index).guid); };
  const auto page = page_of(query, rows.size(), [&](const std::string& after) -> std::optional<std::size_t> {
    const auto it = std::ranges::find_if(rows, [&](NodeIndex index) { return mark(index) == after; });
    if (it == rows.end()) return std::nullopt;
    return static_cast<std::size_t>(it - rows.begin());
  });
  if (!page) return fail(page.error());
  write_list(
      {}, "nodes", *page, [&](std::size_t i) { return node_summary(state, rows[i]); },
      [&](std::size_t i) { return mark(rows[i]); }, out);
  out("}\n");
  return {};
}

Result<void> write_fabric(const DaemonState& state, const TextSink& out) {
  if (!state.fabric) return fail(no_fabric());
  const Fabric& fabric = *state.fabric;
  const auto none = [](std::size_t) { return std::string{}; };
  write_list(
      {{"epoch", fabric.epoch()}}, "nodes", {.count = fabric.nodes().size()},
      [&](std::size_t i) { return node_summary(state, NodeIndex{static_cast<std::uint32_t>(i)}); }, none,
      out);
  out(",\"links\":[");
  for (std::size_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.links()[i];
    if (i > 0) out(",");
    out(json::serialize(json::object{{"a", end_view(state, link.a)},
                                     {"b", end_view(state, link.b)},
                                     {"width", std::string(to_string(link.width))},
                                     {"speed", std::string(to_string(link.speed))}}));
  }
  out("]}\n");
  return {};
}

}  // namespace heddle::control
