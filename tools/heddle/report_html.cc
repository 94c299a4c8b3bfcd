#include "heddle/report_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/json_access.h"
#include "base/text.h"
#include "heddle/accounts.h"
#include "heddle/table.h"

namespace heddle::cli {
namespace {

constexpr std::size_t rows_most = 20;

constexpr std::string_view head = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Heddle report</title>
<style>
:root{color-scheme:light;--line:#dde2e8;--quiet:#5f6b7a}
body{font:14px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums;color:#1d242e;background:#fff;max-width:1100px;margin:32px auto;padding:0 20px}
h1{font-size:24px;margin:0}h2{font-size:17px;margin:36px 0 8px}p{margin:6px 0}.quiet{color:var(--quiet)}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:4px 10px 4px 0;border-bottom:1px solid var(--line);font-weight:400;overflow-wrap:anywhere}
th{color:var(--quiet);font-size:12.5px}.r{text-align:right;white-space:nowrap}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(180px,1fr));gap:12px;margin:18px 0}
.tile{border:1px solid var(--line);border-radius:10px;padding:10px 14px}.tile b{display:block;font-size:20px;font-weight:600}
.profiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(480px,1fr));gap:14px}
figure{margin:0;border:1px solid var(--line);border-radius:10px;padding:10px 12px}figcaption{font-size:12.5px;overflow-wrap:anywhere}
svg{display:block;width:100%;height:auto}svg text{font:10px system-ui,sans-serif;fill:#5f6b7a}
.map{border:1px solid var(--line);border-radius:10px;padding:12px}
@media print{body{margin:0;max-width:none}h2{break-after:avoid}tr,figure{break-inside:avoid}}
</style></head><body>
)";

/// Cividis turned round, for a light ground (Nunez, Anderton and Renslow, 2018); the square root as on the
/// page.
std::string_view colour(double ratio) {
  constexpr std::array<std::string_view, 8> steps{"#ead85b", "#c9b766", "#a99e73", "#8a8678",
                                                  "#707173", "#4d556c", "#26426e", "#00224e"};
  const double at = std::sqrt(std::clamp(std::isnan(ratio) ? 0.0 : ratio, 0.0, 1.0));
  return steps[std::min<std::size_t>(steps.size() - 1, static_cast<std::size_t>(at * steps.size()))];
}

class Page {
 public:
  template <class... Parts>
  void add(fmt::format_string<Parts...> form, Parts&&... parts) {
    append_to(text_, form, std::forward<Parts>(parts)...);
  }
  void heading(std::string_view text) { add("<h2>{}</h2>\n", html_text(text)); }
  void quiet(std::string_view text) { add("<p class=\"quiet\">{}</p>\n", html_text(text)); }
  void tile(const std::string& figure, std::string_view what) {
    add("<div class=\"tile\"><b>{}</b><span class=\"quiet\">{}</span></div>\n", html_text(figure),
        html_text(what));
  }
  void titles(std::initializer_list<std::string_view> titles) {
    add("<table><thead><tr>");
    bool first = true;
    for (const auto title : titles) {
      add("<th{}>{}</th>", std::exchange(first, false) ? "" : " class=\"r\"", html_text(title));
    }
    add("</tr></thead><tbody>\n");
  }
  void row(std::initializer_list<std::string> cells) {
    add("<tr>");
    bool first = true;
    for (const auto& cell : cells) {
      add("<td{}>{}</td>", std::exchange(first, false) ? "" : " class=\"r\"", html_text(cell));
    }
    add("</tr>\n");
  }
  void end_table() { add("</tbody></table>\n"); }
  std::string text_;
};

