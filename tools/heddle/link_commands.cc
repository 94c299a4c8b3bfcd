// heddle links, nodes, node, locality: what the last sample says.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <memory>
#include <ostream>

#include "base/json_access.h"
#include "heddle/client.h"
#include "heddle/command.h"
#include "heddle/regulation_output.h"
#include "heddle/table.h"
#include "heddle/watch.h"

namespace heddle::cli {
namespace {

using boost::json::value;

/// "/v1/links?a=b&c=d", of the parameters that are not empty.
class Target {
 public:
  explicit Target(std::string path) : text_{std::move(path)} {}
  Target& with(const std::string& key, const std::string& argument) {
    if (argument.empty()) return *this;
    text_ +=
        fmt::format("{}{}={}", text_.find('?') == std::string::npos ? '?' : '&', key, query_escape(argument));
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Asks, then prints JSON or calls `print` for people.
template <class Print>
Result<void> show(Context& context, const std::string& target, Print print) {
  const auto answer = Client{context.socket}.get(target);
  if (!answer) return fail(answer.error());
  if (context.format == Format::Json) {
    print_json(*answer, context);
  } else {
    print(*answer);
  }
  return {};
}

/// "4xHDR"; of a link that is one of several in a cable "1xXDR plane 2 of 4".
std::string rate_of(const value& link) {
  const std::string rate = text_at(link, "width") + text_at(link, "speed");
  if (at_path(link, "plane").is_null()) return rate;
  return fmt::format("{} plane {} of {}", rate, count_at(link, "plane"), count_at(link, "planes"));
}

void print_links(const value& answer, Context& context) {
  Table table{{{"LINK"},
               {"RATE"},
               {"STATE"},
               {"->", Align::Right},
               {"<-", Align::Right},
               {"UTIL ->", Align::Right},
               {"UTIL <-", Align::Right},
               {"WAIT ->", Align::Right},
               {"WAIT <-", Align::Right},
               {"ERRORS", Align::Right},
               {"BER ->", Align::Right},
               {"BER <-", Align::Right}}};
  for (const auto& link : array_at(answer, "links")) {
    table.add(
        {text_at(link, "name"), rate_of(link), text_at(link, "state"),
         human(BitRate{number_at(link, "a_to_b.bytes_per_second") * 8}),
         human(BitRate{number_at(link, "b_to_a.bytes_per_second") * 8}),
         human(Ratio{number_at(link, "a_to_b.utilization")}),
         human(Ratio{number_at(link, "b_to_a.utilization")}),
         human(Ratio{number_at(link, "a_to_b.congestion")}),
         human(Ratio{number_at(link, "b_to_a.congestion")}),
         fmt::format("{}", count_at(link, "a_to_b.errors_total") + count_at(link, "b_to_a.errors_total")),
         human_ber(number_at(link, "a_to_b.effective_ber")),
         human_ber(number_at(link, "b_to_a.effective_ber"))});
  }
  table.print(*context.out, context.colour);
  const auto matched = count_at(answer, "matched");
  const auto shown = static_cast<long long>(array_at(answer, "links").size());
  if (shown < matched) *context.out << fmt::format("{} of {} links\n", shown, matched);
}

void print_nodes(const value& answer, Context& context) {
  Table table{{{"NODE"},
               {"TYPE"},
               {"GUID"},
               {"LID", Align::Right},
               {"PORTS", Align::Right},
               {"CABLED", Align::Right},
               {"ACTIVE", Align::Right}}};
  for (const auto& node : array_at(answer, "nodes")) {
    table.add({text_at(node, "name"), text_at(node, "type"), text_at(node, "guid"),
               fmt::format("{}", count_at(node, "lid")), fmt::format("{}", count_at(node, "ports")),
               fmt::format("{}", count_at(node, "cabled")), fmt::format("{}", count_at(node, "active"))});
  }
  table.print(*context.out, context.colour);
}

void print_node(const value& node, Context& context) {
  Table head{{{text_at(node, "name")}, {""}}};
  head.add({"type", text_at(node, "type")});
  head.add({"GUID", text_at(node, "guid")});
  head.add({"vendor, device",
            fmt::format("{:#x}, {:#x}", count_at(node, "vendor_id"), count_at(node, "device_id"))});
  head.add({"LID", fmt::format("{}", count_at(node, "lid"))});
  if (!at_path(node, "load").is_null()) {
    head.add({"sends", human(BitRate{number_at(node, "load.xmit_bytes_per_second") * 8})});
    head.add({"receives", human(BitRate{number_at(node, "load.rcv_bytes_per_second") * 8})});
  }
  head.print(*context.out, context.colour);
  *context.out << '\n';
  Table ports{{{"PORT", Align::Right},
               {"STATE"},
               {"RATE"},
               {"PEER"},
               {"SENDS", Align::Right},
               {"UTIL", Align::Right},
               {"WAIT", Align::Right},
               {"ERRORS", Align::Right}}};
  for (const auto& port : array_at(node, "details")) {
    const std::string peer = text_at(port, "peer.node");
    ports.add({fmt::format("{}", count_at(port, "port")),
               fmt::format("{}/{}", text_at(port, "state"), text_at(port, "physical")), rate_of(port),
               peer.empty() ? "" : fmt::format("{}/{}", peer, count_at(port, "peer.port")),
               human(BitRate{number_at(port, "xmit.bytes_per_second") * 8}),
               human(Ratio{number_at(port, "xmit.utilization")}),
               human(Ratio{number_at(port, "xmit.congestion")}),
               fmt::format("{}", count_at(port, "xmit.errors_total"))});
  }
  ports.print(*context.out, context.colour);
}

void print_queues(const value& answer, Context& context) {
  Table table{{{"PORT"}, {"VL", Align::Right}, {"WAITING", Align::Right}}};
  for (const auto& queue : array_at(answer, "queues")) {
    const std::string port = fmt::format("{}/{}", text_at(queue, "node"), count_at(queue, "port"));
    if (const std::string error = text_at(queue, "error"); !error.empty()) {
      table.add({port, "", error});
      continue;
    }
    std::size_t shown = 0;
    const auto& depth = array_at(queue, "depth_bytes");
    for (std::size_t vl = 0; vl < depth.size(); ++vl) {
      const double bytes = number_at(depth[vl], "");
      if (bytes <= 0) continue;
      table.add({port, fmt::format("{}", vl), human_bytes(bytes)});
      ++shown;
    }
    if (shown == 0) table.add({port, "all", "nothing"});
  }
  table.print(*context.out, context.colour);
}

void print_locality(const value& answer, Context& context) {
  Table table{{{"SET"},
               {"OF WHAT IT GENERATES", Align::Right},
               {"OF WHAT IT CONSUMES", Align::Right},
               {"IN ALL", Align::Right}}};
  for (const auto& set : array_at(answer, "sets")) {
    table.add({text_at(set, "set"), human(Ratio{number_at(set, "generated")}),
               human(Ratio{number_at(set, "consumed")}), human(Ratio{number_at(set, "total")})});
  }
  if (table.empty()) {
    *context.out << "No sets: this fabric is no tree, and the configuration names none ([[locality.set]]).\n";
  } else {
    table.print(*context.out, context.colour);
  }
}

}  // namespace

void add_link_commands(Program& program) {
  Context& context = program.context();

  struct Options {
    std::string match, sort, kind, top, least, type, name;
    double interval = 0;
    bool power = false;
  };
  auto options = std::make_shared<Options>();

  auto* links = program.app().add_subcommand(
      "links", "Links with their load, wait, errors and effective bit error rates");
  links->add_option("match", options->match, "Glob over the link's name, as 'leaf-0-*'");
  links->add_option("--sort", options->sort, "What comes first")
      ->check(CLI::IsMember({"name", "utilization", "congestion", "rate", "errors", "ber"}));
  links->add_option("--top", options->top, "So many links at most")->check(CLI::NonNegativeNumber);
  links
      ->add_option("--min-utilization", options->least,
                   "Links of which a direction is at least so busy (0..1)")
      ->check(CLI::Number);
  links->add_option("--kind", options->kind, "Links between switches, or to hosts")
      ->check(CLI::IsMember({"switch", "host"}));
  links->add_option("--watch", options->interval, "Again every so many seconds")->check(CLI::PositiveNumber);
  links
      ->add_flag("--power", options->power,
                 "Links between switches: on, off or reduced, and why; goes with a glob and --top")
      ->excludes("--sort", "--min-utilization", "--kind");
  Program::on(*links, [&context, options] {
    if (options->power) {
      const Target target = Target{"/v1/links/power"}.with("match", options->match).with("top", options->top);
      return watch(options->interval, context, [&] {
        return show(context, target.text(), [&](const value& answer) { print_power_links(answer, context); });
      });
    }
    const Target target = Target{"/v1/links"}
                              .with("match", options->match)
                              .with("sort", options->sort)
                              .with("top", options->top)
                              .with("min_utilization", options->least)
                              .with("kind", options->kind);
    return watch(options->interval, context, [&] {
      return show(context, target.text(), [&](const value& answer) { print_links(answer, context); });
    });
  });

  auto* nodes = program.app().add_subcommand("nodes", "Switches and channel adapters");
  nodes->add_option("match", options->match, "Glob over the node's name");
  nodes->add_option("--type", options->type, "Only these")
      ->check(CLI::IsMember({"switch", "ca", "aggregation", "router"}));
  Program::on(*nodes, [&context, options] {
    const Target target = Target{"/v1/nodes"}.with("match", options->match).with("type", options->type);
    return show(context, target.text(), [&](const value& answer) { print_nodes(answer, context); });
  });

  auto* node = program.app().add_subcommand("node", "One node with all its ports");
  node->add_option("name", options->name, "Its name or its GUID")->required();
  Program::on(*node, [&context, options] {
    return show(context, Target{"/v1/node"}.with("name", options->name).text(),
                [&](const value& answer) { print_node(answer, context); });
  });

  auto* queues = program.app().add_subcommand("queues", "What waits in the transmit queues at this moment");
  queues->add_option("name", options->name, "A node, or one of its ports: leaf-0-0/17")->required();
  Program::on(*queues, [&context, options] {
    return show(context, Target{"/v1/queues"}.with("name", options->name).text(),
                [&](const value& answer) { print_queues(answer, context); });
  });

  auto* locality =
      program.app().add_subcommand("locality", "How much traffic stays within each set of nodes");
  locality->add_option("--watch", options->interval, "Again every so many seconds")
      ->check(CLI::PositiveNumber);
  Program::on(*locality, [&context, options] {
    return watch(options->interval, context, [&] {
      return show(context, "/v1/locality", [&](const value& answer) { print_locality(answer, context); });
    });
  });
}

}  // namespace heddle::cli
