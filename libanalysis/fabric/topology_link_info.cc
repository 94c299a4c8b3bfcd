// iblinkinfo of infiniband-diags. A node with its ports, which names other ends by LID:
//
//   CA: host mlx4_0:
//         0x0002c903000cc89b      3    1[  ] ==( 4X   10.0 Gbps Active/  LinkUp)==>   2    1[  ] "leaf" ( )
//   Switch: 0x0002c9020046c588 leaf:
//              2    1[  ] ==( 4X          10.0 Gbps Active/  LinkUp)==>       3    1[  ] "host mlx4_0" ( )
//              2    5[  ] ==(                Down/ Polling)==>             [  ] "" ( )
//
// or with -l, a link in each line, by the GUIDs of both ports:
//
//   0xf452140300f55051 "  host mlx4_0"  37  1[  ] ==( ... )==> 0xf45214030067c630  5  16[  ] "leaf" ( )
//
// The node GUID of an adapter is in neither.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "fabric/topology.h"
#include "fabric/topology_links.h"

namespace heddle::topology {
namespace {

constexpr std::size_t max_lines = 1'000'000;

/// One end as a line gives it.
struct End {
  std::optional<NodeGuid> guid;  ///< of a switch, or of an adapter's port
  std::string_view description;
  Lid lid;
  PortNum port;
};

struct Link {
  Place place;
  NodeGuid node;
  End here;
  std::optional<End> there;  ///< none: nothing is cabled
  LinkWidth width = LinkWidth::None;
  LinkSpeed speed = LinkSpeed::None;
};

tl::unexpected<Error> expected(std::string_view what, std::string_view found) {
  return fail(ErrorCode::Invalid, fmt::format("expected {}, found {}", what, in_quotes(found)));
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// `[0xGUID] ["description"] LID PORT[`, with blanks between. Nothing where no number stands before '['.
Result<std::optional<End>> parse_end(std::string_view text) {
  End end;
  std::string_view rest = trimmed(text);
  const std::size_t first = rest.find('"');
  const std::size_t last = rest.rfind('"');
  std::string numbers{rest};
  if (first != std::string_view::npos && last > first) {
    end.description = trimmed(rest.substr(first + 1, last - first - 1));
    numbers.erase(first, last - first + 1);
  }
  Scanner in{numbers};
  in.skip_space();
  if (in.accept("0x")) {
    const auto guid = in.number(16);
    if (!guid) return expected("a GUID", text);
    end.guid = NodeGuid{*guid};
    in.skip_space();
  }
  if (in.next() == '[') return std::optional<End>{};
  const auto lid = in.number(10);
  in.skip_space();
  const auto port = in.number(10);
  if (!lid || *lid > 0xffff || !port || *port > 254 || in.next() != '[') {
    return expected("a LID and a port, as in 5 16[  ]", text);
  }
  end.lid = *lid == permissive_lid.raw() ? no_lid : Lid{static_cast<std::uint16_t>(*lid)};
  end.port = PortNum{static_cast<std::uint8_t>(*port)};
  return std::optional{end};
}

struct SpeedWord {
  std::string_view word;
  LinkSpeed speed;
};
/// Per lane, as libibmad prints them.
constexpr std::array speed_words{
    SpeedWord{"2.5", LinkSpeed::Sdr},      SpeedWord{"5.0", LinkSpeed::Ddr},
    SpeedWord{"10.0", LinkSpeed::Qdr},     SpeedWord{"14.0625", LinkSpeed::Fdr},
    SpeedWord{"25.78125", LinkSpeed::Edr}, SpeedWord{"53.125", LinkSpeed::Hdr},
    SpeedWord{"106.25", LinkSpeed::Ndr},   SpeedWord{"212.5", LinkSpeed::Xdr},
};

/// `( 4X          10.0 Gbps (FDR10) Active/  LinkUp`; nothing is known of a port that is down.
void parse_rate(std::string_view text, Link& link) {
  Scanner in{text};
  in.skip_space();
  std::string width{in.word()};
  if (width.ends_with('X')) width.back() = 'x';
  link.width = link_width(width).value_or(LinkWidth::None);
  in.skip_space();
  const auto* known = std::ranges::find(speed_words, in.word(), &SpeedWord::word);
  if (known != speed_words.end()) link.speed = known->speed;
  if (text.find("FDR10") != std::string_view::npos) link.speed = LinkSpeed::Fdr10;
}

constexpr std::string_view arrow_begins = "==(";
constexpr std::string_view arrow_ends = ")==>";

class Reader {
 public:
  explicit Reader(const std::string& file) : nodes_{file} {}

  Result<void> read_line(std::string_view line);
  Result<Records> finish();

  Place place;

  [[nodiscard]] std::string at() const { return nodes_.at(place); }

 private:
  Result<void> read_port(std::string_view line, std::size_t begins, std::size_t ends);
  [[nodiscard]] std::string peer_name(const End& end) const;

  LinkNodes nodes_;
  std::vector<Link> links_;
  std::optional<NodeType> heading_;  ///< of the ports that follow; none: each line is of a node of its own
  std::optional<NodeGuid> node_;
  std::string description_;
  std::map<NodeGuid, std::size_t> ports_of_;
  std::map<Lid, NodeGuid> by_lid_;
  std::map<NodeGuid, NodeGuid> by_port_guid_;
};

Result<void> Reader::read_line(std::string_view line) {
  line = trimmed(line);
  if (line.empty() || line.front() == '#') return {};
  const std::size_t begins = line.find(arrow_begins);
  const std::size_t ends = line.rfind(arrow_ends);
  if (begins != std::string_view::npos && ends != std::string_view::npos && begins < ends) {
    return read_port(line, begins, ends);
  }
  Scanner in{line};
  if (in.accept("Switch:")) {
    in.skip_space();
    in.accept("0x");
    const auto guid = in.number(16);
    if (!guid) return expected("the GUID of a switch after Switch:", line);
    heading_ = NodeType::Switch;
    node_ = NodeGuid{*guid};
  } else if (in.accept("CA:") || in.accept("Rt:")) {
    heading_ = line.front() == 'C' ? NodeType::ChannelAdapter : NodeType::Router;
    node_.reset();
  } else if (links_.empty() && !heading_) {
    nodes_.findings().add(Kind::ForeignLine, fmt::format("{}: passed over: {}", at(), in_quotes(line)));
    return {};
  } else {
    return expected("a node or a port, as iblinkinfo prints them", line);
  }
  std::string_view description = trimmed(in.rest());
  if (description.ends_with(':')) description.remove_suffix(1);
  description_ = description;
  return {};
}

Result<void> Reader::read_port(std::string_view line, std::size_t begins, std::size_t ends) {
  auto here = parse_end(line.substr(0, begins));
  if (!here) return fail(here.error());
  auto there = parse_end(line.substr(ends + arrow_ends.size()));
  if (!there) return fail(there.error());
  if (!*here) return expected("a LID and a port before the arrow", line);
  Link link{place, {}, **here, *there};
  if (link.there) {
    parse_rate(line.substr(begins + arrow_begins.size(), ends - begins - arrow_begins.size()), link);
  }
  const bool on_its_own = link.here.guid && (!heading_ || !link.here.description.empty());  // -l
  if (!on_its_own && heading_ && !node_ && link.here.guid) node_ = link.here.guid;
  const auto owner = on_its_own ? link.here.guid : node_;
  if (!owner) return expected("the port's GUID, or a line with Switch: or CA: before it", line);
  link.node = *owner;
  const bool is_switch = !on_its_own && heading_ == NodeType::Switch;
  NodeRecord& node =
      nodes_.node(*owner, is_switch ? NodeType::Switch : heading_.value_or(NodeType::ChannelAdapter),
                  on_its_own ? link.here.description : std::string_view{description_}, place);
  node.node.port_count = std::max(node.node.port_count, link.here.port.raw());
  if (on_its_own && ++ports_of_[*owner] > 1) node.node.type = NodeType::Switch;
  if (link.here.guid) by_port_guid_.emplace(*link.here.guid, *owner);
  if (link.here.lid != no_lid) by_lid_.emplace(link.here.lid, *owner);
  links_.push_back(link);
  return {};
}

/// What a line calls the node at the other end, as far as the text tells.
std::string Reader::peer_name(const End& end) const {
  if (end.guid) {
    const auto known = by_port_guid_.find(*end.guid);
    return to_string(known == by_port_guid_.end() ? *end.guid : known->second);
  }
  const auto known = by_lid_.find(end.lid);
  return known == by_lid_.end() ? fmt::format("LID {}: {}", end.lid.raw(), end.description)
                                : to_string(known->second);
}

Result<Records> Reader::finish() {
  for (const Link& link : links_) {
    NodeRecord& node = nodes_.node(link.node, NodeType::ChannelAdapter, {}, link.place);
    const bool is_switch = node.node.type == NodeType::Switch;
    if (is_switch) node.lid = link.here.lid;
    if (!link.there) continue;
    if (!link.there->guid && link.there->lid == no_lid) {
      return fail(ErrorCode::Invalid,
                  fmt::format("{}: the other end is named by its LID, and has none; run iblinkinfo -l or "
                              "ibnetdiscover, or wait until a subnet manager has run",
                              nodes_.at(link.place)));
    }
    PortRecord port;
    port.place = link.place;
    port.port = link.here.port;
    port.peer = peer_name(*link.there);
    port.peer_port = link.there->port;
    port.width = link.width;
    port.speed = link.speed;
    if (!is_switch) {
      port.lid = link.here.lid;
      if (link.here.guid) port.guid = PortGuid{link.here.guid->raw()};
    }
    node.ports.push_back(std::move(port));
  }
  for (const NodeRecord& node : nodes_.nodes()) {
    if (node.node.type == NodeType::Switch) continue;
    nodes_.findings().add(
        Kind::NoNodeGuid,
        fmt::format("{}: {} is given by the GUID of a port only, {}, which stands for its own",
                    nodes_.at(node.place), in_quotes(node.node.description), to_string(node.node.guid)));
  }
  return nodes_.take();
}

bool is_port_line(std::string_view line) {
  const std::size_t begins = line.find(arrow_begins);
  return begins != std::string_view::npos && !line.starts_with('[') &&
         line.find(arrow_ends, begins) != std::string_view::npos;
}

}  // namespace

bool is_link_info(std::string_view text) { return begins_with_a_line(text, is_port_line); }

Result<Records> read_link_info(std::string_view text, const std::string& file) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  Reader reader{file};
  while (!text.empty()) {
    if (++reader.place.line > max_lines) return fail(ErrorCode::Invalid, fmt::format("{}: too long", file));
    if (auto ok = reader.read_line(take_line(text)); !ok) return fail(reader.at(), ok.error());
  }
  return reader.finish();
}

}  // namespace heddle::topology