void write_summary(Page& page, const ReportData& data) {
  page.add("<h1>Fabric report</h1>\n");
  page.quiet(fmt::format("Made on {} by heddle {}. Figures over time are from {}.", data.made,
                         text_at(data.status, "version"), data.source));
  page.add("<div class=\"tiles\">\n");
  page.tile(fmt::format("{}", count_at(data.status, "fabric.switches")), "switches");
  page.tile(fmt::format("{}", count_at(data.status, "fabric.channel_adapters")), "channel adapters");
  page.tile(fmt::format("{}", data.links.size()), "links");
  page.tile(human(BitRate{number_at(data.status, "load.injected_bytes_per_second") * 8}),
            "injected at the end");
  double sum = 0;
  double most = 0;
  std::size_t number = 0;
  for (const auto& link : data.links) {
    for (const auto& direction : {link.out, link.in}) {
      if (std::isnan(direction.mean)) continue;
      sum += direction.mean;
      most = std::fmax(most, direction.most);
      ++number;
    }
  }
  page.tile(human(Ratio{number == 0 ? unknown_figure : sum / static_cast<double>(number)}),
            "mean utilization of a direction");
  page.tile(human(Ratio{number == 0 ? unknown_figure : most}), "highest utilization");
  page.add("</div>\n");
}

void write_map(Page& page, const ReportData& data) {
  constexpr double width = 1060;
  constexpr double height = 470;
  const auto x = [&](std::size_t node) { return 10 + data.nodes[node].x * (width - 20); };
  const auto y = [&](std::size_t node) { return 12 + data.nodes[node].y * (height - 24); };
  page.heading("Map");
  page.quiet(
      "Switches and the links between them, by mean utilization of the busier direction; dark is busy.");
  page.add(R"(<div class="map"><svg viewBox="0 0 {} {}" role="img" aria-label="Map of the switches">)", width,
           height);
  // One path per colour, the busy ones on top.
  std::array<std::string, 9> paths;
  for (const auto& link : data.links) {
    if (data.nodes[link.a].type != 's' || data.nodes[link.b].type != 's') continue;
    const double at = std::sqrt(std::clamp(std::isnan(link.mean()) ? 0.0 : link.mean(), 0.0, 1.0));
    append_to(paths[static_cast<std::size_t>(at * 8)], "M{:.0f} {:.0f}L{:.0f} {:.0f}", x(link.a), y(link.a),
              x(link.b), y(link.b));
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].empty()) continue;
    const double level = static_cast<double>(i) / 8;
    page.add(R"(<path d="{}" fill="none" stroke="{}" stroke-width="{:.1f}" stroke-opacity="{:.2f}"/>)",
             paths[i], colour(level * level), 0.6 + 1.8 * level, 0.35 + 0.65 * level);
  }
  const auto switches = std::ranges::count_if(data.nodes, [](const ReportNode& n) { return n.type == 's'; });
  for (std::size_t i = 0; i < data.nodes.size(); ++i) {
    if (data.nodes[i].type != 's') continue;
    page.add(R"(<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="#4d556c"><title>{}</title></circle>)", x(i),
             y(i), switches > 300 ? 1.5 : 3, html_text(data.nodes[i].name));
    if (switches <= 40)
      page.add(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", x(i), y(i) - 5,
               html_text(data.nodes[i].name));
  }
  page.add("</svg></div>\n");
}

void write_links(Page& page, const ReportData& data) {
  std::vector<const ReportLink*> order;
  for (const auto& link : data.links) {
    if (!std::isnan(link.mean())) order.push_back(&link);
  }
  std::ranges::stable_sort(order, [](const auto* a, const auto* b) { return a->mean() > b->mean(); });
  const auto table = [&](auto begin, auto end) {
    page.titles({"Link", "rate", "mean →", "mean ←", "highest →", "highest ←", "longest wait"});
    for (auto it = begin; it != end; ++it) {
      const ReportLink& link = **it;
      page.row({link.name, link.rate, human(Ratio{link.out.mean}), human(Ratio{link.in.mean}),
                human(Ratio{link.out.most}), human(Ratio{link.in.most}),
                human(Ratio{std::fmax(link.out.wait, link.in.wait)})});
    }
    page.end_table();
  };
  const auto shown = static_cast<std::ptrdiff_t>(std::min(rows_most, order.size()));
  page.heading("Busiest links");
  if (order.empty()) return page.quiet("No link has been measured.");
  table(order.begin(), order.begin() + shown);
  page.heading("Idlest links between switches");
  std::erase_if(order, [&](const ReportLink* link) {
    return data.nodes[link->a].type != 's' || data.nodes[link->b].type != 's';
  });
  const auto idle = static_cast<std::ptrdiff_t>(std::min(rows_most, order.size()));
  if (idle == 0) return page.quiet("No link between switches has been measured.");
  table(order.rbegin(), order.rbegin() + idle);
}

