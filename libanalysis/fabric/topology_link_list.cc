// ibdiagnet.lst, as ibdiagnet 1 of ibutils writes it (writeLstFile in its ibdebug.tcl) and as ibdiagnet 2 did
// for long: a link in each line, numbers in hexadecimal.
//
//   { SW Ports:24 SystemGUID:0002c90000000018 NodeGUID:... PortGUID:... VenID:000002C9 DevID:BD36
//     Rev:000000A1 {leaf 1} LID:0003 PN:12 } { CA Ports:01 ... } PHY=4x LOG=ACT SPD=10

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/printable.h"
#include "fabric/topology.h"
#include "fabric/topology_links.h"

namespace heddle::topology {
namespace {

constexpr std::size_t max_lines = 1'000'000;

struct End {
  NodeType type = NodeType::ChannelAdapter;
  std::uint64_t ports = 0;
  std::uint64_t system = 0;
  std::uint64_t node = 0;
  std::uint64_t port = 0;
  std::uint64_t vendor = 0;
  std::uint64_t device = 0;
  std::string_view description;
  std::uint64_t lid = 0;
  std::uint64_t number = 0;
};

tl::unexpected<Error> expected(std::string_view what, std::string_view found) {
  return fail(ErrorCode::Invalid, fmt::format("expected {}, found {}", what, in_quotes(found)));
}

Result<std::uint64_t> field(Scanner& in, std::string_view key, std::uint64_t most) {
  in.skip_space();
  const std::string_view before = in.rest();
  if (!in.accept(key) || !in.accept(":")) return expected(fmt::format("{}:NUMBER", key), before);
  in.accept("0x");
  const auto value = in.number(16);
  if (!value || *value > most) return expected(fmt::format("{}: and a hexadecimal number", key), before);
  return *value;
}

std::optional<NodeType> node_type(std::string_view word) {
  if (word == "SW") return NodeType::Switch;
  if (word == "CA" || word == "CA-SM") return NodeType::ChannelAdapter;
  if (word == "Rt" || word == "RT") return NodeType::Router;
  return std::nullopt;
}

/// Up to the brace before LID:, as a description may hold braces itself.
std::optional<std::string_view> description(Scanner& in) {
  in.skip_space();
  const std::size_t end = in.rest().find("} LID:");
  if (in.next() != '{' || end == std::string_view::npos) return std::nullopt;
  const std::string_view text = in.rest().substr(1, end - 1);
  in.accept(in.rest().substr(0, end + 1));
  return text;
}

Result<End> parse_end(Scanner& in) {
  constexpr std::uint64_t any = ~std::uint64_t{0};
  End end;
  in.skip_space();
  if (!in.accept("{")) return expected("a brace before an end of the link", in.rest());
  in.skip_space();
  const std::string_view word = in.word();
  const auto type = node_type(word);
  if (!type) return expected("SW, CA or Rt", word);
  end.type = *type;
  struct Field {
    const char* key;
    std::uint64_t most;
    std::uint64_t* value;
  };
  const std::array before{Field{"Ports", 254, &end.ports},         Field{"SystemGUID", any, &end.system},
                          Field{"NodeGUID", any, &end.node},       Field{"PortGUID", any, &end.port},
                          Field{"VenID", 0xffffffff, &end.vendor}, Field{"DevID", 0xffffffff, &end.device}};
  for (const Field& each : before) {
    const auto value = field(in, each.key, each.most);
    if (!value) return fail(value.error());
    *each.value = *value;
  }
  if (const auto revision = field(in, "Rev", any); !revision) return fail(revision.error());
  const auto text = description(in);
  if (!text) return expected("a description between braces", in.rest());
  end.description = *text;
  for (const Field& each : {Field{"LID", 0xffff, &end.lid}, Field{"PN", 254, &end.number}}) {
    const auto value = field(in, each.key, each.most);
    if (!value) return fail(value.error());
    *each.value = *value;
  }
  in.skip_space();
  if (!in.accept("}")) return expected("a brace after an end of the link", in.rest());
  return end;
}

struct Rate {
  LinkWidth width = LinkWidth::None;
  LinkSpeed speed = LinkSpeed::None;
};

struct SpeedWord {
  std::string_view word;
  LinkSpeed speed;
};
/// Gbit/s per lane before coding. ibdiagnet 1 knows up to QDR and calls what is faster by that; the others
/// are ibdiagnet 2's.
constexpr std::array speed_words{SpeedWord{"2.5", LinkSpeed::Sdr}, SpeedWord{"5", LinkSpeed::Ddr},
                                 SpeedWord{"10", LinkSpeed::Qdr},  SpeedWord{"FDR10", LinkSpeed::Fdr10},
                                 SpeedWord{"14", LinkSpeed::Fdr},  SpeedWord{"25", LinkSpeed::Edr},
                                 SpeedWord{"50", LinkSpeed::Hdr},  SpeedWord{"100", LinkSpeed::Ndr},
                                 SpeedWord{"200", LinkSpeed::Xdr}, SpeedWord{"", LinkSpeed::None}};

Result<Rate> parse_rate(Scanner& in) {
  Rate rate;
  for (in.skip_space(); !in.at_end(); in.skip_space()) {
    const std::string_view word = in.word();
    if (word.starts_with("PHY=")) {
      const auto width = link_width(word.substr(4));
      if (!width && word != "PHY=") return expected("a width, as in PHY=4x", word);
      rate.width = width.value_or(LinkWidth::None);
    } else if (word.starts_with("SPD=")) {
      const auto* known = std::ranges::find(speed_words, word.substr(4), &SpeedWord::word);
      if (known == speed_words.end()) return expected("a speed, as in SPD=10", word);
      rate.speed = known->speed;
    } else if (!word.starts_with("LOG=")) {
      return expected("PHY=, LOG= or SPD=", word);
    }
  }
  return rate;
}

void note(LinkNodes& nodes, const End& here, const End& there, Rate rate, Place place) {
  NodeRecord& node = nodes.node(NodeGuid{here.node}, here.type, here.description, place);
  node.node.port_count = static_cast<std::uint8_t>(std::max<std::uint64_t>(here.ports, 1));
  node.node.vendor_id = static_cast<std::uint32_t>(here.vendor);
  node.node.device_id = static_cast<std::uint16_t>(here.device > 0xffff ? here.device >> 16U : here.device);
  node.node.system_image_guid = here.system;
  const Lid lid = here.lid == permissive_lid.raw() ? no_lid : Lid{static_cast<std::uint16_t>(here.lid)};
  PortRecord port;
  port.place = place;
  port.port = PortNum{static_cast<std::uint8_t>(here.number)};
  port.peer = to_string(NodeGuid{there.node});
  port.peer_port = PortNum{static_cast<std::uint8_t>(there.number)};
  port.width = rate.width;
  port.speed = rate.speed;
  if (here.type == NodeType::Switch) {
    node.lid = lid;
    node.port0_guid = PortGuid{here.port};
  } else {
    port.guid = PortGuid{here.port};
    port.lid = lid;
  }
  node.ports.push_back(std::move(port));
}

bool is_link(std::string_view line) {
  return (line.starts_with("{ SW ") || line.starts_with("{ CA") || line.starts_with("{ Rt ") ||
          line.starts_with("{ RT ")) &&
         line.find(" NodeGUID:") != std::string_view::npos;
}

}  // namespace

bool is_link_list(std::string_view text) { return begins_with_a_line(text, is_link); }

Result<Records> read_link_list(std::string_view text, const std::string& file) {
  LinkNodes nodes{file};
  Place place;
  while (!text.empty()) {
    if (++place.line > max_lines) return fail(ErrorCode::Invalid, fmt::format("{}: too long", file));
    Scanner in{take_line(text)};
    in.skip_space();
    if (in.at_end() || in.next() == '#') continue;
    const auto at_line = [&](const Error& error) { return fail(nodes.at(place), error); };
    const auto one = parse_end(in);
    if (!one) return at_line(one.error());
    const auto other = parse_end(in);
    if (!other) return at_line(other.error());
    const auto rate = parse_rate(in);
    if (!rate) return at_line(rate.error());
    note(nodes, *one, *other, *rate, place);
    note(nodes, *other, *one, *rate, place);
  }
  return nodes.take();
}

}  // namespace heddle::topology