std::string curve(const std::vector<double>& at, const std::vector<double>& figures, double from,
                  double most) {
  std::string path;
  bool drawing = false;
  for (std::size_t i = 0; i < std::min(at.size(), figures.size()); ++i) {
    if (std::isnan(figures[i])) {
      drawing = false;
      continue;
    }
    const double x = from >= 0 ? 0 : (at[i] - from) / -from * 420;
    append_to(path, "{}{:.1f} {:.1f}", drawing ? 'L' : 'M', 34 + x, 84 - 74 * figures[i] / most);
    drawing = true;
  }
  return path;
}

void write_profiles(Page& page, const ReportData& data) {
  page.heading("Profiles of the busiest links");
  if (data.profiles.empty()) return page.quiet("Nothing has been kept of them.");
  page.quiet("Utilization over time; blue from the first port to the second, orange the other way.");
  page.add("<div class=\"profiles\">\n");
  for (const Profile& profile : data.profiles) {
    double most = 0.05;
    for (const auto* column : {&profile.out, &profile.in}) {
      for (const double figure : *column) most = std::fmax(most, figure);
    }
    const double from = profile.at.front();
    page.add(
        "<figure><figcaption>{}</figcaption><svg viewBox=\"0 0 460 100\" role=\"img\" "
        "aria-label=\"Profile\">",
        html_text(profile.name));
    page.add(
        R"(<path d="M34 10H454M34 84H454" stroke="#dde2e8"/><text x="30" y="14" text-anchor="end">{:.0f} %</text>)",
        most * 100);
    page.add(R"(<text x="30" y="87" text-anchor="end">0</text><text x="34" y="97">{} ago</text>)",
             html_text(human_seconds(-from)));
    page.add(R"(<path d="{}" fill="none" stroke="#1f6fb2" stroke-width="1.4"/>)",
             curve(profile.at, profile.out, from, most));
    page.add(R"(<path d="{}" fill="none" stroke="#b8720a" stroke-width="1.4"/></svg></figure>)",
             curve(profile.at, profile.in, from, most));
  }
  page.add("</div>\n");
}

void write_locality(Page& page, const ReportData& data) {
  page.heading("Locality");
  const auto& sets = array_at(data.locality, "sets");
  if (sets.empty())
    return page.quiet("There are no sets: no tree, no pods, none named in the configuration.");
  page.quiet("Share of what a set generates and consumes that stays within it, at the end.");
  page.titles({"Set", "of generated", "of consumed", "locality"});
  for (std::size_t i = 0; i < std::min<std::size_t>(sets.size(), 100); ++i) {
    page.row({text_at(sets[i], "set"), human(Ratio{number_at(sets[i], "generated")}),
              human(Ratio{number_at(sets[i], "consumed")}), human(Ratio{number_at(sets[i], "total")})});
  }
  page.end_table();
  if (sets.size() > 100) page.quiet(fmt::format("and {} more", sets.size() - 100));
}

void write_errors(Page& page, const ReportData& data) {
  page.heading("Errors");
  std::vector<const ReportLink*> order;
  for (const auto& link : data.links) {
    if (link.errors > 0) order.push_back(&link);
  }
  std::ranges::stable_sort(order, [](const auto* a, const auto* b) { return a->errors > b->errors; });
  if (order.empty()) return page.quiet("No port has counted any.");
  page.quiet("Counted by both ports since their counters began.");
  page.titles({"Link", "errors"});
  for (std::size_t i = 0; i < std::min(order.size(), rows_most); ++i)
    page.row({order[i]->name, fmt::format("{}", order[i]->errors)});
  page.end_table();
}

void write_energy(Page& page, const ReportData& data) {
  page.heading("Energy");
  if (data.energy.is_null()) return page.quiet("Not available: this daemon does not regulate links.");
  constexpr double joules_per_kwh = 3.6e6;
  page.add("<div class=\"tiles\">\n");
  page.tile(fmt::format("{:.1f} W", number_at(data.energy, "power_watts")), "power at the end");
  page.tile(fmt::format("{:.1f} W", number_at(data.energy, "saving_watts")), "saved at the end");
  page.tile(fmt::format("{:.3f} kWh", number_at(data.energy, "total.spent_joules") / joules_per_kwh),
            "spent so far");
  page.tile(fmt::format("{:.3f} kWh", number_at(data.energy, "total.saved_joules") / joules_per_kwh),
            "saved so far");
  const auto& account = at_path(data.energy, "account");
  if (!account.is_object()) return page.add("</div>\n");
  for (const auto& [part, what] :
       {std::pair{"links", "of link power saved"}, std::pair{"switches", "of switch power saved"},
        std::pair{"network", "of network power saved"}})
    page.tile(human(Ratio{number_at(account, fmt::format("{}.saved_share", part))}), what);
  page.tile(fmt::format("{:.0f} kWh", number_at(account, "year.saved_kwh")), "saved in a year at this rate");
  if (at_path(account, "year.saved_money").is_number()) {
    page.tile(
        fmt::format("{:.0f} {}", number_at(account, "year.saved_money"), text_at(account, "year.currency")),
        "saved in a year at this rate");
  }
  page.add("</div>\n");
  page.quiet(fmt::format(
      "At the cost of {} links turned off, {} on, {} reduced, {} failed, since the daemon's start; {} waited "
      "for links to come back, {} for the slowest.",
      count_at(account, "cost.turned_off"), count_at(account, "cost.turned_on"),
      count_at(account, "cost.reduced"), count_at(account, "cost.failed"),
      human_seconds(number_at(account, "cost.waited_seconds")),
      human_seconds(number_at(account, "cost.longest_wait_seconds"))));
}

void write_changes(Page& page, const ReportData& data) {
  page.heading("Changes");
  if (data.events.is_null()) return page.quiet("Not available: this daemon keeps no log of decisions.");
  const auto& events = array_at(data.events, "events");
  if (events.empty()) return page.quiet("None.");
  page.titles({"What", "kind", "when"});
  for (std::size_t i = events.size(), left = 100; i-- > 0 && left-- > 0;)
    page.row({with_account_names(text_at(events[i], "text")), text_at(events[i], "kind"),
              text_at(events[i], "at")});
  page.end_table();
}

void write_problems(Page& page, const ReportData& data) {
  page.heading("Problems");
  const auto& problems = array_at(data.status, "problems");
  if (problems.empty()) return page.quiet("None.");
  page.add("<ul>\n");
  for (const auto& problem : problems) page.add("<li>{}</li>\n", html_text(text_at(problem, "")));
  page.add("</ul>\n");
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string report_html(const ReportData& data) {
  Page page;
  page.text_ = head;
  write_summary(page, data);
  write_map(page, data);
  write_links(page, data);
  write_profiles(page, data);
  write_locality(page, data);
  write_errors(page, data);
  write_energy(page, data);
  write_changes(page, data);
  write_problems(page, data);
  return page.text_ + "</body></html>\n";
}

}  // namespace heddle::cli
